package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.Summary.CacheUse;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the prefix cache did to TTFT at each load level. A cache fills while the load grows, so that
 * warm and cold requests of a whole run differ in their load first of all; only those of one level
 * can be compared.
 */
final class PrefixCacheTally {

  private static final Comparator<CacheUse> EVIDENCE =
      Comparator.<CacheUse>comparingLong(
              use -> Math.min(use.warmTtftMs().count(), use.coldTtftMs().count()))
          .thenComparingLong(use -> use.warmTtftMs().count() + use.coldTtftMs().count());

  private final Map<Place, OfLevel> byPlace = new LinkedHashMap<>();

  private record Place(String stage, String target, String scenario) {}

  void add(RequestRecord record, @Nullable Integer prompt) {
    RequestRecord.Identity id = record.identity();
    byPlace
        .computeIfAbsent(new Place(id.stage(), id.target(), id.scenario()), p -> new OfLevel())
        .add(record, prompt);
  }

  /** That of the level with most requests of both kinds; null where the server never told. */
  @Nullable CacheUse use() {
    boolean targets = byPlace.keySet().stream().map(Place::target).distinct().count() > 1;
    boolean scenarios = byPlace.keySet().stream().map(Place::scenario).distinct().count() > 1;
    CacheUse best = null;
    for (Map.Entry<Place, OfLevel> entry : byPlace.entrySet()) {
      Place place = entry.getKey();
      String name =
          Summary.named(
              place.stage(), targets ? place.target() : null, scenarios ? place.scenario() : null);
      CacheUse use = entry.getValue().use(byPlace.size() > 1 ? name : null);
      if (use != null && (best == null || EVIDENCE.compare(use, best) > 0)) {
        best = use;
      }
    }
    return best;
  }

  /** What the server's prefix cache did to TTFT. */
  static final class OfLevel {

    /** A request is warm when at least this share of its prompt came from the cache. */
    private static final double WARM = 0.5;

    private final ValueRecorder coldTtft = new ValueRecorder(ValueRecorder.MICROS);
    private final ValueRecorder warmTtft = new ValueRecorder(ValueRecorder.MICROS);
    private final Share told = new Share();

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

  /** How much of the prompts the server's prefix cache held, where it told. */
  static final class Share {

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
}
