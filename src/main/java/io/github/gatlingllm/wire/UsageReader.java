package io.github.gatlingllm.wire;

import java.nio.charset.StandardCharsets;

/** Reads what servers report about the work done: usage objects and llama.cpp's timings. */
final class UsageReader {

  private static final byte[] PROMPT_TOKENS = key("prompt_tokens");
  private static final byte[] COMPLETION_TOKENS = key("completion_tokens");
  private static final byte[] PROMPT_DETAILS = key("prompt_tokens_details");
  private static final byte[] COMPLETION_DETAILS = key("completion_tokens_details");
  private static final byte[] CACHED_TOKENS = key("cached_tokens");
  private static final byte[] REASONING_TOKENS = key("reasoning_tokens");

  /** Groq, seconds. */
  private static final byte[] QUEUE_TIME = key("queue_time");

  private static final byte[] PROMPT_TIME = key("prompt_time");
  private static final byte[] COMPLETION_TIME = key("completion_time");

  /** llama.cpp, milliseconds and tokens. */
  private static final byte[] PROMPT_MS = key("prompt_ms");

  private static final byte[] PREDICTED_MS = key("predicted_ms");
  private static final byte[] PROMPT_N = key("prompt_n");
  private static final byte[] CACHE_N = key("cache_n");
  private static final byte[] PREDICTED_N = key("predicted_n");

  private final JsonScanner json;
  private final ChunkListener listener;

  private int cachedTokens;
  private int reasoningTokens;

  UsageReader(JsonScanner json, ChunkListener listener) {
    this.json = json;
    this.listener = listener;
  }

  /** Reads a usage object and pushes it; false: the value is none, and was skipped. */
  boolean usage() {
    if (!json.atObject()) {
      json.skip();
      return false;
    }
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
    return true;
  }

  /** Reads llama.cpp's timings object; false: the value is none, and was skipped. */
  boolean timings() {
    if (!json.atObject()) {
      json.skip();
      return false;
    }
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
    return true;
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

  private static byte[] key(String name) {
    return name.getBytes(StandardCharsets.US_ASCII);
  }
}
