package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The bounds beyond which the figure of a check is a note, a warning, or makes the run invalid; a
 * share is 0 to 1.
 *
 * @param isBelow whether a figure below a bound is beyond it
 * @param bounds the weakest first; none if findings decide by themselves
 */
record Threshold(boolean isBelow, Map<CheckLevel, Double> bounds) {

  static final Threshold JUDGED = new Threshold(false, Map.of());

  static Threshold above(CheckLevel level, double bound) {
    return new Threshold(false, Map.of(level, bound));
  }

  static Threshold below(CheckLevel level, double bound) {
    return new Threshold(true, Map.of(level, bound));
  }

  Threshold and(CheckLevel level, double bound) {
    Map<CheckLevel, Double> all = new EnumMap<>(bounds);
    all.put(level, bound);
    return new Threshold(isBelow, Collections.unmodifiableMap(all));
  }

  /** The first bound; null if findings decide by themselves. */
  @Nullable Double value() {
    return bounds.isEmpty() ? null : bounds.values().iterator().next();
  }

  CheckLevel level(@Nullable Double figure) {
    return bounds.entrySet().stream()
        .filter(
            bound ->
                figure != null && (isBelow ? figure < bound.getValue() : figure > bound.getValue()))
        .map(Map.Entry::getKey)
        .max(Comparator.naturalOrder())
        .orElse(CheckLevel.OK);
  }
}
