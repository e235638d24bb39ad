package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;

/** A request that has a name, and must say next which API it speaks. */
public final class Llm {

  private final Dynamic<String> name;

  Llm(Dynamic<String> name) {
    this.name = name;
  }

  /** A chat completion: {@code POST …/chat/completions}. */
  public ChatStep chat() {
    return new ChatStep(LlmRequest.chat(name));
  }

  /** A text completion: {@code POST …/completions}. */
  public CompletionStep completion() {
    return new CompletionStep(LlmRequest.completion(name));
  }
}
