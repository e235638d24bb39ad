/** The catalogue of checks of a run's validity, and their input. Pure; ids are stable. */
@NullMarked
package io.github.gatlingllm.figures.check;

import org.jspecify.annotations.NullMarked;
