package io.github.gatlingllm.client;

import io.github.gatlingllm.record.ServerReport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Timings and rate limits that the server reports with one response. */
final class ReportedTimings {

  /** Further timings are ignored. */
  private static final int MAX_TIMINGS = 32;

  private Map<String, Double> timings = Map.of();
  private Map<String, String> names = Map.of();
  private Map<String, Double> rateLimits = Map.of();
  private @Nullable Long retryAfterNanos;

  /**
   * Adds a timing. A value out of range is ignored. Of several values with the same meaning the
   * last one counts, so that the body overrides the headers.
   *
   * @param name the server's name for it
   * @param reported the value in the server's unit
   */
  void add(String name, double reported) {
    double value = ServerReport.Timing.value(name, reported);
    if (Double.isNaN(value)) {
      return;
    }
    if (timings.isEmpty()) {
      timings = new LinkedHashMap<>();
      names = new LinkedHashMap<>();
    }
    String key = ServerReport.Timing.keyOf(name);
    if (timings.size() < MAX_TIMINGS || timings.containsKey(key)) {
      timings.put(key, value);
      names.put(key, name);
    }
  }

  /** Sets the rate limits from the response headers. */
  void limits(Map<String, Double> left, @Nullable Long retryAfter) {
    rateLimits = left;
    retryAfterNanos = retryAfter;
  }

  /** Everything that was reported. */
  ServerReport report() {
    return timings.isEmpty() && rateLimits.isEmpty() && retryAfterNanos == null
        ? ServerReport.NONE
        : new ServerReport(timings, List.copyOf(names.values()), rateLimits, retryAfterNanos);
  }
}
