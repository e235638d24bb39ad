package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Api;

final class Requests {
  static final String PROMPT = "\"messages\":[{\"role\":\"user\",\"content\":\"How are you?\"}]";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Requests() {}

  static CompletionRequest parse(Api api, String json) throws Refusal {
    return CompletionRequest.parse(api, json.getBytes(UTF_8), MAPPER);
  }

  /** A chat request; {@code %s} becomes a prompt. */
  static CompletionRequest chat(String json) {
    try {
      return parse(Api.CHAT, json.replace("%s", PROMPT));
    } catch (Refusal refusal) {
      throw new AssertionError(refusal);
    }
  }

  /** The answer to a chat request of an engine with seed 1 and 1,000 tokens of room. */
  static GeneratedAnswer answer(String json) {
    return GeneratedAnswer.to(chat(json), 1, 0, 1_000, 0);
  }
}
