package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.ActionBuilder;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;

/** A text completion: {@code llm("complete").completion().prompt("#{prompt}").maxTokens(128)}. */
public final class CompletionRequestBuilder
    extends GenerationRequestBuilder<CompletionRequestBuilder> implements ActionBuilder {

  CompletionRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  CompletionRequestBuilder with(LlmRequest changed) {
    return new CompletionRequestBuilder(changed);
  }

  /**
   * Asks for the log probability of each token, and of the {@code top} most likely ones at its
   * position, 0 to 5.
   */
  public CompletionRequestBuilder logprobs(int top) {
    return parameter("logprobs", Dynamic.of(top));
  }
}
