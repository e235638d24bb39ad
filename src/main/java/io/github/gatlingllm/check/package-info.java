/**
 * How far the figures of a run can be trusted: the catalogue of checks, and what they judge by.
 * Pure. Not for users of the DSL; the ids of checks are stable and stand in {@code summary.json}.
 */
@NullMarked
package io.github.gatlingllm.check;

import org.jspecify.annotations.NullMarked;
