package io.github.gatlingllm.check;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One question asked about the trustworthiness of a run, and its answer.
 *
 * @param id stable name, e.g. {@code littles_law}
 * @param value the figure behind it; null when there is none
 * @param threshold the value at which the level changes; null when there is none
 * @param message what was found, with the figure and its unit
 * @param remedy what to do about it; empty when there is nothing to do
 */
public record Check(
    String id,
    Level level,
    @Nullable Double value,
    @Nullable Double threshold,
    String message,
    String remedy) {

  /** What all checks find in a run, the worst first; those that do not apply find nothing. */
  public static List<Check> of(CheckInput run) {
    return CheckCatalogue.judge(run);
  }

  /** What the check of the load generator says of one of them at one load level. */
  public static Level ofGenerator(
      CheckInput.MeasuredLevel at, GeneratorHealth health, boolean isServerHere) {
    return GeneratorCheck.level(at, health, isServerHere);
  }

  /** The ids of all checks, in the order of the catalogue. */
  public static List<String> ids() {
    return Arrays.stream(CheckCatalogue.values()).map(CheckCatalogue::id).toList();
  }

  /** How much it matters. */
  public enum Level {
    /** Nothing to do. */
    OK,
    /** Worth knowing; the figures mean what they say. */
    NOTE,
    /** Read the figures with this in mind. */
    WARNING,
    /** The figures do not mean what they say. */
    INVALID;

    private final String key = name().toLowerCase(Locale.ROOT);

    /** The name used in files: lower case. */
    public String key() {
      return key;
    }
  }
}
