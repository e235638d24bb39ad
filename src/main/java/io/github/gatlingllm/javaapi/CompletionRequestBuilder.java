package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import java.util.function.Function;

/** A text completion: {@code llm("complete").completion().prompt("#{prompt}").maxTokens(128)}. */
public final class CompletionRequestBuilder
    extends GenerationRequestBuilder<CompletionRequestBuilder> {

  CompletionRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  CompletionRequestBuilder with(LlmRequest changed) {
    return new CompletionRequestBuilder(changed);
  }

  /** The prompt; a Gatling EL String. */
  public CompletionRequestBuilder prompt(String prompt) {
    return edit(draft -> draft.prompt = Dynamic.text(prompt));
  }

  public CompletionRequestBuilder prompt(Function<Session, String> prompt) {
    return edit(draft -> draft.prompt = Dynamic.of(prompt));
  }

  /**
   * Requests the log probability of each token, and of the {@code top} most likely ones at its
   * position, 0 to 5.
   */
  public CompletionRequestBuilder logprobs(int top) {
    return parameter("logprobs", Dynamic.of(top));
  }
}
