package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What was read so far from one metrics page. */
final class PageState {

  /** Two counters are one if they differ by at most this share of their growth. */
  static final double SAME = 0.01;

  @Nullable ServerSample first;
  @Nullable ServerSample latest;
  String source = "";
  long readings;
  long failed;
  long resets;
  @Nullable String lastError;
  final Map<EngineMetric, Double> counted = new EnumMap<>(EngineMetric.class);
  final Map<EngineMetric, String> names = new EnumMap<>(EngineMetric.class);

  /** Whether each counter had the same value on both pages, before the load and after it. */
  boolean countsAs(PageState other) {
    return !counted.isEmpty()
        && resets + other.resets == 0
        && source.equals(other.source)
        && counted.keySet().equals(other.counted.keySet())
        && counted.keySet().stream()
            .allMatch(
                of ->
                    isSame(of, first, other.first, other)
                        && isSame(of, latest, other.latest, other));
  }

  private boolean isSame(
      EngineMetric counter,
      @Nullable ServerSample own,
      @Nullable ServerSample theirs,
      PageState other) {
    Double one = own == null ? null : own.value(counter);
    Double two = theirs == null ? null : theirs.value(counter);
    double grown = Math.max(counted.get(counter), other.counted.get(counter));
    return one != null && two != null && Math.abs(one - two) <= SAME * grown;
  }
}
