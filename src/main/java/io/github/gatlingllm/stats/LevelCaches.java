package io.github.gatlingllm.stats;

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
final class LevelCaches {

  private static final Comparator<CacheUse> EVIDENCE =
      Comparator.<CacheUse>comparingLong(
              use -> Math.min(use.warmTtftMs().count(), use.coldTtftMs().count()))
          .thenComparingLong(use -> use.warmTtftMs().count() + use.coldTtftMs().count());

  private final Map<Place, CacheTally> byPlace = new LinkedHashMap<>();

  private record Place(String stage, String target, String scenario) {}

  void add(RequestRecord record, @Nullable Integer prompt) {
    RequestRecord.Identity id = record.identity();
    byPlace
        .computeIfAbsent(new Place(id.stage(), id.target(), id.scenario()), p -> new CacheTally())
        .add(record, prompt);
  }

  /** That of the level with most requests of both kinds; null where the server never told. */
  @Nullable CacheUse use() {
    boolean targets = byPlace.keySet().stream().map(Place::target).distinct().count() > 1;
    boolean scenarios = byPlace.keySet().stream().map(Place::scenario).distinct().count() > 1;
    CacheUse best = null;
    for (Map.Entry<Place, CacheTally> entry : byPlace.entrySet()) {
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
}
