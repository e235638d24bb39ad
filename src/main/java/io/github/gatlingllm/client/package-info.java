/**
 * One streamed exchange on Gatling's own HTTP client: stamp, decode, finish exactly once. Runs on
 * the virtual user's event loop and never blocks it.
 */
@NullMarked
package io.github.gatlingllm.client;

import org.jspecify.annotations.NullMarked;
