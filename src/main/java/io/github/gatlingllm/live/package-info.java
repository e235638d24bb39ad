/**
 * What who watches a run sees while it is on, where it is asked for: a page on this machine, and
 * meters for Prometheus and OTLP. Not for users' code.
 */
@NullMarked
package io.github.gatlingllm.live;

import org.jspecify.annotations.NullMarked;
