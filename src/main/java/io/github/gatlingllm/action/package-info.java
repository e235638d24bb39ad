/**
 * The only place where Gatling's Scala classes are touched: what the DSL builds becomes protocols,
 * actions, injection steps and workloads here.
 */
@NullMarked
package io.github.gatlingllm.action;

import org.jspecify.annotations.NullMarked;
