package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.AnswerCounts.TextCounts;
import io.github.gatlingllm.figures.level.Summary.Turn;
import io.github.gatlingllm.figures.level.Summary.Workload;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.RequestRecord;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Counts the requests scheduled in measure by lengths, models, scenarios and endpoints. */
final class WorkloadTally {

  private static final int LAST_TURN = 100;

  private final ValueRecorder prompts = new ValueRecorder(ValueRecorder.WHOLE);
  private final ValueRecorder promptsByUs = new ValueRecorder(ValueRecorder.WHOLE);
  private final ValueRecorder outputs = new ValueRecorder(ValueRecorder.WHOLE);
  private final TextCounts texts = new TextCounts();
  private final Share cache = new Share();
  private final Map<Integer, OfTurn> turns = new TreeMap<>();
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
      (tokens.promptTokens() == null ? promptsByUs : prompts).add(prompt);
    }
    if (tokens.promptTokens() != null && tokens.promptTokensLocal() != null) {
      texts.add(tokens.promptTokens(), tokens.promptTokensLocal());
    }
    Integer output = tokens.outputTokens();
    if (output != null && record.outcome().ok()) {
      outputs.add(output);
    }
    cache.add(tokens.cachedTokens(), prompt);
    Integer number = id.turn();
    if (number != null) {
      turns.computeIfAbsent(Math.min(number, LAST_TURN), n -> new OfTurn()).add(record, prompt);
    }
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

  List<String> models(String target) {
    KeyCounts<String> models = modelsByTarget.get(target);
    return models == null
        ? List.of()
        : models.byCount().keySet().stream().filter(name -> !name.isEmpty()).toList();
  }

  /** The models of the requests to each target; an empty name stands for requests without one. */
  List<Set<String>> modelsOfTargets() {
    return modelsByTarget.values().stream()
        .<Set<String>>map(models -> new HashSet<>(models.byCount().keySet()))
        .toList();
  }

  /** With the tokens that the server has said its template adds; null if it has not. */
  Workload workload(@Nullable Integer saidTemplate) {
    Map<Integer, Long> requests = new TreeMap<>();
    turns.forEach((number, turn) -> requests.put(number, turn.requests));
    boolean isReported = prompts.moments().count() > 0;
    return new Workload(
        (isReported ? prompts : promptsByUs).distribution(),
        isReported ? promptsByUs.moments().count() : 0,
        outputs.distribution(),
        saidTemplate == null ? template() : saidTemplate,
        cache.share(),
        requests,
        turns.entrySet().stream().map(e -> e.getValue().turn(e.getKey())).toList(),
        scenarios.byCount(),
        models.byCount(),
        apis.byCount(),
        endpoints.byCount(),
        streamed);
  }

  /** What the server counts beyond the texts of prompts, where it is the same for all. */
  private @Nullable Integer template() {
    Integer constant = texts.constant();
    return constant == null || constant < 0 || constant > TextCounts.MAX_TEMPLATE ? null : constant;
  }

  private static final class OfTurn {
    private final ValueRecorder prompts = new ValueRecorder(ValueRecorder.WHOLE);
    private final Share cache = new Share();
    private final ValueRecorder ttft = new ValueRecorder(ValueRecorder.MICROS);
    private final ValueRecorder e2e = new ValueRecorder(ValueRecorder.MICROS);
    private long requests;

    private void add(RequestRecord record, @Nullable Integer prompt) {
      requests++;
      if (prompt != null) {
        prompts.add(prompt);
      }
      cache.add(record.tokens().cachedTokens(), prompt);
      Long nanos = record.timing().ttftNanos();
      if (record.outcome().ok() && nanos != null) {
        ttft.add(nanos / 1e6);
      }
      Long last = record.timing().latencyNanos();
      if (record.outcome().ok() && last != null) {
        e2e.add(last / 1e6);
      }
    }

    private Turn turn(int number) {
      return new Turn(
          number,
          requests,
          prompts.distribution().mean(),
          cache.share(),
          ttft.distribution(),
          e2e.distribution());
    }
  }

  static final class Share {

    private long promptTokens;
    private long cachedTokens;

    /** Adds a prompt if the server reported its cached tokens. */
    void add(@Nullable Integer cached, @Nullable Integer prompt) {
      if (cached != null && prompt != null) {
        promptTokens += prompt;
        cachedTokens += cached;
      }
    }

    @Nullable Double share() {
      return promptTokens == 0 ? null : (Double) ((double) cachedTokens / promptTokens);
    }
  }

  /** Counts by key; after {@value #MOST} keys further ones are counted under a common one. */
  static final class KeyCounts<K> {

    private static final int MOST = 200;

    private final K other;
    private final Map<K, long[]> counts = new LinkedHashMap<>();

    KeyCounts(K other) {
      this.other = other;
    }

    void add(K key) {
      add(key, 1);
    }

    void add(KeyCounts<K> more) {
      more.counts.forEach((key, count) -> add(key, count[0]));
    }

    private void add(K key, long count) {
      long[] known = counts.get(key);
      if (known == null) {
        known = counts.computeIfAbsent(counts.size() < MOST ? key : other, k -> new long[1]);
      }
      known[0] += count;
    }

    /** Most frequent first; among equals the one that was added first. */
    Map<K, Long> byCount() {
      Map<K, Long> sorted = new LinkedHashMap<>();
      counts.entrySet().stream()
          .sorted(Comparator.comparingLong((Map.Entry<K, long[]> e) -> e.getValue()[0]).reversed())
          .forEach(e -> sorted.put(e.getKey(), e.getValue()[0]));
      return Collections.unmodifiableMap(sorted);
    }
  }
}
