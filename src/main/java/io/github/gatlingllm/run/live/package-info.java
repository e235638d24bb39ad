/**
 * A run while it is on, if enabled: the live page, and meters for Prometheus and OTLP. Not for
 * users' code.
 */
@NullMarked
package io.github.gatlingllm.run.live;

import org.jspecify.annotations.NullMarked;
