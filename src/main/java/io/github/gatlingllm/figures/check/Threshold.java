package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The bounds beyond which the figure of a check is a note, a warning, or makes the run invalid.
 *
 * @param bounds the weakest first; none if findings decide by themselves
 */
record Threshold(String words, List<Bound> bounds) {

  private static final Pattern BOUND =
      Pattern.compile("(note|warning|invalid) (above|below) ([\\d.,]*\\d)( %)?");

  /** A share in percent is a figure of 0 to 1. */
  private record Bound(Level level, boolean isBelow, double value) {

    static Bound of(MatchResult words) {
      double number = Double.parseDouble(words.group(3).replace(",", ""));
      return new Bound(
          Level.valueOf(words.group(1).toUpperCase(Locale.ROOT)),
          words.group(2).equals("below"),
          words.group(4) == null ? number : number / 100);
    }

    boolean isPassed(double figure) {
      return isBelow ? figure < value : figure > value;
    }
  }

  /** Reads the bounds from their words: {@code warning above 2 %, invalid above 50 %}. */
  static Threshold of(String words) {
    return new Threshold(words, BOUND.matcher(words).results().map(Bound::of).toList());
  }

  /** Words for what each finding decides by itself. */
  static Threshold judged(String words) {
    return new Threshold(words, List.of());
  }

  /** The first bound; null if findings decide by themselves. */
  @Nullable Double value() {
    return bounds.isEmpty() ? null : (Double) bounds.get(0).value;
  }

  Level level(@Nullable Double figure) {
    return bounds.stream()
        .filter(bound -> figure != null && bound.isPassed(figure))
        .map(Bound::level)
        .max(Comparator.naturalOrder())
        .orElse(Level.OK);
  }
}
