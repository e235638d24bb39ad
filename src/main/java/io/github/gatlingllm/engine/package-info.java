/**
 * The embedded engine: an OpenAI-compatible server on 127.0.0.1 that behaves like a GPU engine
 * (continuous batching, prefill, prefix cache) without a GPU. For users: to try simulations on a
 * laptop and to test them; start with {@link io.github.gatlingllm.engine.EmbeddedEngine}.
 *
 * <p>It has two threads: the scheduler thread decides when each token is due, and one Netty event
 * loop reads requests and writes tokens. All other state belongs to exactly one of the two.
 */
@NullMarked
package io.github.gatlingllm.engine;

import org.jspecify.annotations.NullMarked;
