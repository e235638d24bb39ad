package io.github.gatlingllm.action;

import io.github.gatlingllm.run.Run;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts requests that were due and were not sent, by name and reason, for {@code run.json}. Turns
 * of conversations are on the console too: a line for the first of each kind, the numbers at the
 * end.
 */
final class SkippedRequests {

  private final Map<String, LongAdder> turns = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> requests = new ConcurrentHashMap<>();

  /** Counts a turn of a conversation. */
  void turn(String requestName, String reason) {
    if (count(turns, requestName, reason)) {
      System.out.println(
          "LLM "
              + requestName
              + ": "
              + reason
              + ", so the next turn is not sent; the end of the run says how many were not");
    }
  }

  /** Counts any other request. */
  void request(String name, String reason) {
    var unused = count(requests, name, reason);
  }

  private static boolean count(Map<String, LongAdder> counts, String name, String reason) {
    LongAdder first = new LongAdder();
    LongAdder before = counts.putIfAbsent(name + ": " + reason, first);
    (before == null ? first : before).increment();
    return before == null;
  }

  /** Writes the numbers to the run. */
  void report(Run run) {
    Map<String, Long> all = new TreeMap<>();
    requests.forEach((kind, count) -> all.put(kind, count.sum()));
    new TreeMap<>(turns)
        .forEach(
            (kind, count) -> {
              all.put(kind, count.sum());
              System.out.println("LLM turns not sent, " + kind + ": " + count);
              run.describe(info -> info.config("turns not sent, " + kind, count.toString()));
            });
    run.describe(info -> info.notSent(all));
  }
}
