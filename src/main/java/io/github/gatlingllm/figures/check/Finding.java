package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.metric.Check.Level;
import org.jspecify.annotations.Nullable;

/**
 * The answer to the question of a check. The catalogue applies to each part that is null.
 *
 * @param value the figure that was judged; null if there is none
 * @param message the finding, with the figure and its unit
 */
record Finding(
    @Nullable Double value,
    @Nullable Double threshold,
    @Nullable Level level,
    String message,
    @Nullable String remedy) {

  /** A finding that the catalogue's threshold judges. */
  static Finding of(@Nullable Double value, String message) {
    return new Finding(value, null, null, message, null);
  }

  Finding level(Level own) {
    return new Finding(value, threshold, own, message, remedy);
  }

  Finding warnsIf(boolean isDoubtful) {
    return level(isDoubtful ? Level.WARNING : Level.OK);
  }

  Finding notesIf(boolean isWorthKnowing) {
    return level(isWorthKnowing ? Level.NOTE : Level.OK);
  }

  Finding adding(String sentence) {
    return new Finding(value, threshold, level, message + sentence, remedy);
  }

  Finding threshold(@Nullable Double own) {
    return new Finding(value, own, level, message, remedy);
  }

  Finding remedy(String own) {
    return new Finding(value, threshold, level, message, own);
  }
}
