/**
 * One request on Gatling's own HTTP client: choose a connection, take timestamps, decode the
 * response, end exactly once. Runs on the virtual user's event loop and never blocks it. Not for
 * users.
 *
 * <p>A streamed response passes these classes once:
 *
 * <pre>
 * socket → ReadTimestamps (timestamp) → ConnectionWatch → Netty's decoder → StreamedExchange
 *        → ResponseBody → SseDecoder (events) → ChunkParser (deltas, usage) → ReceivedAnswer (GeneratedChoice, record.Timeline)
 * </pre>
 */
@NullMarked
package io.github.gatlingllm.client;

import org.jspecify.annotations.NullMarked;
