package io.github.gatlingllm.figures.metric;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The result of one check of a run's validity.
 *
 * @param id stable name, e.g. {@code littles_law}
 * @param value the figure that was judged; null if there is none
 * @param threshold the value beyond which the level changes; null if there is none
 * @param message the finding, with the figure and its unit
 * @param remedy what to do; empty if there is nothing to do
 */
public record Check(
    String id,
    Level level,
    @Nullable Double value,
    @Nullable Double threshold,
    String message,
    String remedy) {

  /** Severity. */
  public enum Level {
    /** Nothing to do. */
    OK,
    NOTE,
    /** The figures must be read with the finding in mind. */
    WARNING,
    /** The figures are not valid. */
    INVALID;

    private final String key = name().toLowerCase(Locale.ROOT);

    /** The name used in files: lower case. */
    public String key() {
      return key;
    }
  }
}
