/**
 * What the server's own metrics say, by load level and over time: differences of counters, means
 * and maxima of states, percentiles of its histograms, and what the run itself sent.
 */
@NullMarked
package io.github.gatlingllm.enginestats;

import org.jspecify.annotations.NullMarked;
