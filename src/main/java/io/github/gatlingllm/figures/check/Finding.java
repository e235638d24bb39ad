package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import io.github.gatlingllm.figures.metric.LevelFigures;
import org.jspecify.annotations.Nullable;

/** The answer of a check; null parts are those of the catalogue. */
record Finding(
    @Nullable Double value,
    @Nullable Double threshold,
    @Nullable Level level,
    String message,
    @Nullable String remedy) {

  /** A finding that the catalogue's threshold judges; with parts the message is their format. */
  @SuppressWarnings("AnnotateFormatMethod") // its annotation is in a library that users do not need
  static Finding of(@Nullable Double value, String message, Object... parts) {
    return new Finding(
        value, null, null, parts.length == 0 ? message : message.formatted(parts), null);
  }

  /** A finding at a load level, which the sentence begins with. */
  static Finding at(LevelFigures level, double value, String sentence, Object... parts) {
    Finding found = of(value, sentence, parts);
    return found.withMessage(level.says(found.message));
  }

  Finding level(Level own) {
    return new Finding(value, threshold, own, message, remedy);
  }

  Finding warnsIf(boolean isDoubtful) {
    return level(isDoubtful ? Level.WARNING : Level.OK);
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
