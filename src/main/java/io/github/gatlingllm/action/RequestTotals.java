package io.github.gatlingllm.action;

import io.github.gatlingllm.client.ServerConnections;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts, for the end of {@code run.json}, requests that were not sent, and connections. */
final class RequestTotals {

  final Map<String, ServerConnections> servers = new ConcurrentHashMap<>();

  private final Map<String, LongAdder> skippedTurns = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> skipped = new ConcurrentHashMap<>();

  void skippedTurn(String requestName, String reason) {
    if (count(skippedTurns, requestName, reason)) {
      PrintableText.print(
          ("LLM %s: %s, so the next turn is not sent; the end of the run says how many were "
                  + "not")
              .formatted(requestName, reason));
    }
  }

  void skipped(String name, String reason) {
    var unused = count(skipped, name, reason);
  }

  private static boolean count(Map<String, LongAdder> counts, String name, String reason) {
    LongAdder first = new LongAdder();
    LongAdder before = counts.putIfAbsent(name + ": " + reason, first);
    (before == null ? first : before).increment();
    return before == null;
  }

  RunInfo addTo(RunInfo info, TokenCounting counting) {
    RunInfo more = info;
    Map<String, Long> notSent = new TreeMap<>();
    skipped.forEach((kind, count) -> notSent.put(kind, count.sum()));
    for (var turns : new TreeMap<>(skippedTurns).entrySet()) {
      notSent.put(turns.getKey(), turns.getValue().sum());
      String kind = "turns not sent, " + turns.getKey();
      PrintableText.print("LLM " + kind + ": " + turns.getValue());
      more = more.config(kind, turns.getValue().toString());
    }
    Map<String, RunOutcome.Connections> connections = new TreeMap<>();
    servers.forEach(
        (address, of) ->
            connections.put(
                address, new RunOutcome.Connections(of.kept() + of.closed(), of.closed())));
    RunOutcome.PromptRepeats repeats =
        new RunOutcome.PromptRepeats(counting.seen.counted(), counting.seen.repeated());
    return more.notSent(notSent)
        .connections(connections)
        .prompts(repeats.counted() == 0 ? null : repeats);
  }
}
