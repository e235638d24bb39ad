package io.github.gatlingllm.client;

import io.github.gatlingllm.record.ServerReport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a server says of itself with one answer: timings, and what is left of its rate limits. */
final class SaidTimings {

  /** No server names more. */
  private static final int MOST = 32;

  private Map<String, Double> timings = Map.of();
  private Map<String, String> names = Map.of();
  private Map<String, Double> rateLimits = Map.of();
  private @Nullable Long retryAfterNanos;

  /**
   * A timing. What no server can mean is ignored; of several for the same the last one counts, as
   * bodies come after headers.
   *
   * @param name what the server calls it
   * @param said as the server said it
   */
  void add(String name, double said) {
    double value = ServerReport.Timing.value(name, said);
    if (Double.isNaN(value)) {
      return;
    }
    if (timings.isEmpty()) {
      timings = new LinkedHashMap<>();
      names = new LinkedHashMap<>();
    }
    String key = ServerReport.Timing.keyOf(name);
    if (timings.size() < MOST || timings.containsKey(key)) {
      timings.put(key, value);
      names.put(key, name);
    }
  }

  /** What response headers said of rate limits. */
  void limits(Map<String, Double> left, @Nullable Long retryAfter) {
    rateLimits = left;
    retryAfterNanos = retryAfter;
  }

  /** All of it. */
  ServerReport report() {
    return timings.isEmpty() && rateLimits.isEmpty() && retryAfterNanos == null
        ? ServerReport.NONE
        : new ServerReport(timings, List.copyOf(names.values()), rateLimits, retryAfterNanos);
  }
}
