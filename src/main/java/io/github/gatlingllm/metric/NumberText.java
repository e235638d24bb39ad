package io.github.gatlingllm.metric;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How numbers are written for people, one way in sentences, tables, charts and on the console:
 * about three significant digits, whole numbers whole, thousands separated by commas, the unit
 * after a space; an absent value is {@value #ABSENT}.
 *
 * <pre>{@code
 * 412.34 ms → "412 ms"   23.06 ms → "23.1 ms"   1842.3 tok/s → "1,842 tok/s"   12345 ms → "12.3 s"
 * }</pre>
 */
public final class NumberText {

  /** Stands for a value that is absent. */
  public static final String ABSENT = "–";

  /** From here up, a time is written in seconds. */
  private static final double LONG_MS = 10_000;

  private NumberText() {}

  /** The number alone: 0.012, 1.20, 12.3, 35.0, 35, 1,234. */
  public static String number(@Nullable Double value) {
    if (value == null) {
      return ABSENT;
    }
    double size = Math.abs(value);
    int digits =
        size >= 99.95 || size == Math.rint(size) ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    BigDecimal rounded = BigDecimal.valueOf(value).setScale(digits, RoundingMode.HALF_UP);
    return String.format(Locale.ROOT, "%,." + digits + "f", rounded).replace('-', '−');
  }

  /** A text that may be missing. */
  public static String orAbsent(@Nullable String text) {
    return text == null ? ABSENT : text;
  }

  /** A number that was chosen, not measured: as short as it is, e.g. {@code 99.9}. */
  public static String plain(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }

  /** A measured number as a setting takes it: three significant digits, e.g. {@code 8.87}. */
  public static String threeDigits(double value) {
    return plain(new BigDecimal(value).round(new MathContext(3)).doubleValue());
  }

  /** A number that counts something: 1,234. */
  public static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** So many of something, whose plural ends in s: {@code 1 request}, {@code 1,234 requests}. */
  public static String counted(long count, String noun) {
    return count(count) + " " + noun + (count == 1 ? "" : "s");
  }

  /** A number with the unit of its column or axis, e.g. {@code 1,842 tok/s}. */
  public static String with(@Nullable Double value, String unit) {
    return value == null || unit.isEmpty() ? number(value) : of(number(value), unit);
  }

  /**
   * A number that is written already, and its unit, of which there may be one: {@code 1 user/s}.
   */
  public static String of(String number, String unit) {
    return number
        + " "
        + (number.equals("1") ? unit.replaceFirst("^(request|user)s/", "$1/") : unit);
  }

  /** From one number to another. */
  public static String interval(double low, double high) {
    return number(low) + " – " + number(high);
  }

  /** A time that was measured: {@code 812 ms}, {@code 12.3 s} from 10 s up. */
  public static String ms(@Nullable Double millis) {
    return millis != null && Math.abs(millis) >= LONG_MS
        ? number(millis / 1e3) + " s"
        : with(millis, "ms");
  }

  /** A time that was chosen: {@code 200 ms}, {@code 30 s} from 10 s and from whole seconds up. */
  public static String plainMs(double millis) {
    boolean inMs = millis < LONG_MS && (millis == 0 || millis % 1e3 != 0);
    return inMs ? plain(millis) + " ms" : plain(millis / 1e3) + " s";
  }

  /**
   * A share as a percentage with one decimal. Only all is {@code 100 %} and only none is {@code 0
   * %}: what would round to them is {@code > 99.9 %} and {@code < 0.1 %}.
   *
   * @param share 0 to 1
   */
  public static String percent(@Nullable Double share) {
    if (share == null) {
      return ABSENT;
    }
    if (share == 0 || share == 1) {
      return share == 0 ? "0 %" : "100 %";
    }
    String text = String.format(Locale.ROOT, "%.1f %%", share * 100);
    return switch (text) {
      case "0.0 %" -> "< 0.1 %";
      case "100.0 %" -> share < 1 ? "> 99.9 %" : text;
      default -> text;
    };
  }

  /** A length of time in seconds as people say it: {@code 45 s}, {@code 6 min 05 s}. */
  public static String duration(double seconds) {
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
  public static String clock(double seconds) {
    long whole = Math.round(seconds);
    return whole < 3600
        ? String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60)
        : String.format(Locale.ROOT, "%d:%02d:%02d", whole / 3600, whole % 3600 / 60, whole % 60);
  }

  /** Names, all of up to three; of more the first, and how many others. */
  public static String some(List<String> names) {
    return names.size() <= 3
        ? String.join(", ", names)
        : names.get(0) + " and " + (names.size() - 1) + " others";
  }
}
