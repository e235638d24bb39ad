package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.Summary.Workload;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What was asked, over requests scheduled in measure. */
final class WorkloadTally {

  private final ValueRecorder prompts = new ValueRecorder(ValueRecorder.WHOLE);
  private final ValueRecorder outputs = new ValueRecorder(ValueRecorder.WHOLE);
  private final PrefixCacheTally.Share cache = new PrefixCacheTally.Share();
  private final PrefixCacheTally caches = new PrefixCacheTally();
  private final TurnTally turns = new TurnTally();
  private final Tallies<String> scenarios = new Tallies<>("other");
  private final Tallies<String> models = new Tallies<>("other");
  private final Map<String, Tallies<String>> modelsByTarget = new HashMap<>();
  private final Tallies<String> apis = new Tallies<>("other");
  private final Tallies<String> endpoints = new Tallies<>("other");
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
        .computeIfAbsent(id.target(), t -> new Tallies<>("other"))
        .add(model == null ? "" : model);
    scenarios.add(id.scenario());
    apis.add(id.api());
    endpoints.add(id.endpoint());
    streamed += id.streamed() ? 1 : 0;
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
}
