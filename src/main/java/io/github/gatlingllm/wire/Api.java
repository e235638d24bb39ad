package io.github.gatlingllm.wire;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What servers offer: generating text in four forms, and embedding it. */
public enum Api {
  /** Of OpenAI: messages in, a message out. */
  CHAT("/chat/completions", null),
  /** Of OpenAI: a prompt in, its continuation out. */
  COMPLETIONS("/completions", null),
  /** Of OpenAI: items in, items out, as typed events. */
  RESPONSES("/responses", "response.completed"),
  /** Of Anthropic: messages in, content blocks out, as typed events. */
  MESSAGES("/messages", "message_stop"),
  /** Of OpenAI: texts in, a vector for each out; never streamed. */
  EMBEDDINGS("/embeddings", null);

  private static final List<Api> ALL = List.of(values());

  private final String key = name().toLowerCase(Locale.ROOT);
  private final String path;
  private final @Nullable String terminalEvent;

  Api(String path, @Nullable String terminalEvent) {
    this.path = path;
    this.terminalEvent = terminalEvent;
  }

  /** The API whose path that is, or ends with; null for none. */
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

  /** Where it lies below a base URL that ends in {@code /v1}. */
  public String path() {
    return path;
  }

  /** The type of the event without which a stream is cut off; null where there are no types. */
  public @Nullable String terminalEvent() {
    return terminalEvent;
  }

  /** Whether it takes a list of messages, so that dialogs, images and tools can be sent. */
  public boolean takesMessages() {
    return this == CHAT || terminalEvent != null;
  }

  /** Whether its answers are generated, token by token. */
  public boolean generates() {
    return this != EMBEDDINGS;
  }
}
