/**
 * The timing error of the load generator on this machine. An engine in a process of its own, {@link
 * io.github.gatlingllm.selftest.EngineProcess}, notes when it wrote each token; {@link
 * io.github.gatlingllm.selftest.SelfTestResults} compares these times with the records of an
 * ordinary run at its end. Not for users.
 */
@NullMarked
package io.github.gatlingllm.selftest;

import org.jspecify.annotations.NullMarked;
