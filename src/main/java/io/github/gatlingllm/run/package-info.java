/**
 * One run: its directory, recorder, live figures and load levels, and its report after Gatling has
 * ended. Not for users' code.
 */
@NullMarked
package io.github.gatlingllm.run;

import org.jspecify.annotations.NullMarked;
