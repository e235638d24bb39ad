/**
 * The ready-made benchmark, which users of the jar run without writing code: {@link
 * io.github.gatlingllm.simulations.Benchmark}, the only type for users.
 */
@NullMarked
package io.github.gatlingllm.simulations;

import org.jspecify.annotations.NullMarked;
