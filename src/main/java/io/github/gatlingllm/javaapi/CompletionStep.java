package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import java.util.function.Function;

/** A text completion that still needs its prompt. */
public final class CompletionStep {

  private final LlmRequest request;

  CompletionStep(LlmRequest request) {
    this.request = request;
  }

  /** The prompt; a Gatling EL String. */
  public CompletionRequestBuilder prompt(String prompt) {
    return prompt(Dynamic.text(prompt));
  }

  /** The prompt, computed from the session. */
  public CompletionRequestBuilder prompt(Function<Session, String> prompt) {
    return prompt(Dynamic.of(prompt));
  }

  private CompletionRequestBuilder prompt(Dynamic<String> prompt) {
    return new CompletionRequestBuilder(request.edit(draft -> draft.prompt = prompt));
  }
}
