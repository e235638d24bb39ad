package io.github.gatlingllm.simulations;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads settings as numbers, durations and choices. Each method gives the default where the setting
 * is absent and throws {@link InvalidSetting} where it is wrong.
 */
record TypedSettings(Settings settings) {

  private static final Pattern DURATION = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,9})?)(ms|s|m|h)?");

  /** A whole number of at least {@code least}. */
  int whole(Setting setting, int least, int absent) {
    return parsed(setting, absent, text -> wholeOf(text, least), "a whole number ≥ " + least);
  }

  /** A list of whole numbers of at least {@code least}, each once. */
  List<Integer> wholes(Setting setting, int least, List<Integer> absent) {
    return list(
        setting,
        absent,
        text -> wholeOf(text, least),
        "a whole number ≥ " + least + " or a comma list such as 1,2,4");
  }

  /** A list of decimal numbers above 0, each once. */
  List<Double> rates(Setting setting) {
    return list(
        setting,
        List.of(),
        text -> decimalOf(text, 0, false, Double.MAX_VALUE),
        "requests per second > 0 or a comma list such as 1,2,4");
  }

  /** A decimal number in {@code [least, most]}, or {@code (least, most]} when not inclusive. */
  @Nullable Double decimal(
      Setting setting, double least, boolean inclusive, double most, String expected) {
    return this.<@Nullable Double>parsed(
        setting, null, text -> decimalOf(text, least, inclusive, most), expected);
  }

  /** A 64-bit number; null when absent. */
  @Nullable Long seed(Setting setting) {
    return this.<@Nullable Long>parsed(
        setting, null, Long::valueOf, "a whole number of at most 64 bits");
  }

  /** {@code true} or {@code false}. */
  boolean flag(Setting setting, boolean absent) {
    return parsed(
        setting,
        absent,
        text ->
            switch (text.toLowerCase(Locale.ROOT)) {
              case "true" -> true;
              case "false" -> false;
              default -> throw new IllegalArgumentException();
            },
        "true or false");
  }

  /** Seconds, or a number with a unit: {@code 30}, {@code 500ms}, {@code 30s}, {@code 2m}. */
  Duration duration(Setting setting, boolean zeroAllowed, Duration absent) {
    return parsed(
        setting,
        absent,
        text -> {
          Duration duration = durationOf(text);
          if (duration.isZero() && !zeroAllowed) {
            throw new IllegalArgumentException();
          }
          return duration;
        },
        (zeroAllowed ? "0 or more" : "more than 0")
            + " seconds, or a number with a unit such as 500ms, 30s, 2m");
  }

  /** One constant of an enum, by its camel-case name. */
  <E extends Enum<E>> E choice(Setting setting, E absent) {
    E[] choices = absent.getDeclaringClass().getEnumConstants();
    return parsed(
        setting,
        absent,
        text ->
            Arrays.stream(choices)
                .filter(c -> key(c).equals(text.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(IllegalArgumentException::new),
        "one of " + Arrays.stream(choices).map(Enum::toString).collect(Collectors.joining(", ")));
  }

  /** Refuses two settings that contradict each other. */
  void refuseTogether(Setting a, Setting b, String why) {
    if (settings.isSet(a) && settings.isSet(b)) {
      throw settings.invalid(a, "cannot be set together with " + b.property() + " (" + why + ")");
    }
  }

  /** The parts of a comma list, stripped; empty when absent. */
  List<String> parts(Setting setting) {
    String text = settings.text(setting);
    if (text == null) {
      return List.of();
    }
    List<String> parts = Arrays.stream(text.split(",", -1)).map(String::strip).toList();
    if (parts.contains("")) {
      throw settings.invalid(setting, "expected a comma list without empty parts");
    }
    return parts;
  }

  private <T> List<T> list(
      Setting setting, List<T> absent, Function<String, T> parser, String expected) {
    if (!settings.isSet(setting)) {
      return absent;
    }
    List<T> list;
    try {
      list = parts(setting).stream().map(parser).toList();
    } catch (IllegalArgumentException e) {
      throw settings.invalid(setting, "expected " + expected);
    }
    if (new HashSet<>(list).size() < list.size()) {
      throw settings.invalid(setting, "expected each level once");
    }
    return list;
  }

  private <T extends @Nullable Object> T parsed(
      Setting setting, T absent, Function<String, T> parser, String expected) {
    String text = settings.text(setting);
    if (text == null) {
      return absent;
    }
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw settings.invalid(setting, "expected " + expected);
    }
  }

  private static int wholeOf(String text, int least) {
    int number = Integer.parseInt(text);
    if (number < least) {
      throw new IllegalArgumentException();
    }
    return number;
  }

  private static double decimalOf(String text, double least, boolean inclusive, double most) {
    double number = new BigDecimal(text).doubleValue();
    if (inclusive ? number < least : number <= least) {
      throw new IllegalArgumentException();
    }
    if (number > most) {
      throw new IllegalArgumentException();
    }
    return number;
  }

  /** Seconds, or a number with a unit. */
  static Duration durationOf(String text) {
    Matcher form = DURATION.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException();
    }
    long unitNanos =
        switch (form.group(2) == null ? "s" : form.group(2)) {
          case "ms" -> 1_000_000L;
          case "m" -> 60_000_000_000L;
          case "h" -> 3_600_000_000_000L;
          default -> 1_000_000_000L;
        };
    try {
      return Duration.ofNanos(
          new BigDecimal(form.group(1))
              .multiply(BigDecimal.valueOf(unitNanos))
              .toBigInteger()
              .longValueExact());
    } catch (ArithmeticException tooLong) {
      throw new IllegalArgumentException(tooLong);
    }
  }

  private static String key(Enum<?> constant) {
    return constant.toString().toLowerCase(Locale.ROOT);
  }
}
