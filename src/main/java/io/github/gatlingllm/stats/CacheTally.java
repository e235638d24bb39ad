package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.Summary.CacheUse;
import org.jspecify.annotations.Nullable;

/** What the server's prefix cache did to TTFT. */
final class CacheTally {

  /** A request is warm when at least this share of its prompt came from the cache. */
  private static final double WARM = 0.5;

  private final ValueRecorder coldTtft = new ValueRecorder(ValueRecorder.MICROS);
  private final ValueRecorder warmTtft = new ValueRecorder(ValueRecorder.MICROS);
  private final CachedShare told = new CachedShare();

  /** Adds a request where the server told how much was cached. */
  void add(RequestRecord record, @Nullable Integer prompt) {
    Integer cached = record.tokens().cachedTokens();
    if (cached == null || prompt == null) {
      return;
    }
    told.add(cached, prompt);
    Long ttft = record.timing().ttftNanos();
    if (record.outcome().ok() && ttft != null) {
      (cached >= WARM * prompt && cached > 0 ? warmTtft : coldTtft).add(ttft / 1e6);
    }
  }

  /**
   * Null where the server never told.
   *
   * @param stage see {@link CacheUse}
   */
  @Nullable CacheUse use(@Nullable String stage) {
    return told.share() == null
        ? null
        : new CacheUse(stage, warmTtft.distribution(), coldTtft.distribution());
  }
}
