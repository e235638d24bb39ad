package io.github.gatlingllm.stats;

import io.github.gatlingllm.sample.RequestRecord;
import io.github.gatlingllm.stats.Summary.CacheUse;
import org.jspecify.annotations.Nullable;

/** How much of the prompts the server's prefix cache held, and what that did to TTFT. */
final class CacheTally {

  /** A request is warm when at least this share of its prompt came from the cache. */
  private static final double WARM = 0.5;

  private final ValueRecorder coldTtft = new ValueRecorder(ValueRecorder.MICROS);
  private final ValueRecorder warmTtft = new ValueRecorder(ValueRecorder.MICROS);
  private long promptTokens;
  private long cachedTokens;

  /** Adds a request where the server told how much was cached. */
  void add(RequestRecord record, @Nullable Integer prompt) {
    Integer cached = record.tokens().cachedTokens();
    if (cached == null || prompt == null) {
      return;
    }
    promptTokens += prompt;
    cachedTokens += cached;
    Long ttft = record.timing().ttftNanos();
    if (record.outcome().ok() && ttft != null) {
      (cached >= WARM * prompt && cached > 0 ? warmTtft : coldTtft).add(ttft / 1e6);
    }
  }

  /** Cached ÷ all prompt tokens; null where the server never told. */
  @Nullable Double share() {
    return promptTokens == 0 ? null : (Double) ((double) cachedTokens / promptTokens);
  }

  /**
   * Null where the server never told.
   *
   * @param stage see {@link CacheUse}
   */
  @Nullable CacheUse use(@Nullable String stage) {
    return promptTokens == 0
        ? null
        : new CacheUse(stage, warmTtft.distribution(), coldTtft.distribution());
  }
}
