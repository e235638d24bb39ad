package io.github.gatlingllm.figures.metric;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The result of one check; the threshold is null if there is none. */
public record Check(
    String id,
    Level level,
    @Nullable Double value,
    @Nullable Double threshold,
    String message,
    String remedy) {

  public enum Level {
    OK,
    NOTE,
    /** The figures must be read with the finding in mind. */
    WARNING,
    INVALID;

    private final String key = name().toLowerCase(Locale.ROOT);

    public String key() {
      return key;
    }
  }
}
