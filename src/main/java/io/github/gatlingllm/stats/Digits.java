package io.github.gatlingllm.stats;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Numbers as people read them, one way in sentences, tables and charts, so that a figure reads the
 * same wherever it stands.
 */
public final class Digits {

  /** Stands for a value that is absent. */
  public static final String ABSENT = "–";

  private Digits() {}

  /** About three digits that matter, whole numbers whole: 0.012, 1.20, 12.3, 35.0, 35, 1,234. */
  public static String of(@Nullable Double value) {
    if (value == null) {
      return ABSENT;
    }
    double size = Math.abs(value);
    int digits =
        size >= 99.95 || size == Math.rint(size) ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    BigDecimal rounded = BigDecimal.valueOf(value).setScale(digits, RoundingMode.HALF_UP);
    return String.format(Locale.ROOT, "%,." + digits + "f", rounded).replace('-', '−');
  }

  /** A number that was chosen, not measured: as short as it is, e.g. {@code 99.9}. */
  public static String plain(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
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

  /** A share of 0 to 1 as {@code 98.0 %}; 100 % and 0 % only when it is exactly that. */
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
    String form = percent == 0 || percent == 100 ? "%.0f %%" : "%.1f %%";
    return String.format(Locale.ROOT, form, percent);
  }
}
