package io.github.gatlingllm.action;

import io.github.gatlingllm.run.Run;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts requests that were due and are not sent, so that they are seen: in {@code run.json}, and
 * turns whose conversation was over also on the console, a line for the first one of a kind and the
 * numbers at the end.
 */
final class NotSent {

  private final Map<String, LongAdder> turns = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> requests = new ConcurrentHashMap<>();

  /** A turn was not sent. */
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

  /** Another request was not sent. */
  void request(String name, String reason) {
    var unused = count(requests, name, reason);
  }

  private static boolean count(Map<String, LongAdder> counts, String name, String reason) {
    LongAdder first = new LongAdder();
    LongAdder before = counts.putIfAbsent(name + ": " + reason, first);
    (before == null ? first : before).increment();
    return before == null;
  }

  /** Notes in the run how many there were. */
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
