package io.github.gatlingllm.stats;

import io.github.gatlingllm.check.CheckInput.CacheUse;
import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.BoundedNames.KeyCounts;
import io.github.gatlingllm.stats.Summary.Turn;
import io.github.gatlingllm.stats.Summary.Workload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What was asked, over requests scheduled in measure. */
final class WorkloadTally {

  private final ValueRecorder prompts = new ValueRecorder(ValueRecorder.WHOLE);
  private final ValueRecorder outputs = new ValueRecorder(ValueRecorder.WHOLE);
  private final PrefixCacheTally.Share cache = new PrefixCacheTally.Share();
  private final PrefixCacheTally caches = new PrefixCacheTally();
  private final TurnTally turns = new TurnTally();
  private final KeyCounts<String> scenarios = new KeyCounts<>("other");
  private final KeyCounts<String> models = new KeyCounts<>("other");
  private final Map<String, KeyCounts<String>> modelsByTarget = new HashMap<>();
  private final KeyCounts<String> apis = new KeyCounts<>("other");
  private final KeyCounts<String> endpoints = new KeyCounts<>("other");
  private long streamed;

  void add(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    RequestRecord.Tokens tokens = record.tokens();
    Integer prompt = record.tokens().prompt();
    if (prompt != null) {
      prompts.add(prompt);
    }
    Integer output = tokens.outputTokens();
    if (output != null && record.outcome().ok()) {
      outputs.add(output);
    }
    cache.add(tokens.cachedTokens(), prompt);
    caches.add(record, prompt);
    turns.add(record, prompt);
    String model = id.model();
    if (model != null) {
      models.add(model);
    }
    modelsByTarget
        .computeIfAbsent(id.target(), t -> new KeyCounts<>("other"))
        .add(model == null ? "" : model);
    scenarios.add(id.scenario());
    apis.add(id.api());
    endpoints.add(id.endpoint());
    streamed += id.streamed() ? 1 : 0;
  }

  /** What that target was asked for, most frequent first. */
  List<String> models(String target) {
    KeyCounts<String> models = modelsByTarget.get(target);
    return models == null
        ? List.of()
        : models.byCount().keySet().stream().filter(name -> !name.isEmpty()).toList();
  }

  /** What each target was asked for; an empty name stands for none. */
  List<Set<String>> modelsOfTargets() {
    return modelsByTarget.values().stream()
        .<Set<String>>map(models -> new HashSet<>(models.byCount().keySet()))
        .toList();
  }

  Workload workload() {
    return new Workload(
        prompts.distribution(),
        outputs.distribution(),
        cache.share(),
        caches.use(),
        turns.requests(),
        turns.turns(),
        scenarios.byCount(),
        models.byCount(),
        apis.byCount(),
        endpoints.byCount(),
        streamed);
  }

  /** Requests by their turn in a conversation. */
  static final class TurnTally {

    /** Later turns are counted with this one. */
    private static final int LAST_TURN = 100;

    private final TreeMap<Integer, OfTurn> turns = new TreeMap<>();

    private static final class OfTurn {
      private final ValueRecorder prompts = new ValueRecorder(ValueRecorder.WHOLE);
      private final PrefixCacheTally.Share cache = new PrefixCacheTally.Share();
      private final ValueRecorder ttft = new ValueRecorder(ValueRecorder.MICROS);
      private long requests;
    }

    /** Adds a request of a conversation; others are ignored. */
    void add(RequestRecord record, @Nullable Integer prompt) {
      Integer number = record.identity().turn();
      if (number == null) {
        return;
      }
      OfTurn turn = turns.computeIfAbsent(Math.min(number, LAST_TURN), n -> new OfTurn());
      turn.requests++;
      if (prompt != null) {
        turn.prompts.add(prompt);
      }
      turn.cache.add(record.tokens().cachedTokens(), prompt);
      Long ttft = record.timing().ttftNanos();
      if (record.outcome().ok() && ttft != null) {
        turn.ttft.add(ttft / 1e6);
      }
    }

    /** How many requests each turn had. */
    Map<Integer, Long> requests() {
      Map<Integer, Long> counts = new TreeMap<>();
      turns.forEach((number, turn) -> counts.put(number, turn.requests));
      return counts;
    }

    /** In order of the turns. */
    List<Turn> turns() {
      List<Turn> all = new ArrayList<>();
      turns.forEach(
          (number, turn) ->
              all.add(
                  new Turn(
                      number,
                      turn.requests,
                      turn.prompts.distribution().mean(),
                      turn.cache.share(),
                      turn.ttft.distribution())));
      return all;
    }
  }

  /**
   * What the prefix cache did to TTFT at each load level. A cache fills while the load grows, so
   * that warm and cold requests of a whole run differ in their load first of all; only those of one
   * level can be compared.
   */
  static final class PrefixCacheTally {

    private static final Comparator<CacheUse> EVIDENCE =
        Comparator.<CacheUse>comparingLong(
                use -> Math.min(use.warmTtftMs().count(), use.coldTtftMs().count()))
            .thenComparingLong(use -> use.warmTtftMs().count() + use.coldTtftMs().count());

    private final Map<Place, OfLevel> byPlace = new LinkedHashMap<>();

    // Mostly it is the one of the request before.
    private @Nullable Place latestPlace;
    private OfLevel latest = new OfLevel();

    private record Place(String stage, String target, String scenario) {
      boolean isOf(RequestRecord.Identity id) {
        return stage.equals(id.stage())
            && target.equals(id.target())
            && scenario.equals(id.scenario());
      }
    }

    void add(RequestRecord record, @Nullable Integer prompt) {
      RequestRecord.Identity id = record.identity();
      if (latestPlace == null || !latestPlace.isOf(id)) {
        latestPlace = new Place(id.stage(), id.target(), id.scenario());
        latest = byPlace.computeIfAbsent(latestPlace, p -> new OfLevel());
      }
      latest.add(record, prompt);
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
                place.stage(),
                targets ? place.target() : null,
                scenarios ? place.scenario() : null);
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
}
