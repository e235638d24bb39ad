package io.github.gatlingllm.settings;

import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.record.Objectives.AssertedCondition;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.record.ProcessSetting.DurationText;
import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The form of build gates. */
final class AssertionForm {

  private static final Pattern FORM =
      Pattern.compile(
          "(?:([^<>]+):)?\\s*([A-Za-z0-9_.]+)\\s*(<=|>=|<|>|=)"
              + "\\s*(\\d{1,12}(?:\\.\\d{1,9})?)\\s*("
              + DurationText.UNITS
              + "|%|/s)?");

  /**
   * Parses an assertion such as {@code c=8:ttft.p99<200ms} or {@code goodput>=95%}; times without a
   * unit are milliseconds. What a name before the colon is depends on the load.
   */
  static Assertion assertion(String text) {
    if (text.strip().equals("valid")) {
      return Assertion.VALID;
    }
    Matcher form = FORM.matcher(text.strip());
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "'" + text.strip() + "' is not an assertion; expected e.g. ttft.p99<200ms or valid");
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

  private static AssertedCondition condition(String typed) {
    String sign = typed.replace("<=", "≤").replace(">=", "≥");
    return Stream.of(AssertedCondition.values())
        .filter(c -> c.sign().equals(sign))
        .findFirst()
        .orElseThrow();
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
          case MILLIS, SECONDS -> "us, ms, s, m or h";
          case PERCENT -> "%";
          case REQUESTS_PER_S, INPUTS_PER_S, TOKENS_PER_S -> "/s";
          case TOKENS, WATTS, TOKENS_PER_J, NUMBER -> "a plain number";
        };
    boolean isTime = !unit.isEmpty() && !unit.equals("%") && !unit.equals("/s");
    int decimals = figure.unit() == Unit.MILLIS ? 6 : figure.unit() == Unit.SECONDS ? 9 : 0;
    if (!unit.isEmpty() && !unit.equals(allowed) && !(isTime && decimals > 0)) {
      throw new IllegalArgumentException(
          "'%s' is not a unit of %s; expected %s".formatted(unit, figure.name(), allowed));
    }
    return isTime
        ? number
            .multiply(BigDecimal.valueOf(DurationText.unitNanos(unit)))
            .movePointLeft(decimals)
            .doubleValue()
        : number.doubleValue();
  }

  private AssertionForm() {}
}
