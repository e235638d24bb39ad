package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.record.Objectives.Assertion;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An assertion and its result, in Gatling's words.
 *
 * @param value the value of the figure; null where there is none: the assertion then fails
 * @param note a remark on the value, or why there is none; null for none
 */
public record AssertionResult(
    String subject, Assertion assertion, Unit unit, @Nullable Double value, @Nullable String note) {

  private static final int DIGITS = 4;
  private static final int MAX_DIGITS = 15;

  /** The same with the number of checks that make the run invalid, if it asks for that. */
  AssertionResult withInvalid(List<String> ids) {
    return assertion.scope() != Assertion.Scope.RUN
        ? this
        : new AssertionResult(
            subject,
            assertion,
            unit,
            (double) ids.size(),
            ids.isEmpty() ? null : String.join(", ", ids));
  }

  public boolean ok() {
    return value != null && assertion.holds(value);
  }

  /** The whole sentence, e.g. {@code Global: 99th percentile of TTFT is less than 200.0}. */
  public String text() {
    return subject + " " + assertion.conditionText();
  }

  /** The demand with its unit, e.g. {@code < 200 ms}. */
  public String expected() {
    List<Double> values = assertion.values();
    return assertion.condition().sign()
        + " "
        + switch (assertion.condition()) {
          case BETWEEN, BETWEEN_EXCLUSIVE -> with(values.get(0)) + " to " + with(values.get(1));
          case IN -> values.stream().map(this::with).collect(Collectors.joining(", "));
          default -> with(values.get(0));
        };
  }

  /** The value with its unit, e.g. {@code 169.4 ms}; null where there is none. */
  public @Nullable String actual() {
    Double shown = shown();
    return shown == null ? null : with(shown);
  }

  /** The line that Gatling prints on its console, with the note. */
  public String line() {
    Double shown = shown();
    String given =
        shown == null
            ? note == null ? "no value" : note
            : "actual : " + shown + (note == null ? "" : ", " + note);
    return text() + " : " + ok() + " (" + given + ")";
  }

  /**
   * Rounded, but not so far that it contradicts the result: 199.96 below 200 is not shown as 200.
   */
  private @Nullable Double shown() {
    if (value == null || value == Math.rint(value)) {
      return value;
    }
    for (int digits = DIGITS; digits < MAX_DIGITS; digits++) {
      double rounded = new BigDecimal(value).round(new MathContext(digits)).doubleValue();
      if (assertion.holds(rounded) == ok()) {
        return rounded;
      }
    }
    return value;
  }

  private String with(double number) {
    BigDecimal digits = BigDecimal.valueOf(number).stripTrailingZeros();
    String plain = String.format(Locale.ROOT, "%,." + Math.max(0, digits.scale()) + "f", digits);
    return unit.sign().isEmpty() ? plain : plain + " " + unit.sign();
  }
}
