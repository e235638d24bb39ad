package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.metric.Check.Level;
import io.github.gatlingllm.figures.metric.NumberText;
import java.util.Locale;
import java.util.function.DoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The bounds beyond which the figure of a check is a note, a warning, or makes the run invalid.
 *
 * @param value first bound; null if no figure decides
 * @param second second bound, beyond the first; null if there is none
 * @param first level beyond {@code value}
 * @param then level beyond {@code second}
 * @param isBelow whether "beyond" means below the bound
 * @param words the threshold in words
 */
record Threshold(
    @Nullable Double value,
    @Nullable Double second,
    Level first,
    Level then,
    boolean isBelow,
    String words) {

  /** A share of 0 to 1, above which it warns. */
  static Threshold share(double value) {
    return above(Level.WARNING, value, Threshold::percent);
  }

  /** A share of 0 to 1, above which it is a note. */
  static Threshold noteShare(double value) {
    return above(Level.NOTE, value, Threshold::percent);
  }

  /** A number above which it warns. */
  static Threshold above(double value) {
    return above(Level.WARNING, value, NumberText::plain);
  }

  /** A number above which it is a note. */
  static Threshold noteAbove(double value) {
    return above(Level.NOTE, value, NumberText::plain);
  }

  /** A time above which it warns. */
  static Threshold aboveMs(double value) {
    return above(Level.WARNING, value, NumberText::plainMs);
  }

  /** A number above which the run is invalid. */
  static Threshold invalidAbove(double value) {
    return above(Level.INVALID, value, NumberText::plain);
  }

  private static Threshold above(Level first, double value, DoubleFunction<String> text) {
    return new Threshold(
        value, null, first, first, false, words(first) + "above " + text.apply(value));
  }

  /** A number below which it is a note. */
  static Threshold noteBelow(double value) {
    String words = words(Level.NOTE) + "below " + NumberText.number(value);
    return new Threshold(value, null, Level.NOTE, Level.NOTE, true, words);
  }

  /** A warning that each finding decides by itself. */
  static Threshold when(String condition) {
    return judged(Level.WARNING, condition);
  }

  /** A note that each finding decides by itself. */
  static Threshold noteWhen(String condition) {
    return judged(Level.NOTE, condition);
  }

  private static Threshold judged(Level level, String condition) {
    return new Threshold(null, null, level, level, false, words(level) + condition);
  }

  /** With a second share above which the run is invalid. */
  Threshold invalidAboveShare(double share) {
    return then(Level.INVALID, share, "above " + percent(share));
  }

  /** With a second share above which it warns. */
  Threshold warningAboveShare(double share) {
    return then(Level.WARNING, share, "above " + percent(share));
  }

  /** With a second number below which it warns. */
  Threshold warningBelow(double bound) {
    return then(Level.WARNING, bound, "below " + NumberText.number(bound));
  }

  private Threshold then(Level level, double bound, String text) {
    return new Threshold(value, bound, first, level, isBelow, words + ", " + words(level) + text);
  }

  /** Adds a case that findings decide by themselves. */
  Threshold or(String condition) {
    return new Threshold(value, second, first, then, isBelow, words + ", " + condition);
  }

  boolean isPassed(double figure) {
    return isBeyond(value, figure);
  }

  Level level(@Nullable Double figure) {
    if (figure == null) {
      return Level.OK;
    }
    return isBeyond(second, figure) ? then : isPassed(figure) ? first : Level.OK;
  }

  private boolean isBeyond(@Nullable Double bound, double figure) {
    return bound != null && (isBelow ? figure < bound : figure > bound);
  }

  private static String words(Level level) {
    return level.name().toLowerCase(Locale.ROOT) + " ";
  }

  private static String percent(double share) {
    return NumberText.plain(Math.round(share * 1e4) / 1e2) + " %";
  }
}
