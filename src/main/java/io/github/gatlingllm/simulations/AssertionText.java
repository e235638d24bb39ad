package io.github.gatlingllm.simulations;

import io.github.gatlingllm.metric.Figure;
import io.github.gatlingllm.metric.Metric.Unit;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.Assertion.Condition;
import io.github.gatlingllm.record.Assertion.Scope;
import io.github.gatlingllm.record.DurationText;
import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Assertions as they are written in settings.
 *
 * <pre>
 * ttft.p99&lt;200ms   goodput>=95%   goodput>=20/s   errors&lt;1%   timeout=0   jitter&lt;3
 * c=8:ttft.p99&lt;200ms   about one load level; settings take names of requests and targets too
 * valid                a run that no check calls invalid
 * </pre>
 *
 * <p>Times without a unit are milliseconds. Of what is both counted and a share, the percent sign
 * asks for the share.
 */
final class AssertionText {

  private static final Pattern FORM =
      Pattern.compile(
          "(?:([^<>]+):)?\\s*([A-Za-z0-9_.]+)\\s*(<=|>=|<|>|=)"
              + "\\s*(\\d{1,12}(?:\\.\\d{1,9})?)\\s*("
              + DurationText.UNITS
              + "|%|/s)?");

  private AssertionText() {}

  /**
   * Reads one assertion, about all targets.
   *
   * @throws IllegalArgumentException in one line that says what is wrong and what is expected
   */
  static Assertion parse(String text) {
    if (text.strip().equals("valid")) {
      return Assertion.VALID;
    }
    Matcher form = FORM.matcher(text.strip());
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "'" + text.strip() + "' is no assertion; expected e.g. ttft.p99<200ms or valid");
    }
    String unit = form.group(5) == null ? "" : form.group(5);
    Figure figure = figure(form.group(2), unit);
    double value = value(figure, new BigDecimal(form.group(4)), unit);
    String stage = form.group(1);
    return new Assertion(
        null,
        stage == null ? Scope.GLOBAL : Scope.STAGE,
        stage == null ? null : stage.strip(),
        figure.name(),
        condition(form.group(3)),
        List.of(value));
  }

  /** The unit chooses between a count, a share and a rate of the same name. */
  private static Figure figure(String name, String unit) {
    if (name.equals("goodput") && unit.equals("/s")) {
      return Figure.parse("goodput.requests_per_s");
    }
    if (name.equals("goodput") && !unit.equals("%")) {
      throw new IllegalArgumentException(
          "goodput needs a unit; expected a share such as goodput>=95%, or goodput>=20/s");
    }
    Figure figure = Figure.parse(name);
    boolean share = figure.unit() == Unit.PERCENT && !name.equals(figure.name());
    return share && unit.isEmpty() ? Figure.parse(name + ".count") : figure;
  }

  private static double value(Figure figure, BigDecimal number, String unit) {
    Double value =
        switch (figure.unit()) {
          case MILLIS -> millis(number, unit);
          case PERCENT -> only(number, unit, "%");
          case REQUESTS_PER_S, INPUTS_PER_S, TOKENS_PER_S -> only(number, unit, "/s");
          case TOKENS, WATTS, TOKENS_PER_J, NUMBER -> only(number, unit, "");
        };
    if (value == null) {
      throw new IllegalArgumentException(
          "'%s' is no unit of %s; expected %s"
              .formatted(
                  unit,
                  figure.name(),
                  switch (figure.unit()) {
                    case MILLIS -> "us, ms, s, m or h";
                    case PERCENT -> "%";
                    case REQUESTS_PER_S, INPUTS_PER_S, TOKENS_PER_S -> "/s";
                    case TOKENS, WATTS, TOKENS_PER_J, NUMBER -> "a plain number";
                  }));
    }
    return value;
  }

  private static @Nullable Double millis(BigDecimal number, String unit) {
    if (unit.equals("%") || unit.equals("/s")) {
      return null;
    }
    long nanos = DurationText.unitNanos(unit.isEmpty() ? "ms" : unit);
    return number.multiply(BigDecimal.valueOf(nanos)).movePointLeft(6).doubleValue();
  }

  private static @Nullable Double only(BigDecimal number, String unit, String allowed) {
    return unit.isEmpty() || unit.equals(allowed) ? (Double) number.doubleValue() : null;
  }

  private static Condition condition(String operator) {
    return switch (operator) {
      case "<" -> Condition.LT;
      case "<=" -> Condition.LTE;
      case ">" -> Condition.GT;
      case ">=" -> Condition.GTE;
      default -> Condition.IS;
    };
  }
}
