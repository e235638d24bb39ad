/**
 * How exact and how fast load generation and measurement are on the machine that they run on:
 * programs, no tests, because their bounds hold on a quiet machine only. {@code bench/run} starts
 * them.
 */
@NullMarked
package io.github.gatlingllm.bench;

import org.jspecify.annotations.NullMarked;
