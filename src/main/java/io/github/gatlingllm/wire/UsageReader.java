package io.github.gatlingllm.wire;

/** Reads what servers report about the work done: usage objects and llama.cpp's timings. */
final class UsageReader {

  private static final byte[] PROMPT_TOKENS = JsonScanner.key("prompt_tokens");
  private static final byte[] COMPLETION_TOKENS = JsonScanner.key("completion_tokens");
  private static final byte[] PROMPT_DETAILS = JsonScanner.key("prompt_tokens_details");
  private static final byte[] COMPLETION_DETAILS = JsonScanner.key("completion_tokens_details");
  private static final byte[] CACHED_TOKENS = JsonScanner.key("cached_tokens");
  private static final byte[] REASONING_TOKENS = JsonScanner.key("reasoning_tokens");

  /** Groq, seconds. */
  private static final byte[] QUEUE_TIME = JsonScanner.key("queue_time");

  private static final byte[] PROMPT_TIME = JsonScanner.key("prompt_time");
  private static final byte[] COMPLETION_TIME = JsonScanner.key("completion_time");

  /** llama.cpp, milliseconds and tokens. */
  private static final byte[] PROMPT_MS = JsonScanner.key("prompt_ms");

  private static final byte[] PREDICTED_MS = JsonScanner.key("predicted_ms");
  private static final byte[] PROMPT_N = JsonScanner.key("prompt_n");
  private static final byte[] CACHE_N = JsonScanner.key("cache_n");
  private static final byte[] PREDICTED_N = JsonScanner.key("predicted_n");

  private final JsonScanner json;
  private final ChunkListener listener;

  private boolean found;
  private int cachedTokens;
  private int reasoningTokens;

  UsageReader(JsonScanner json, ChunkListener listener) {
    this.json = json;
    this.listener = listener;
  }

  /** Starts a new document. */
  void begin() {
    found = false;
  }

  /** Whether the document held usage or timings. */
  boolean found() {
    return found;
  }

  /** Reads the value of a usage field. */
  void usage() {
    if (!json.atObject()) {
      json.skip();
      return;
    }
    found = true;
    int promptTokens = -1;
    int completionTokens = -1;
    cachedTokens = -1;
    reasoningTokens = -1;
    json.enterObject();
    while (json.nextKey()) {
      if (json.keyIs(PROMPT_TOKENS)) {
        promptTokens = count();
      } else if (json.keyIs(COMPLETION_TOKENS)) {
        completionTokens = count();
      } else if (json.keyIs(PROMPT_DETAILS) || json.keyIs(COMPLETION_DETAILS)) {
        details();
      } else if (json.keyIs(QUEUE_TIME)) {
        server("queue_s", 1);
      } else if (json.keyIs(PROMPT_TIME)) {
        server("prefill_s", 1);
      } else if (json.keyIs(COMPLETION_TIME)) {
        server("decode_s", 1);
      } else {
        detail();
      }
    }
    listener.usage(promptTokens, completionTokens, cachedTokens, reasoningTokens);
  }

  /** Reads the value of llama.cpp's timings field. */
  void timings() {
    if (!json.atObject()) {
      json.skip();
      return;
    }
    found = true;
    json.enterObject();
    while (json.nextKey()) {
      if (json.keyIs(PROMPT_MS)) {
        server("prefill_s", 1000);
      } else if (json.keyIs(PREDICTED_MS)) {
        server("decode_s", 1000);
      } else if (json.keyIs(PROMPT_N)) {
        server("prompt_n", 1);
      } else if (json.keyIs(CACHE_N)) {
        server("cache_n", 1);
      } else if (json.keyIs(PREDICTED_N)) {
        server("predicted_n", 1);
      } else {
        json.skip();
      }
    }
  }

  private void details() {
    if (!json.atObject()) {
      json.skip();
      return;
    }
    json.enterObject();
    while (json.nextKey()) {
      detail();
    }
  }

  /** SGLang has these beside the token counts, the others inside the details. */
  private void detail() {
    if (json.keyIs(CACHED_TOKENS)) {
      cachedTokens = Math.max(cachedTokens, count());
    } else if (json.keyIs(REASONING_TOKENS)) {
      reasoningTokens = Math.max(reasoningTokens, count());
    } else {
      json.skip();
    }
  }

  private int count() {
    double value = json.number();
    return value >= 0 ? (int) value : -1;
  }

  private void server(String key, double divisor) {
    double value = json.number();
    if (value >= 0) {
      listener.server(key, value / divisor);
    }
  }
}
