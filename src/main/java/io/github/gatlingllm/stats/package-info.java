/**
 * From request records to numbers: distributions, measure windows, goodput, knee, jitter and the
 * checks that say how far the numbers can be trusted. Pure: reads records, knows no file and no
 * clock. Every figure has one definition, stated where it is computed.
 */
@NullMarked
package io.github.gatlingllm.stats;

import org.jspecify.annotations.NullMarked;
