package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.load.SplitMix64;

/**
 * A prompt, reduced to its number of tokens and its hash.
 *
 * <p>Tokens: one per 4 characters (Unicode code points) of all texts together, rounded up, at least
 * 1; roles and templates count 0. This is the rule of the tokenizer "chars4", so that a client can
 * count the same. Tool definitions count as the text of their JSON, tool calls as name and
 * arguments, and an image as {@value #IMAGE_TOKENS} tokens, whatever its size. {@code text} has
 * read the prompt; copy it before reading more.
 */
record Prompt(int tokens, BlockChain.Hasher text) {
  static final int IMAGE_TOKENS = 256;

  private Prompt(BlockChain.Hasher text) {
    this(Math.max(1, text.tokens()), text);
  }

  long hash() {
    return text.hash();
  }

  /**
   * Tools come first as in most templates; content is a text or an array of text and image parts.
   */
  static Prompt ofChat(JsonNode tools, JsonNode messages) throws Refusal {
    if (!messages.isArray() || messages.isEmpty()) {
      throw Refusal.badRequest("messages", "messages are missing; expected a non-empty array");
    }
    BlockChain.Hasher text = new BlockChain.Hasher();
    if (!tools.isEmpty()) {
      text.mark("tools");
      text.text(tools.toString());
    }
    for (JsonNode message : messages) {
      if (!message.path("role").isTextual()) {
        throw Refusal.badRequest("messages", "A message has no role; expected role and content");
      }
      text.mark(message.path("role").textValue());
      content(message, text);
      for (JsonNode call : message.path("tool_calls")) {
        text.text(call.at("/function/name").asText());
        text.text(call.at("/function/arguments").asText());
      }
    }
    return new Prompt(text);
  }

  private static void content(JsonNode message, BlockChain.Hasher text) throws Refusal {
    JsonNode content = message.path("content");
    if (content.isArray()) {
      for (JsonNode part : content) {
        part(part, text);
      }
    } else if (!content.isNull() && !(content.isMissingNode() && message.has("tool_calls"))) {
      text.text(read(content));
    }
  }

  private static void part(JsonNode part, BlockChain.Hasher text) throws Refusal {
    if (!part.path("type").asText().equals("image_url")) {
      text.text(read(part.path("text")));
      return;
    }
    JsonNode url = part.at("/image_url/url");
    if (!url.isTextual()) {
      throw Refusal.badRequest("messages", "An image has no address; expected image_url.url");
    }
    text.tokens(SplitMix64.mix(url.textValue().hashCode()), IMAGE_TOKENS);
  }

  /** A text, an array of one text, or an array of token ids, each of which is one token. */
  static Prompt ofText(JsonNode prompt) throws Refusal {
    BlockChain.Hasher text = new BlockChain.Hasher();
    if (prompt.isArray() && !prompt.isEmpty() && prompt.path(0).isIntegralNumber()) {
      for (JsonNode id : prompt) {
        text.tokens(SplitMix64.mix(id.longValue() + 1), 1);
      }
    } else {
      text.text(read(prompt.isArray() && prompt.size() == 1 ? prompt.path(0) : prompt));
    }
    return new Prompt(text);
  }

  private static String read(JsonNode text) throws Refusal {
    if (!text.isTextual()) {
      throw Refusal.badRequest(
          null, "The prompt is missing or no text; this engine reads text and image_url parts");
    }
    return text.textValue();
  }
}
