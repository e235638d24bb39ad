/**
 * The public API of gatling-llm. Its entry point is {@link io.github.gatlingllm.javaapi.LlmDsl}.
 *
 * <p>All builders are immutable: every method returns a new occurrence and leaves the original
 * unmodified. Overloads have one meaning, described at the first: a parameter is a value, a Gatling
 * EL String or a function of the session; a duration is a number of seconds or a {@link
 * java.time.Duration}. A value out of its range, or a file that cannot be read, throws an {@link
 * IllegalArgumentException} with a message of one line when the simulation is built.
 */
@NullMarked
package io.github.gatlingllm.javaapi;

import org.jspecify.annotations.NullMarked;
