/**
 * Load generation without Gatling: arrival processes, load levels and their phases, load plans, and
 * the driver that runs a plan. The clock, the timer and the virtual users are interfaces. Not for
 * users.
 */
@NullMarked
package io.github.gatlingllm.load;

import org.jspecify.annotations.NullMarked;
