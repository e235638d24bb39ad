package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import java.util.List;

/**
 * The values of one ok request by metric, computed once for all tallies. One object takes request
 * after request.
 */
final class RequestValues {

  private static final List<Metric> METRICS = Metric.ofRequests();

  /** Not a number where the request has none. */
  private final double[] values = new double[METRICS.size()];

  /** Receives the values that there are. */
  @FunctionalInterface
  interface Visitor {
    void value(Metric metric, double value);
  }

  /** Takes the place of the request before. */
  void read(RequestRecord record) {
    for (int i = 0; i < values.length; i++) {
      Double value = METRICS.get(i).of(record);
      values[i] = value == null ? Double.NaN : value;
    }
  }

  void forEach(Visitor visitor) {
    for (int i = 0; i < values.length; i++) {
      if (!Double.isNaN(values[i])) {
        visitor.value(METRICS.get(i), values[i]);
      }
    }
  }
}
