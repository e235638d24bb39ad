package io.github.gatlingllm.client;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** OpenAI completions: a prompt in, its continuation out. */
final class CompletionsApi extends Api {

  CompletionsApi() {
    super("completions", "/completions", "prompt", null);
  }

  @Override
  public String requestName() {
    return "completion";
  }

  @Override
  public String operation() {
    return "text_completion";
  }

  @Override
  void addInput(ObjectNode body, GenerationRequest.Builder from) {
    body.set("prompt", from.prompt == null ? null : JsonText.of(from.prefix, from.prompt));
  }
}
