package io.github.gatlingllm.figures.metric;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Formats numbers for people, in the same way in sentences, tables, charts and on the console:
 * about three significant digits, integers without decimals, thousands separated by commas, the
 * unit after a space. An absent or infinite value is {@value #ABSENT}.
 *
 * <pre>{@code
 * 412.34 ms → "412 ms"   23.06 ms → "23.1 ms"   1842.3 tok/s → "1,842 tok/s"   12345 ms → "12.3 s"
 * }</pre>
 */
public final class NumberText {

  public static final String ABSENT = "–";

  /** From here up, times are in seconds. */
  private static final double LONG_MS = 10_000;

  private NumberText() {}

  /** A number without unit: 0.012, 1.20, 12.3, 35.0, 35, 1,234. */
  public static String number(@Nullable Double value) {
    if (value == null || !Double.isFinite(value)) {
      return ABSENT;
    }
    double size = Math.abs(value);
    // A mean of integers may be off by its last bits, depending on their order.
    boolean isInteger = Math.abs(size - Math.rint(size)) <= 1e-9 * size;
    int digits = size >= 99.95 || isInteger ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    BigDecimal rounded = BigDecimal.valueOf(value).setScale(digits, RoundingMode.HALF_UP);
    return String.format(Locale.ROOT, "%,." + digits + "f", rounded).replace('-', '−');
  }

  public static String orAbsent(@Nullable String text) {
    return text == null ? ABSENT : text;
  }

  /** A number from settings, in full and without trailing zeros, e.g. {@code 99.9}. */
  public static String plain(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }

  /** An offered load: integers in full, others with three digits. */
  public static String load(double offered) {
    return offered == Math.rint(offered) ? number(offered) : threeDigits(offered);
  }

  /** A measured number as a setting, with three significant digits: {@code 8.87}. */
  public static String threeDigits(double value) {
    return plain(new BigDecimal(value).round(new MathContext(3)).doubleValue());
  }

  public static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** A count with a noun whose plural ends in s: {@code 1 request}, {@code 1,234 requests}. */
  public static String counted(long count, String noun) {
    return count(count) + " " + noun + (count == 1 ? "" : "s");
  }

  /** A number with its unit, e.g. {@code 1,842 tok/s}. */
  public static String with(@Nullable Double value, String unit) {
    String number = number(value);
    return unit.isEmpty() || number.equals(ABSENT) ? number : of(number, unit);
  }

  /** A formatted number with its unit, in the singular for 1: {@code 1 user/s}. */
  public static String of(String number, String unit) {
    return number
        + " "
        + (number.equals("1") ? unit.replaceFirst("^(request|user)s/", "$1/") : unit);
  }

  /** A ratio with two digits: {@code 0.84 ×}, {@code 1.4 ×}, {@code 22 ×}. */
  public static String times(double ratio) {
    double steps = ratio < 1 ? 100 : ratio < 10 ? 10 : 1;
    return plain(Math.round(ratio * steps) / steps) + " ×";
  }

  public static String interval(double low, double high) {
    return number(low) + " – " + number(high);
  }

  /** A measured time: {@code 812 ms}, from 10 s up {@code 12.3 s}. */
  public static String ms(@Nullable Double millis) {
    return millis != null && Math.rint(Math.abs(millis)) >= LONG_MS
        ? with(millis / 1e3, "s")
        : with(millis, "ms");
  }

  /** A time from settings: {@code 200 ms}, from 10 s up and for integer seconds {@code 30 s}. */
  public static String plainMs(double millis) {
    boolean inMs = millis < LONG_MS && (millis == 0 || millis % 1e3 != 0);
    return inMs ? plain(millis) + " ms" : plain(millis / 1e3) + " s";
  }

  /** A percentage with one decimal; only 1 is {@code 100 %} and only 0 is {@code 0 %}. */
  public static String percent(@Nullable Double share) {
    if (share == null || !Double.isFinite(share)) {
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

  /** A duration: {@code 45 s}, {@code 6 min 05 s}. */
  public static String duration(double seconds) {
    long rounded = Math.round(seconds);
    if (seconds < 10) {
      return plain(Math.round(seconds * 10) / 10.0) + " s";
    }
    if (rounded < 60) {
      return rounded + " s";
    }
    return rounded < 3600
        ? String.format(Locale.ROOT, "%d min %02d s", rounded / 60, rounded % 60)
        : String.format(Locale.ROOT, "%d h %02d min", rounded / 3600, rounded % 3600 / 60);
  }

  /** An instant since the start of the run: {@code 1:05}. */
  public static String clock(double seconds) {
    long rounded = Math.round(seconds);
    return rounded < 3600
        ? String.format(Locale.ROOT, "%d:%02d", rounded / 60, rounded % 60)
        : String.format(
            Locale.ROOT, "%d:%02d:%02d", rounded / 3600, rounded % 3600 / 60, rounded % 60);
  }

  /** Up to three names; of more than three the first, and the number of others. */
  public static String some(List<String> names) {
    return names.size() <= 3
        ? String.join(", ", names)
        : names.get(0) + " and " + (names.size() - 1) + " others";
  }

  public static String capital(String text) {
    return text.isEmpty() ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
