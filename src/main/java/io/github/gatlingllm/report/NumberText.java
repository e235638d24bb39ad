package io.github.gatlingllm.report;

import io.github.gatlingllm.stats.Digits;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How numbers are written for people, one way in every file: about three significant digits, whole
 * numbers whole, thousands separated by commas, the unit after a space; an absent value is {@value
 * #ABSENT}.
 *
 * <pre>{@code
 * 412.34 ms → "412 ms"   23.06 ms → "23.1 ms"   1842.3 tok/s → "1,842 tok/s"
 * }</pre>
 */
final class NumberText {

  /** What stands in the place of a value that is not known. */
  static final String ABSENT = Digits.ABSENT;

  private NumberText() {}

  /** The number alone. */
  static String number(@Nullable Double value) {
    return Digits.of(value);
  }

  /** A text that may be missing. */
  static String orAbsent(@Nullable String text) {
    return text == null ? ABSENT : text;
  }

  /** A number that was chosen, not measured: as short as it is, e.g. {@code 99.9}. */
  static String plain(double value) {
    return Digits.plain(value);
  }

  /** A number that counts something. */
  static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** A number with its unit, e.g. {@code 1,842 tok/s}. */
  static String with(@Nullable Double value, String unit) {
    return value == null || unit.isEmpty() ? number(value) : number(value) + " " + unit;
  }

  /** From one number to another. */
  static String interval(double low, double high) {
    return number(low) + " – " + number(high);
  }

  /** A time in milliseconds. */
  static String ms(@Nullable Double millis) {
    return with(millis, "ms");
  }

  /**
   * A share as a percentage with one decimal. Only all is {@code 100 %} and only none is {@code 0
   * %}.
   *
   * @param share 0 to 1
   */
  static String percent(@Nullable Double share) {
    if (share == null) {
      return ABSENT;
    }
    if (share == 0 || share == 1) {
      return share == 0 ? "0 %" : "100 %";
    }
    double tenths = Math.min(99.9, Math.max(0.1, Math.round(share * 1000) / 10.0));
    return String.format(Locale.ROOT, "%.1f %%", tenths);
  }

  /** A length of time in seconds as people say it: {@code 45 s}, {@code 6 min 05 s}. */
  static String duration(double seconds) {
    long whole = Math.round(seconds);
    if (seconds < 10) {
      return plain(Math.round(seconds * 10) / 10.0) + " s";
    }
    if (whole < 60) {
      return whole + " s";
    }
    return whole < 3600
        ? String.format(Locale.ROOT, "%d min %02d s", whole / 60, whole % 60)
        : String.format(Locale.ROOT, "%d h %02d min", whole / 3600, whole % 3600 / 60);
  }

  /** An instant since the start of the run: {@code 1:05}. */
  static String clock(double seconds) {
    long whole = Math.round(seconds);
    return whole < 3600
        ? String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60)
        : String.format(Locale.ROOT, "%d:%02d:%02d", whole / 3600, whole % 3600 / 60, whole % 60);
  }
}
