package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import org.jspecify.annotations.Nullable;

/** The answer of a check; null parts are those of the catalogue. */
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
    return withMessage(message + sentence);
  }

  Finding withMessage(String other) {
    return new Finding(value, threshold, level, other, remedy);
  }

  Finding threshold(@Nullable Double own) {
    return new Finding(value, own, level, message, remedy);
  }

  Finding remedy(String own) {
    return new Finding(value, threshold, level, message, own);
  }
}
