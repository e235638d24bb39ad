/**
 * Benchmarks of the precision and speed of load generation and measurement. They are programs, not
 * tests, because their bounds hold only on an idle machine. {@code bench/run} starts them.
 */
@NullMarked
package io.github.gatlingllm.bench;

import org.jspecify.annotations.NullMarked;
