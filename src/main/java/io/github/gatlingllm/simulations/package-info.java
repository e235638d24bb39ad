/**
 * The ready-made benchmark: a user of the jar runs {@link
 * io.github.gatlingllm.simulations.Benchmark} without writing code. Its settings are in {@code
 * Setting}. Only {@code Benchmark} is for users.
 */
@NullMarked
package io.github.gatlingllm.simulations;

import org.jspecify.annotations.NullMarked;
