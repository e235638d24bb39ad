/**
 * Several injectors on this machine: processes that one process starts again from itself, and whose
 * runs it joins when they have ended. Not for users of the DSL; the setting {@code injectors} is
 * what they see of it.
 */
@NullMarked
package io.github.gatlingllm.processes;

import org.jspecify.annotations.NullMarked;
