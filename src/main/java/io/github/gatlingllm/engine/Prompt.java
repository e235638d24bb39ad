package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A prompt, reduced to its size and its identity.
 *
 * <p>Size: one token per 4 characters (UTF-16 units) of all texts together, rounded up, at least 1;
 * roles and templates are free. That is the rule "chars4", so a client can count the same.
 *
 * @param tokens ≥ 1
 * @param hash of role and text of every part
 */
record Prompt(int tokens, long hash) {
  private static final int CHARS_PER_TOKEN = 4;

  /**
   * The prompt of a chat: {@code messages}, contents as text or as an array of text parts.
   *
   * @throws Refusal 400 where it is anything else
   */
  static Prompt ofMessages(JsonNode messages) throws Refusal {
    if (!messages.isArray() || messages.isEmpty()) {
      throw Refusal.badRequest("messages", "messages are missing; expected a non-empty array");
    }
    Sum sum = new Sum();
    for (JsonNode message : messages) {
      if (!message.path("role").isTextual()) {
        throw Refusal.badRequest("messages", "A message has no role; expected role and content");
      }
      sum.mix(message.path("role").textValue());
      JsonNode content = message.path("content");
      if (content.isArray()) {
        for (JsonNode part : content) {
          sum.add(part.path("text"));
        }
      } else if (!content.isNull()) {
        sum.add(content);
      }
    }
    return sum.prompt();
  }

  /**
   * The prompt of a completion: a text, an array of one text, or an array of token ids, each of
   * which is one token.
   *
   * @throws Refusal 400 where it is anything else
   */
  static Prompt ofText(JsonNode prompt) throws Refusal {
    if (prompt.isArray() && !prompt.isEmpty() && prompt.path(0).isIntegralNumber()) {
      return new Prompt(prompt.size(), prompt.hashCode());
    }
    Sum sum = new Sum();
    sum.add(prompt.isArray() && prompt.size() == 1 ? prompt.path(0) : prompt);
    return sum.prompt();
  }

  /** Characters counted, and hashed with FNV-1a. */
  private static final class Sum {
    private long chars;
    private long hash = 0xCBF29CE484222325L;

    void add(JsonNode text) throws Refusal {
      if (!text.isTextual()) {
        throw Refusal.badRequest(
            null, "The prompt is missing or no text; this engine reads text only");
      }
      chars += text.textValue().length();
      mix(text.textValue());
    }

    void mix(String text) {
      for (int i = 0; i < text.length(); i++) {
        hash = (hash ^ text.charAt(i)) * 0x100000001B3L;
      }
      hash = Answer.mix(hash);
    }

    Prompt prompt() {
      return new Prompt((int) Math.max(1, (chars + CHARS_PER_TOKEN - 1) / CHARS_PER_TOKEN), hash);
    }
  }
}
