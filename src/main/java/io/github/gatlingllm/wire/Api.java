package io.github.gatlingllm.wire;

import java.util.Locale;

/** The two forms of text generation that OpenAI-compatible servers offer. */
public enum Api {
  /** Messages in, a message out. */
  CHAT("/chat/completions"),
  /** A prompt in, its continuation out. */
  COMPLETIONS("/completions");

  private final String key = name().toLowerCase(Locale.ROOT);
  private final String path;

  Api(String path) {
    this.path = path;
  }

  /** The name used in settings and files: {@code chat} or {@code completions}. */
  public String key() {
    return key;
  }

  /** Where it lies below a base URL that ends in {@code /v1}. */
  public String path() {
    return path;
  }
}
