/**
 * Settings that a process has whatever simulation it runs, as system properties or in its
 * environment. Not for users' code; what the benchmark takes besides is in its own catalogue.
 */
@NullMarked
package io.github.gatlingllm.setting;

import org.jspecify.annotations.NullMarked;
