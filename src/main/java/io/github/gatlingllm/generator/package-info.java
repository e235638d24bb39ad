/**
 * How the load generator itself fares while a run is on: a line per second of {@code
 * generator.jsonl}, measured by heartbeats on the event loops and by what JVM and system count.
 */
@NullMarked
package io.github.gatlingllm.generator;

import org.jspecify.annotations.NullMarked;
