/**
 * The public API of gatling-llm. Its entry point is {@link io.github.gatlingllm.javaapi.LlmDsl}.
 */
@NullMarked
package io.github.gatlingllm.javaapi;

import org.jspecify.annotations.NullMarked;
