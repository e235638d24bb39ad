package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A condition on a figure of the summary that decides whether the build passes. It is kept in
 * {@code llm/run.json}, so that a later report judges the same.
 *
 * @param target label of the target of the requests; null for all targets
 * @param scope which requests of that target
 * @param name the request name or the label of the load level; null if the scope has none
 * @param figure name of the figure as {@code stats.Figure} knows it, e.g. {@code ttft.p99}
 * @param condition how the figure is compared
 * @param values what it is compared with, in the figure's unit; as many as the condition takes
 */
public record Assertion(
    @Nullable String target,
    Scope scope,
    @Nullable String name,
    String figure,
    Condition condition,
    List<Double> values) {

  /** Requires that no check calls the run invalid. */
  public static final Assertion VALID =
      new Assertion(null, Scope.RUN, null, "invalid_checks.count", Condition.IS, List.of(0.0));

  public Assertion {
    values = List.copyOf(values);
    if (!condition.takes(values)) {
      throw new IllegalArgumentException(
          "assertion on %s: '%s' of %s; expected %s"
              .formatted(figure, condition.key(), values, condition.needs));
    }
  }

  /** The requests that an assertion covers. */
  public enum Scope {
    /** None: it covers the run as a whole, with all its targets. */
    RUN,
    /** All requests. */
    GLOBAL,
    /** The requests of one name. */
    REQUEST,
    /** The requests of one load level. */
    STAGE,
    /** The requests of each name, separately. */
    EVERY_REQUEST;

    @JsonValue
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** How a figure is compared: Gatling's conditions, in Gatling's words. */
  public enum Condition {
    LT("is less than", "<", "a finite number"),
    LTE("is less than or equal to", "≤", "a finite number"),
    GT("is greater than", ">", "a finite number"),
    GTE("is greater than or equal to", "≥", "a finite number"),
    IS("is", "=", "a finite number"),
    IN("is in", "one of", "one finite number or more"),
    BETWEEN("is between", "from", "two finite numbers, the smaller one first"),
    BETWEEN_EXCLUSIVE("is between", "inside", "two finite numbers, the smaller one first");

    private final String words;
    private final String sign;
    private final String needs;

    Condition(String words, String sign, String needs) {
      this.words = words;
      this.sign = sign;
      this.needs = needs;
    }

    @JsonValue
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** A sign or word for it, e.g. {@code ≤}. */
    public String sign() {
      return sign;
    }

    private boolean takes(List<Double> values) {
      boolean count =
          switch (this) {
            case LT, LTE, GT, GTE, IS -> values.size() == 1;
            case IN -> !values.isEmpty();
            case BETWEEN, BETWEEN_EXCLUSIVE -> values.size() == 2 && values.get(0) <= values.get(1);
          };
      return count && values.stream().allMatch(Double::isFinite);
    }
  }

  /** The same assertion on the requests of one target; an assertion on the run is not changed. */
  public Assertion at(String onlyTarget) {
    return scope == Scope.RUN
        ? this
        : new Assertion(onlyTarget, scope, name, figure, condition, values);
  }

  /** Whether its figure exists only with an SLO. */
  public boolean needsSlo() {
    return figure.startsWith("goodput");
  }

  /** Whether a figure of that value meets the condition. */
  public boolean holds(double actual) {
    double first = values.get(0);
    return switch (condition) {
      case LT -> actual < first;
      case LTE -> actual <= first;
      case GT -> actual > first;
      case GTE -> actual >= first;
      case IS -> actual == first;
      case IN -> values.contains(actual);
      case BETWEEN -> actual >= first && actual <= values.get(1);
      case BETWEEN_EXCLUSIVE -> actual > first && actual < values.get(1);
    };
  }

  /** The condition in Gatling's words, e.g. {@code is less than 200.0}. */
  public String conditionText() {
    return condition.words
        + switch (condition) {
          case LT, LTE, GT, GTE, IS -> " " + values.get(0);
          case IN ->
              values.stream().map(String::valueOf).collect(Collectors.joining(", ", " List(", ")"));
          case BETWEEN -> " " + values.get(0) + " and " + values.get(1) + " inclusive";
          case BETWEEN_EXCLUSIVE -> " " + values.get(0) + " and " + values.get(1);
        };
  }
}
