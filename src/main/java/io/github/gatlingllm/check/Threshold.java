package io.github.gatlingllm.check;

import io.github.gatlingllm.check.Check.Level;
import io.github.gatlingllm.metric.NumberText;
import java.util.function.DoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Where the figure of a check becomes a warning, and where it makes the run invalid.
 *
 * @param value the first of them; null where no figure decides
 * @param invalid a second bound, above which the run is invalid; null where there is none
 * @param first what lies beyond {@code value}
 * @param isBelow whether values below it are beyond it
 * @param words as people read it
 */
record Threshold(
    @Nullable Double value, @Nullable Double invalid, Level first, boolean isBelow, String words) {

  /** A share of 0 to 1, above which it warns. */
  static Threshold share(double value) {
    return above(value, Threshold::percent);
  }

  /** A number above which it warns. */
  static Threshold above(double value) {
    return above(value, NumberText::plain);
  }

  /** A time above which it warns. */
  static Threshold aboveMs(double value) {
    return above(value, NumberText::plainMs);
  }

  private static Threshold above(double value, DoubleFunction<String> text) {
    return new Threshold(value, null, Level.WARNING, false, "warning above " + text.apply(value));
  }

  /** A number below which it warns. */
  static Threshold below(double value) {
    String words = "warning below " + NumberText.plain(value);
    return new Threshold(value, null, Level.WARNING, true, words);
  }

  /** A number above which the run is invalid. */
  static Threshold invalidAbove(double value) {
    String words = "invalid above " + NumberText.plain(value);
    return new Threshold(value, null, Level.INVALID, false, words);
  }

  /** Each finding says by itself whether it warns. */
  static Threshold when(String condition) {
    return new Threshold(null, null, Level.WARNING, false, "warning " + condition);
  }

  /** With a second share above which the run is invalid. */
  Threshold invalidAboveShare(double share) {
    String both = words + ", invalid above " + percent(share);
    return new Threshold(value, share, first, isBelow, both);
  }

  /** With a case that findings judge by themselves. */
  Threshold or(String condition) {
    return new Threshold(value, invalid, first, isBelow, words + ", " + condition);
  }

  boolean isPassed(double figure) {
    return value != null && (isBelow ? figure < value : figure > value);
  }

  Level level(@Nullable Double figure) {
    if (figure == null) {
      return Level.OK;
    }
    return invalid != null && figure > invalid
        ? Level.INVALID
        : isPassed(figure) ? first : Level.OK;
  }

  private static String percent(double share) {
    return NumberText.plain(Math.round(share * 1e4) / 1e2) + " %";
  }
}
