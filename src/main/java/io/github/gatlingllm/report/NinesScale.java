package io.github.gatlingllm.report;

import java.util.Locale;

/** The scale on which 90 %, 99 %, 99.9 % … are equally far apart: x = −log₁₀(1 − share). */
final class NinesScale {

  private NinesScale() {}

  /** Where a percentile lies; {@code percent} is below 100. */
  static double of(double percent) {
    return -Math.log10(1 - percent / 100);
  }

  /** The percentile at a place, e.g. {@code 99.9 %}. */
  static String label(double x) {
    double percent = 100 * (1 - Math.pow(10, -x));
    int digits = Math.max(0, (int) Math.ceil(x - 1e-9) - 2);
    return String.format(Locale.ROOT, "%." + digits + "f %%", percent);
  }
}
