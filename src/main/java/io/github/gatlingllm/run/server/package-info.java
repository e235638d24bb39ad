/**
 * What server and load generator report about themselves while a run is on: metrics pages of
 * servers, GPUs and hosts, read once a second ({@code server.jsonl}), and event loop lag, CPU,
 * memory and garbage collection of this process ({@code generator.jsonl}). Not for users' code.
 */
@NullMarked
package io.github.gatlingllm.run.server;

import org.jspecify.annotations.NullMarked;
