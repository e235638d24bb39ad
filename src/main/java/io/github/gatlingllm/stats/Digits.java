package io.github.gatlingllm.stats;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Numbers as people read them: three digits that matter, thousands grouped, {@code –} if absent.
 */
final class Digits {

  /** Stands for a value that is absent. */
  static final String ABSENT = "–";

  private Digits() {}

  /** 0.0123, 1.23, 12.3, 123, 1,234. */
  static String of(@Nullable Double value) {
    if (value == null) {
      return ABSENT;
    }
    double size = Math.abs(value);
    String form;
    if (size >= 99.95) {
      form = "%,.0f";
    } else if (size >= 9.995) {
      form = "%.1f";
    } else if (size >= 0.9995 || size == 0) {
      form = "%.2f";
    } else {
      form = "%.3g";
    }
    String text = String.format(Locale.ROOT, form, value);
    return text.indexOf('.') >= 0 && text.indexOf('e') < 0 ? trimmed(text) : text;
  }

  private static String trimmed(String text) {
    return text.replaceAll("0+$", "").replaceAll("\\.$", "");
  }

  /** Grouped: 1,234. */
  static String of(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** {@code 812 ms}, {@code 12.3 s} from 10 s up. */
  static String ms(@Nullable Double millis) {
    if (millis == null) {
      return ABSENT;
    }
    return Math.abs(millis) >= 10_000 ? of(millis / 1e3) + " s" : of(millis) + " ms";
  }

  /** A share of 0 to 1 as {@code 98.5 %}; 100 % and 0 % only when it is exactly that. */
  static String percent(@Nullable Double share) {
    if (share == null) {
      return ABSENT;
    }
    double percent = share * 100;
    if (percent > 99.9 && percent < 100) {
      return "> 99.9 %";
    }
    if (percent > 0 && percent < 0.1) {
      return "< 0.1 %";
    }
    return trimmedTenth(percent) + " %";
  }

  private static String trimmedTenth(double value) {
    String text = String.format(Locale.ROOT, "%.1f", value);
    return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
  }
}
