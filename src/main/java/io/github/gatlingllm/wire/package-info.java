/**
 * Bytes and their meaning, pure: the decoder of server-sent events, the parser of completion
 * chunks, the writer of requests and the reader of error bodies. No I/O, no clock, no threads.
 *
 * <p>A response flows through it once, without garbage per token:
 *
 * <pre>{@code
 * SseDecoder decoder = new SseDecoder(new ChunkParser(listener), new AnswerMemory());
 * decoder.feed(bytes, 0, length); // per read
 * decoder.endOfStream();
 * }</pre>
 */
@NullMarked
package io.github.gatlingllm.wire;

import org.jspecify.annotations.NullMarked;
