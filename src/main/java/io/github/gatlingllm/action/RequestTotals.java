package io.github.gatlingllm.action;

import io.github.gatlingllm.client.ServerConnections;
import io.github.gatlingllm.record.ConfigKey;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome;
import io.github.gatlingllm.workload.Dataset;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts, for the end of {@code run.json}, requests that were not sent, connections and repeated
 * prompts.
 */
final class RequestTotals {

  final Map<String, ServerConnections> servers = new ConcurrentHashMap<>();

  private final LongAdder prompts = new LongAdder();
  private final LongAdder repeatedPrompts = new LongAdder();
  private final Map<String, LongAdder> skippedTurns = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> notRemembered = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> skipped = new ConcurrentHashMap<>();
  private final Map<String, Set<Dataset.Agent>> replayed = new HashMap<>();
  private long replays;
  private long repeated;

  /** A session is replayed without a marker of its round, which the target may have had before. */
  synchronized void replayed(String target, Dataset.Agent main) {
    replays++;
    Set<Dataset.Agent> before =
        replayed.computeIfAbsent(
            target, name -> Collections.newSetFromMap(new IdentityHashMap<>()));
    repeated += before.add(main) ? 0 : 1;
  }

  void skippedTurn(String requestName, String reason) {
    if (count(skippedTurns, requestName, reason)) {
      PrintableText.print(
          ("LLM %s: %s, so the next turn is not sent; the end of the run states how many were "
                  + "not")
              .formatted(requestName, reason));
    }
  }

  void notRemembered(String requestName) {
    if (count(notRemembered, requestName, "an answer without text or a complete tool call")) {
      PrintableText.print(
          ("LLM %s: an answer without text or a complete tool call, which servers reject in a"
                  + " history; its turn is not remembered")
              .formatted(requestName));
    }
  }

  void skipped(String name, String reason) {
    var unused = count(skipped, name, reason);
  }

  /** A prompt was sent; whether it had been sent before. */
  void prompt(boolean isRepeated) {
    prompts.increment();
    if (isRepeated) {
      repeatedPrompts.increment();
    }
  }

  private static boolean count(Map<String, LongAdder> counts, String name, String reason) {
    LongAdder first = new LongAdder();
    LongAdder before = counts.putIfAbsent(name + ": " + reason, first);
    (before == null ? first : before).increment();
    return before == null;
  }

  RunInfo addTo(RunInfo info) {
    RunInfo more = info;
    Map<String, Long> notSent = new TreeMap<>();
    skipped.forEach((kind, count) -> notSent.put(kind, count.sum()));
    skippedTurns.forEach((kind, count) -> notSent.put(kind, count.sum()));
    Map<String, LongAdder> turnCounts = new TreeMap<>();
    skippedTurns.forEach((kind, count) -> turnCounts.put("turns not sent, " + kind, count));
    notRemembered.forEach((kind, count) -> turnCounts.put("turns not remembered, " + kind, count));
    for (var turns : turnCounts.entrySet()) {
      PrintableText.print("LLM " + turns.getKey() + ": " + turns.getValue());
      more = more.config(turns.getKey(), turns.getValue().toString());
    }
    synchronized (this) {
      if (repeated > 0) {
        more = more.config(ConfigKey.REPEATED_SESSIONS.name, repeated + " of " + replays);
      }
    }
    Map<String, RunOutcome.Connections> connections = new TreeMap<>();
    servers.forEach(
        (address, of) ->
            connections.put(
                address, new RunOutcome.Connections(of.kept() + of.closed(), of.closed())));
    RunOutcome.PromptRepeats repeats =
        new RunOutcome.PromptRepeats(prompts.sum(), repeatedPrompts.sum());
    return more.notSent(notSent)
        .connections(connections)
        .prompts(repeats.counted() == 0 ? null : repeats);
  }
}
