/**
 * What users write: the public API of gatling-llm. {@link io.github.gatlingllm.javaapi.LlmDsl} is
 * the way in.
 */
@NullMarked
package io.github.gatlingllm.javaapi;

import org.jspecify.annotations.NullMarked;
