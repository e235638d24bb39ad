/**
 * Computes the figures of a run from its request records: distributions, rates in measure windows,
 * goodput, knee, jitter. Pure: no files, no clock. Each figure is defined in one place, {@link
 * io.github.gatlingllm.figures.metric.Metric}. Internal: not for users.
 */
@NullMarked
package io.github.gatlingllm.figures.level;

import org.jspecify.annotations.NullMarked;
