/**
 * Offering load: arrival processes, levels and their phases, and the driver that walks through
 * them. Pure: it knows a clock, a timer and virtual users as interfaces, and nothing of Gatling.
 */
@NullMarked
package io.github.gatlingllm.load;

import org.jspecify.annotations.NullMarked;
