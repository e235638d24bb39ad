package io.github.gatlingllm.client;

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
}
