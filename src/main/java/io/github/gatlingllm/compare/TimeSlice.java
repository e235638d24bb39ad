package io.github.gatlingllm.compare;

import io.github.gatlingllm.metric.Metric;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What belongs to one slice of a measure window; the fields are read by {@link SliceSample}. */
final class TimeSlice {

  private final Map<Metric, LogHistogram> values = new EnumMap<>(Metric.class);

  /** Requests scheduled in the slice. */
  long started;

  /** Of those, requests that ended by themselves. */
  long ended;

  /** Of those, requests that were not ok. */
  long failed;

  /** Requests scheduled in the slice that the SLO judges. */
  long attempted;

  /** Of those, requests that met it. */
  long met;

  /** Ok requests that ended in the slice. */
  long completed;

  /** Requests that met the SLO and ended in the slice. */
  long completedInSlo;

  /** Tokens that arrived in the slice. */
  double tokens;

  /** Of those, tokens of requests that met the SLO. */
  double sloTokens;

  void add(Metric metric, double value, int weight) {
    values.computeIfAbsent(metric, m -> new LogHistogram()).add(value, weight);
  }

  /** The values of a metric; null where there is none. */
  @Nullable LogHistogram values(Metric metric) {
    return values.get(metric);
  }
}
