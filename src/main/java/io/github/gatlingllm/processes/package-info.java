/**
 * Several injectors on this machine, by the setting {@code injectors}: one process starts others
 * like itself and joins their runs. Not for users' code.
 */
@NullMarked
package io.github.gatlingllm.processes;

import org.jspecify.annotations.NullMarked;
