/**
 * How exact the load generator is on this machine: an engine in a process of its own notes when it
 * wrote each token, and the records of an ordinary run are held against that. {@link
 * io.github.gatlingllm.selftest.EngineProcess} is the engine, {@link
 * io.github.gatlingllm.selftest.SelfTestResults} what follows at the end of each run.
 */
@NullMarked
package io.github.gatlingllm.selftest;

import org.jspecify.annotations.NullMarked;
