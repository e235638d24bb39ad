package io.github.gatlingllm.metric;

import java.math.BigDecimal;

/** A number as a rank: {@code 99th}, {@code 99.9th}. */
final class Ordinal {

  private Ordinal() {}

  static String of(BigDecimal number) {
    String digits = number.stripTrailingZeros().toPlainString();
    boolean teen = digits.length() > 1 && digits.charAt(digits.length() - 2) == '1';
    String suffix =
        switch (teen ? '0' : digits.charAt(digits.length() - 1)) {
          case '1' -> "st";
          case '2' -> "nd";
          case '3' -> "rd";
          default -> "th";
        };
    return digits + suffix;
  }
}
