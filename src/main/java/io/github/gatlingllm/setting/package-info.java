/**
 * Settings of a process, whatever simulation it runs: system properties and environment variables.
 * Not for users' code. Settings of the benchmark alone are in its own catalogue.
 */
@NullMarked
package io.github.gatlingllm.setting;

import org.jspecify.annotations.NullMarked;
