/** The ready-made benchmark and its settings; a user of the jar runs it without writing code. */
@NullMarked
package io.github.gatlingllm.simulations;

import org.jspecify.annotations.NullMarked;
