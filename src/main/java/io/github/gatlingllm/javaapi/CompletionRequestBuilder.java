package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.LlmRequest;

/**
 * A text completion.
 *
 * <pre>{@code
 * llm("complete").completion().prompt("#{prompt}").maxTokens(128)
 * }</pre>
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 */
public final class CompletionRequestBuilder extends LlmRequestBuilder<CompletionRequestBuilder> {

  CompletionRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  CompletionRequestBuilder with(LlmRequest changed) {
    return new CompletionRequestBuilder(changed);
  }
}
