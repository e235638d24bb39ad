package io.github.gatlingllm.settings;

import io.github.gatlingllm.record.DurationText;
import io.github.gatlingllm.record.ProcessSetting;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The form of a setting's text, and its parser.
 *
 * @param expected words for a message; by default the shape and an example
 */
record Form<T>(String shape, Function<String, T> parser, @Nullable String expected) {

  Form(String shape, Function<String, T> parser) {
    this(shape, parser, null);
  }

  <R> Form<R> map(Function<T, R> then) {
    return new Form<>(shape, parser.andThen(then), expected);
  }

  static Form<String> text() {
    return new Form<>("text", text -> text);
  }

  static Form<List<String>> texts(String shape) {
    return list(shape, text -> text);
  }

  static Form<Boolean> flag() {
    return new Form<>("true, false", ProcessSetting::booleanOf);
  }

  /** A constant of an enum, by its {@code toString}, case-insensitively. */
  static <E extends Enum<E>> Form<E> choice(Class<E> type) {
    List<E> choices = List.of(type.getEnumConstants());
    return choice(choices.stream().map(Enum::toString).toList(), choices);
  }

  static Form<String> choice(List<String> names) {
    return choice(names, names);
  }

  static <T> Form<T> choice(List<String> names, List<T> values) {
    List<String> lower = names.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
    String all = String.join(", ", names);
    return new Form<>(
        all,
        text -> {
          int at = lower.indexOf(text.toLowerCase(Locale.ROOT));
          return values.get(require(at, found -> found >= 0));
        },
        "one of " + all);
  }

  static Form<Integer> integer(int min) {
    return new Form<>(
        "integer ≥ " + min, text -> require(Integer.valueOf(text), number -> number >= min));
  }

  static Form<Double> decimal(String shape, double min, double max) {
    return new Form<>(
        shape,
        text ->
            require(new BigDecimal(text).doubleValue(), number -> number >= min && number <= max));
  }

  /** Seconds, or a number with a unit: {@code 30}, {@code 500ms}, {@code 30s}, {@code 2m}. */
  static Form<Duration> duration(boolean zeroAllowed) {
    return new Form<>(
        zeroAllowed ? "duration" : "duration > 0",
        text -> require(durationOf(text), duration -> zeroAllowed || !duration.isZero()),
        (zeroAllowed ? "0 or more" : "more than 0")
            + " seconds, or a number with a unit such as 500ms, 30s, 2m");
  }

  /** {@code auto}, whose value is empty, or a duration of 0 or more. */
  static Form<Optional<Duration>> automatic() {
    Form<Duration> duration = duration(true);
    return new Form<>(
        "auto, " + duration.shape,
        text -> text.equals("auto") ? Optional.empty() : Optional.of(duration.parser.apply(text)),
        "auto, " + duration.expected);
  }

  static <T> Form<List<T>> list(String shape, Function<String, T> part) {
    return new Form<>(
        shape,
        text -> {
          List<String> parts = Arrays.stream(text.split(",", -1)).map(String::strip).toList();
          if (parts.contains("")) {
            throw new IllegalArgumentException("expected a comma list without empty parts");
          }
          return parts.stream().map(part).toList();
        });
  }

  /** A comma list of integers ≥ {@code min}, none twice. */
  static Form<List<Integer>> integers(int min) {
    return list("integers ≥ " + min, integer(min).parser).map(list -> distinct(list, "number"));
  }

  static <T> List<T> distinct(List<T> list, String noun) {
    if (new HashSet<>(list).size() < list.size()) {
      throw new IllegalArgumentException("expected each " + noun + " once");
    }
    return list;
  }

  static Duration durationOf(String text) {
    return Duration.ofNanos(DurationText.nanos(text, "s"));
  }

  static <T> T require(T value, Predicate<T> condition) {
    if (!condition.test(value)) {
      throw new IllegalArgumentException();
    }
    return value;
  }
}
