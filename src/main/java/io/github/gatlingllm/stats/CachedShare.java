package io.github.gatlingllm.stats;

import org.jspecify.annotations.Nullable;

/** How much of the prompts the server's prefix cache held, where it told. */
final class CachedShare {

  private long promptTokens;
  private long cachedTokens;

  /** Adds a prompt; one of which the server did not tell is ignored. */
  void add(@Nullable Integer cached, @Nullable Integer prompt) {
    if (cached != null && prompt != null) {
      promptTokens += prompt;
      cachedTokens += cached;
    }
  }

  /** Cached ÷ all prompt tokens; null where the server never told. */
  @Nullable Double share() {
    return promptTokens == 0 ? null : (Double) ((double) cachedTokens / promptTokens);
  }
}
