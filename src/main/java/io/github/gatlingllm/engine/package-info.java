/**
 * The embedded engine: an OpenAI-compatible server on 127.0.0.1 that behaves like a GPU engine
 * (continuous batching, prefill, KV limit) without a GPU. For laptops, examples and tests of one's
 * own simulations; {@link io.github.gatlingllm.engine.EmbeddedEngine} is the way in.
 *
 * <p>Two threads: the scheduler's decides when each token comes, Netty's one event loop reads
 * requests and writes tokens. All else belongs to exactly one of them.
 */
@NullMarked
package io.github.gatlingllm.engine;

import org.jspecify.annotations.NullMarked;
