package io.github.gatlingllm.action;

import io.github.gatlingllm.run.Run;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts turns that were not sent because their conversation was over, so that they are seen: a
 * line for the first one of a kind, and the numbers in {@code run.json} and on the console at the
 * end.
 */
final class TurnsNotSent {

  private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

  /** A turn was not sent. */
  void count(String requestName, String reason) {
    LongAdder first = new LongAdder();
    LongAdder before = counts.putIfAbsent(requestName + ": " + reason, first);
    if (before == null) {
      System.out.println(
          "LLM " + requestName + ": " + reason + ", so a turn is not sent; all such are counted");
    }
    (before == null ? first : before).increment();
  }

  /** Notes in the run how many there were. */
  void report(Run run) {
    new TreeMap<>(counts)
        .forEach(
            (kind, count) -> {
              System.out.println("LLM turns not sent, " + kind + ": " + count);
              run.describe(info -> info.config("turns not sent, " + kind, count.toString()));
            });
  }
}
