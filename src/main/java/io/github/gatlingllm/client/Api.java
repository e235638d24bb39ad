package io.github.gatlingllm.client;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The APIs that a request can be sent to: four that generate text, and one that embeds it. */
public enum Api {
  /** OpenAI chat completions: messages in, a message out. */
  CHAT("/chat/completions", null),
  /** OpenAI completions: a prompt in, its continuation out. */
  COMPLETIONS("/completions", null),
  /** OpenAI responses: items in, items out, streamed as typed events. */
  RESPONSES("/responses", "response.completed"),
  /** Anthropic messages: messages in, content blocks out, streamed as typed events. */
  MESSAGES("/messages", "message_stop"),
  /** OpenAI embeddings: texts in, one vector for each out; never streamed. */
  EMBEDDINGS("/embeddings", null);

  public static final String MAX_TOKENS = "max_tokens";

  /** The name of the same field for hosted reasoning models. */
  public static final String MAX_COMPLETION_TOKENS = "max_completion_tokens";

  public static final List<String> MAX_TOKENS_FIELDS =
      List.of("auto", MAX_TOKENS, MAX_COMPLETION_TOKENS);

  private static final List<Api> ALL = List.of(values());

  private final String key = name().toLowerCase(Locale.ROOT);
  private final String path;
  private final @Nullable String terminalEvent;

  Api(String path, @Nullable String terminalEvent) {
    this.path = path;
    this.terminalEvent = terminalEvent;
  }

  /** The API whose {@link #path} the given path ends with; null for none. */
  public static @Nullable Api ofPath(String path) {
    for (Api api : ALL) {
      if (path.endsWith(api.path)) {
        return api;
      }
    }
    return null;
  }

  /** The name used in settings and files: {@code chat}, {@code completions}, … */
  public String key() {
    return key;
  }

  /** Path below a base URL that ends in {@code /v1}. */
  public String path() {
    return path;
  }

  /** Type of the event that ends a complete stream; null for APIs without typed events. */
  public @Nullable String terminalEvent() {
    return terminalEvent;
  }

  /** Whether a request carries a list of messages, and so can hold dialogs, images and tools. */
  public boolean takesMessages() {
    return this == CHAT || terminalEvent != null;
  }

  /** Whether answers are generated token by token. */
  public boolean generates() {
    return this != EMBEDDINGS;
  }

  /**
   * One chat message of a request.
   *
   * @param role such as {@code system}, {@code user}, {@code assistant}, {@code tool}
   * @param content the text; null for an assistant message that only calls tools
   * @param parts content as a JSON array of parts, instead of the text
   * @param toolCalls the calls of an assistant message as a JSON array
   * @param toolCallId id of the call that a {@code tool} message answers
   */
  public record Message(
      String role,
      @Nullable String content,
      @Nullable String parts,
      @Nullable String toolCalls,
      @Nullable String toolCallId) {

    public static Message of(String role, String content) {
      return new Message(role, content, null, null, null);
    }

    public static Message system(String content) {
      return of("system", content);
    }

    public static Message user(String content) {
      return of("user", content);
    }

    public static Message assistant(String content) {
      return of("assistant", content);
    }

    public static Message parts(String role, String parts) {
      return new Message(role, null, parts, null, null);
    }

    public static Message toolCalls(@Nullable String content, String toolCalls) {
      return new Message("assistant", content, null, toolCalls, null);
    }

    /** An assistant message that calls these functions, as the next request has to repeat it. */
    public static Message toolCalls(String content, List<FunctionCall> calls) {
      ArrayNode array = JsonNodeFactory.instance.arrayNode();
      for (FunctionCall call : calls) {
        array
            .addObject()
            .put("id", call.id())
            .put("type", "function")
            .putObject("function")
            .put("name", call.name())
            .put("arguments", call.arguments());
      }
      return toolCalls(content.isEmpty() ? null : content, array.toString());
    }

    public static Message tool(String toolCallId, String content) {
      return new Message("tool", content, null, null, toolCallId);
    }

    /** A call of a function by the model; the id is made up where the server sent none. */
    public record FunctionCall(String id, String name, String arguments) {}
  }
}
