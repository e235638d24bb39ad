package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.record.Objectives.AssertedCondition;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Last step of an assertion: the condition on the figure. The conditions are those of Gatling's
 * assertions. Values are in the unit of the figure: milliseconds, percent, per second, tokens, W,
 * or a plain number. Bounds belong to a range unless {@code inclusive} is false. {@code shouldBe}
 * and {@code within} are {@code is} and {@code in} for Kotlin, which reserves these names.
 */
public sealed class AssertionCondition permits TimeCondition {

  private final Scope scope;
  private final @Nullable String name;
  private final String figure;
  private final @Nullable String tier;

  /** On requests of that name, in a scope that has one; of no figure yet. */
  AssertionCondition(Scope scope, @Nullable String name) {
    this(scope, name, "", null);
  }

  AssertionCondition(AssertionCondition same) {
    this(same.scope, same.name, same.figure, same.tier);
  }

  private AssertionCondition(
      Scope scope, @Nullable String name, String figure, @Nullable String tier) {
    this.scope = scope;
    this.name = name;
    this.figure = figure;
    this.tier = tier;
  }

  /** The same with one more part of the figure's name. */
  final AssertionCondition on(String part) {
    return new AssertionCondition(scope, name, figure.isEmpty() ? part : figure + "." + part, tier);
  }

  final AssertionCondition by(String ofTier) {
    return new AssertionCondition(scope, name, figure, ofTier);
  }

  private LlmAssertion next(AssertedCondition condition, List<Double> values) {
    return new LlmAssertion(
        checked(() -> new Assertion(null, scope, name, figure, condition, values).by(tier)));
  }

  /** The figure is below the value. */
  public final LlmAssertion lt(double value) {
    return next(AssertedCondition.LT, List.of(value));
  }

  /** The figure is at most the value. */
  public final LlmAssertion lte(double value) {
    return next(AssertedCondition.LTE, List.of(value));
  }

  /** The figure is above the value. */
  public final LlmAssertion gt(double value) {
    return next(AssertedCondition.GT, List.of(value));
  }

  /** The figure is at least the value. */
  public final LlmAssertion gte(double value) {
    return next(AssertedCondition.GTE, List.of(value));
  }

  /** The figure is in the range, bounds included. */
  public final LlmAssertion between(double min, double max) {
    return between(min, max, true);
  }

  public final LlmAssertion between(double min, double max, boolean inclusive) {
    return next(
        inclusive ? AssertedCondition.BETWEEN : AssertedCondition.BETWEEN_EXCLUSIVE,
        List.of(min, max));
  }

  /** The figure differs from the mean by at most {@code plusOrMinus}. */
  public final LlmAssertion around(double mean, double plusOrMinus) {
    return around(mean, plusOrMinus, true);
  }

  public final LlmAssertion around(double mean, double plusOrMinus, boolean inclusive) {
    return between(mean - plusOrMinus, mean + plusOrMinus, inclusive);
  }

  /**
   * The figure differs from the mean by at most a share of the mean, 0 to 1, as in Gatling: 0.1 is
   * 10 %.
   */
  public final LlmAssertion deviatesAround(double mean, double percentDeviation) {
    return deviatesAround(mean, percentDeviation, true);
  }

  public final LlmAssertion deviatesAround(
      double mean, double percentDeviation, boolean inclusive) {
    if (!(percentDeviation >= 0 && percentDeviation <= 1)) {
      throw InvalidSimulation.because(
          "deviatesAround(%s, %s): expected a share of the mean, 0 to 1; 10 %% is 0.1"
              .formatted(mean, percentDeviation));
    }
    return around(mean, Math.abs(mean) * percentDeviation, inclusive);
  }

  /** The figure equals the value. */
  public final LlmAssertion is(double value) {
    return next(AssertedCondition.IS, List.of(value));
  }

  /** As {@link #is}. */
  public final LlmAssertion shouldBe(double value) {
    return is(value);
  }

  /** The figure equals one of the values. */
  public final LlmAssertion in(double... values) {
    return next(AssertedCondition.IN, Arrays.stream(values).boxed().toList());
  }

  /** As {@link #in}. */
  public final LlmAssertion within(double... values) {
    return in(values);
  }
}
