package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.load.Seed;
import java.util.Arrays;

/**
 * A prompt, reduced to its number of tokens and its hash.
 *
 * <p>Tokens: one per 4 characters (Unicode code points) of all texts together, rounded up, at least
 * 1; roles and templates count 0. This is the rule of the tokenizer "chars4", so that a client can
 * count the same. Tool definitions count as the text of their JSON, tool calls as name and
 * arguments, and an image as {@value #IMAGE_TOKENS} tokens, whatever its size.
 */
record Prompt(int tokens, Hasher text) {
  static final int CHARS_PER_TOKEN = 4;
  static final int IMAGE_TOKENS = 256;

  /** Tokens per block of the prefix cache; the default of vLLM. */
  static final int BLOCK_TOKENS = 16;

  private Prompt(Hasher text) {
    this(Math.max(1, text.tokens()), text);
  }

  long hash() {
    return Seed.mix(text.hash);
  }

  /**
   * Hashes of the blocks that this prompt and its answer fill, as the next turn of a conversation
   * sends them. Answers are drawn from a seed, so all are known in advance. Without the last token
   * of the answer, which nothing is computed from.
   */
  long[] blocks(GeneratedAnswer answer, Api api) {
    Hasher all = new Hasher(text);
    if (api.takesMessages()) {
      all.mark("assistant");
    }
    for (int token = 0; token < answer.tokens() - 1; token++) {
      // The next turn omits reasoning, so blocks after it can never be shared.
      if (answer.type(token) == GeneratedAnswer.TokenType.REASONING) {
        all.mark("reasoning");
      }
      all.text(answer.text(token));
    }
    return Arrays.copyOf(all.blocks, all.full);
  }

  /**
   * Of the messages of a chat, the items of {@code responses}, or the messages of Anthropic, which
   * give the same prompt for the same contents. Tools come first, as in most templates.
   */
  static Prompt ofMessages(JsonNode request) throws Refusal {
    JsonNode input = request.path(request.has("input") ? "input" : "messages");
    if (!input.isTextual() && (!input.isArray() || input.isEmpty())) {
      throw Refusal.badRequest("messages", "messages are missing; expected a non-empty array");
    }
    Hasher text = new Hasher();
    JsonNode tools = request.path("tools");
    if (!tools.isEmpty()) {
      text.mark("tools");
      text.text(tools.toString());
    }
    for (String name : new String[] {"system", "instructions"}) {
      if (request.hasNonNull(name)) {
        text.mark("system");
        content(request.path(name), text);
      }
    }
    if (input.isTextual()) {
      text.mark("user");
      text.text(input.textValue());
    }
    for (JsonNode message : input) {
      message(message, text);
    }
    return new Prompt(text);
  }

  private static void message(JsonNode message, Hasher text) throws Refusal {
    switch (message.path("type").asText()) {
      case "function_call" -> {
        text.mark("assistant");
        call(message, message.path("arguments").asText(), text);
      }
      case "function_call_output" -> {
        text.mark("tool");
        content(message.path("output"), text);
      }
      default -> {
        if (!message.path("role").isTextual()) {
          throw Refusal.badRequest("messages", "A message has no role; expected role and content");
        }
        text.mark(message.path("role").textValue());
        JsonNode content = message.path("content");
        if (!content.isNull() && !(content.isMissingNode() && message.has("tool_calls"))) {
          content(content, text);
        }
        for (JsonNode call : message.path("tool_calls")) {
          call(call.path("function"), call.at("/function/arguments").asText(), text);
        }
      }
    }
  }

  private static void call(JsonNode function, String arguments, Hasher text) {
    text.text(function.path("name").asText());
    text.text(arguments);
  }

  private static void content(JsonNode content, Hasher text) throws Refusal {
    if (!content.isArray()) {
      text.text(read(content));
    }
    for (JsonNode part : content) {
      switch (part.path("type").asText()) {
        case "tool_use" -> call(part, part.path("input").toString(), text);
        case "tool_result" -> {
          text.mark("tool");
          content(part.path("content"), text);
        }
        case "image", "image_url", "input_image" -> {
          JsonNode named = part.has("source") ? part.path("source") : part.path("image_url");
          if (named.isMissingNode()) {
            throw Refusal.badRequest("messages", "An image has no address; expected image_url");
          }
          text.tokens(Seed.mix(named.hashCode()), IMAGE_TOKENS);
        }
        default -> text.text(read(part.path("text")));
      }
    }
  }

  /** A text, an array of one text, or an array of token ids, each of which is one token. */
  static Prompt ofText(JsonNode prompt) throws Refusal {
    Hasher text = new Hasher();
    if (prompt.isArray() && !prompt.isEmpty() && prompt.path(0).isIntegralNumber()) {
      for (JsonNode id : prompt) {
        text.tokens(Seed.mix(id.longValue() + 1), 1);
      }
    } else {
      text.text(read(prompt.isArray() && prompt.size() == 1 ? prompt.path(0) : prompt));
    }
    return new Prompt(text);
  }

  /** A query, and a document that is compared with it. */
  static Prompt ofPair(String query, JsonNode document) throws Refusal {
    Hasher text = new Hasher();
    text.text(query);
    text.mark("document");
    text.text(read(document));
    return new Prompt(text);
  }

  private static String read(JsonNode text) throws Refusal {
    if (!text.isTextual()) {
      throw Refusal.badRequest(
          null, "The prompt is missing or no text; this engine reads text and image_url parts");
    }
    return text.textValue();
  }

  /**
   * Reads a text and computes a hash for each of its blocks. 64 characters (Unicode code points)
   * are 16 tokens, one block. The hash of a block is the FNV-1a hash of everything up to its end,
   * roles included, so equal hashes mean equal prefixes.
   */
  private static final class Hasher {
    private static final int BLOCK_CHARS = BLOCK_TOKENS * CHARS_PER_TOKEN;
    private static final long PRIME = 0x100000001B3L;

    private long hash = 0xCBF29CE484222325L;
    private long chars;
    private long[] blocks = new long[4];
    private int full;

    private Hasher() {}

    private Hasher(Hasher other) {
      hash = other.hash;
      chars = other.chars;
      blocks = other.blocks.clone();
      full = other.full;
    }

    /** Adds a role, which distinguishes texts but takes no token. */
    private void mark(String role) {
      hash = Seed.mix(hash);
      for (int i = 0; i < role.length(); i++) {
        hash = (hash ^ role.charAt(i)) * PRIME;
      }
      hash = Seed.mix(hash);
    }

    private void text(String text) {
      text.codePoints().forEach(this::read);
    }

    /** Adds complete tokens that are not text, such as a token id or an image. */
    private void tokens(long identity, int tokens) {
      for (int i = 0; i < tokens * CHARS_PER_TOKEN; i++) {
        read(identity);
      }
    }

    private void read(long unit) {
      hash = (hash ^ unit) * PRIME;
      chars++;
      if (chars % BLOCK_CHARS == 0) {
        blocks = full == blocks.length ? Arrays.copyOf(blocks, 2 * full) : blocks;
        blocks[full++] = hash;
      }
    }

    private int tokens() {
      return (int) ((chars + CHARS_PER_TOKEN - 1) / CHARS_PER_TOKEN);
    }
  }
}
