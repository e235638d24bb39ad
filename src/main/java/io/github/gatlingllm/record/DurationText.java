package io.github.gatlingllm.record;

import java.math.BigDecimal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a length of time is written, wherever one is: in settings, objectives, assertions and rate
 * curves. A number and a unit: {@code 500us}, {@code 0.5ms}, {@code 30s}, {@code 2m}, {@code 1h}.
 */
public final class DurationText {

  /** The units. */
  public static final String UNITS = "us|ms|s|m|h";

  /** A number. */
  public static final String NUMBER = "(?:\\d{1,9}(?:\\.\\d{1,9})?|\\.\\d{1,9})";

  /** A number, and a unit or none. */
  public static final String FORM = NUMBER + "(?:" + UNITS + ")?";

  private static final Pattern PARTS = Pattern.compile("(" + NUMBER + ")\\s*(" + UNITS + ")?");

  private DurationText() {}

  /**
   * The time in nanoseconds.
   *
   * @param otherwise the unit of a number that has none
   * @throws IllegalArgumentException without a message, if it is none, or longer than 292 years
   */
  public static long nanos(String text, String otherwise) {
    Matcher parts = PARTS.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException();
    }
    try {
      return new BigDecimal(parts.group(1))
          .multiply(
              BigDecimal.valueOf(unitNanos(parts.group(2) == null ? otherwise : parts.group(2))))
          .toBigInteger()
          .longValueExact();
    } catch (ArithmeticException tooLong) {
      throw new IllegalArgumentException(null, tooLong);
    }
  }

  /**
   * How many nanoseconds that unit has.
   *
   * @throws IllegalArgumentException without a message, if there is no such unit
   */
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
