/**
 * Figures from the server's own metrics, by load level and over time: growth of counters, means and
 * maxima of gauges, percentiles of histograms. Pure: no I/O. Not for users' code.
 */
@NullMarked
package io.github.gatlingllm.figures.server;

import org.jspecify.annotations.NullMarked;
