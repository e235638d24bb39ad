package io.github.gatlingllm.record;

import java.math.BigDecimal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A number and a unit: {@code 500us}, {@code 0.5ms}, {@code 30s}, {@code 2m}, {@code 1h}. */
public final class DurationText {

  public static final String UNITS = "us|ms|s|m|h";

  public static final String NUMBER = "(?:\\d{1,9}(?:\\.\\d{1,9})?|\\.\\d{1,9})";

  public static final String FORM = NUMBER + "(?:" + UNITS + ")?";

  private static final Pattern PARTS = Pattern.compile("(" + NUMBER + ")\\s*(" + UNITS + ")?");

  private DurationText() {}

  /**
   * The duration in nanoseconds; fractions of a nanosecond are cut off.
   *
   * @param defaultUnit the unit of a number without one
   * @throws IllegalArgumentException without a message, if the text is not a duration, or longer
   *     than 292 years
   */
  public static long nanos(String text, String defaultUnit) {
    Matcher parts = PARTS.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException();
    }
    try {
      return new BigDecimal(parts.group(1))
          .multiply(
              BigDecimal.valueOf(unitNanos(parts.group(2) == null ? defaultUnit : parts.group(2))))
          .toBigInteger()
          .longValueExact();
    } catch (ArithmeticException tooLong) {
      throw new IllegalArgumentException(null, tooLong);
    }
  }

  /** Nanoseconds per unit; throws without a message if the unit is unknown. */
  public static long unitNanos(String unit) {
    return switch (unit) {
      case "us" -> 1_000L;
      case "ms" -> 1_000_000L;
      case "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      case "h" -> 3_600_000_000_000L;
      default -> throw new IllegalArgumentException();
    };
  }
}
