package io.github.gatlingllm.simulations;

import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Assertion.Condition;
import io.github.gatlingllm.record.Objectives.Assertion.Scope;
import io.github.gatlingllm.record.ProcessSetting.DurationText;
import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses assertions of the setting {@code assert}.
 *
 * <pre>
 * ttft.p99&lt;200ms   goodput>=95%   goodput>=20/s   errors&lt;1%   timeout=0   jitter&lt;3
 * c=8:ttft.p99&lt;200ms   of a load level, a request name or a target; see {@link GoalNames}
 * valid                no check calls the run invalid
 * </pre>
 *
 * <p>Times without a unit are milliseconds. For figures that exist as a count and as a share, the
 * percent sign selects the share.
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
   * Parses one assertion. A name before the colon is returned as a load level; {@link GoalNames}
   * decides what it is.
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

  /** The unit selects the count, the share or the rate of figures with the same name. */
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
    String allowed =
        switch (figure.unit()) {
          case MILLIS -> "us, ms, s, m or h";
          case PERCENT -> "%";
          case REQUESTS_PER_S, INPUTS_PER_S, TOKENS_PER_S -> "/s";
          case TOKENS, WATTS, TOKENS_PER_J, NUMBER -> "a plain number";
        };
    boolean isTime = !unit.isEmpty() && !unit.equals("%") && !unit.equals("/s");
    if (!unit.isEmpty() && !unit.equals(allowed) && !(isTime && figure.unit() == Unit.MILLIS)) {
      throw new IllegalArgumentException(
          "'%s' is no unit of %s; expected %s".formatted(unit, figure.name(), allowed));
    }
    return isTime
        ? number
            .multiply(BigDecimal.valueOf(DurationText.unitNanos(unit)))
            .movePointLeft(6)
            .doubleValue()
        : number.doubleValue();
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
