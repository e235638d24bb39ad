package io.github.gatlingllm.action;

/** Which of the two OpenAI-compatible generation APIs a request speaks. */
public enum Api {
  /** {@code /v1/chat/completions}: a list of messages. */
  CHAT("chat", "/chat/completions"),
  /** {@code /v1/completions}: one prompt. */
  COMPLETIONS("completions", "/completions");

  private final String key;
  private final String path;

  Api(String key, String path) {
    this.key = key;
    this.path = path;
  }

  /** The name used in settings and files. */
  public String key() {
    return key;
  }

  /** The path below the base URL. */
  public String path() {
    return path;
  }
}
