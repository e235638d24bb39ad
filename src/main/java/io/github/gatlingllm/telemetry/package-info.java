/**
 * What the server says of itself: pages of metrics in Prometheus text form, read once a second
 * while load is on, under names that are the same for all servers.
 */
@NullMarked
package io.github.gatlingllm.telemetry;

import org.jspecify.annotations.NullMarked;
