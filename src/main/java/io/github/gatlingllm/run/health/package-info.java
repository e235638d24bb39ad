/**
 * The health of the load generator during a run: event loop lag, CPU, memory and GC of this
 * process. Not for users.
 */
@NullMarked
package io.github.gatlingllm.run.health;

import org.jspecify.annotations.NullMarked;
