package io.github.gatlingllm.compare;

import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.Metric.Amount;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What belongs to one slice of a measure window. */
@SuppressWarnings("EnumOrdinal") // an array, as every token is added and every draw adds them up
final class TimeSlice {

  private final Map<Metric, LogHistogram> values = new EnumMap<>(Metric.class);
  private final Map<Amount, Double> amounts = new EnumMap<>(Amount.class);

  void add(Metric metric, double value, int weight) {
    if (metric.isCompared()) {
      values.computeIfAbsent(metric, m -> new LogHistogram()).add(value, weight);
    }
  }

  void add(Amount amount, double more) {
    amounts.merge(amount, more, Double::sum);
  }

  /** The values of a metric that runs are compared by; null where there is none. */
  @Nullable LogHistogram values(Metric metric) {
    return values.get(metric);
  }

  double of(Amount amount) {
    return amounts.getOrDefault(amount, 0.0);
  }
}
