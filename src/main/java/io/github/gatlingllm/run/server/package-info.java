/** Reads the metrics pages of servers, GPUs and hosts during a run. Not for users' code. */
@NullMarked
package io.github.gatlingllm.run.server;

import org.jspecify.annotations.NullMarked;
