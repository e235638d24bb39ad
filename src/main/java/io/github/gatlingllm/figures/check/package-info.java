/**
 * The catalogue of checks of a run's validity, and their input. Pure: no I/O. Not for users' code;
 * the ids of checks are stable, as they are in {@code summary.json}.
 */
@NullMarked
package io.github.gatlingllm.figures.check;

import org.jspecify.annotations.NullMarked;
