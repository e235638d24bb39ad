package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.javaapi.AssertionCondition.AssertionFigure;
import java.time.Duration;
import java.util.Arrays;

/** Last step of an assertion on a time: the condition, in milliseconds or as {@link Duration}. */
public final class TimeCondition extends AssertionCondition {

  TimeCondition(AssertionFigure figure) {
    super(figure);
  }

  /** The time is below the value. */
  public LlmAssertion lt(Duration value) {
    return lt(millis(value));
  }

  /** The time is at most the value. */
  public LlmAssertion lte(Duration value) {
    return lte(millis(value));
  }

  /** The time is above the value. */
  public LlmAssertion gt(Duration value) {
    return gt(millis(value));
  }

  /** The time is at least the value. */
  public LlmAssertion gte(Duration value) {
    return gte(millis(value));
  }

  /** The time is in the range, bounds included. */
  public LlmAssertion between(Duration min, Duration max) {
    return between(millis(min), millis(max));
  }

  /**
   * The time is in the range.
   *
   * @param inclusive whether the bounds belong to the range
   */
  public LlmAssertion between(Duration min, Duration max, boolean inclusive) {
    return between(millis(min), millis(max), inclusive);
  }

  /** The time differs from the mean by at most {@code plusOrMinus}. */
  public LlmAssertion around(Duration mean, Duration plusOrMinus) {
    return around(millis(mean), millis(plusOrMinus));
  }

  /**
   * As {@link #around(Duration, Duration)}.
   *
   * @param inclusive whether the bounds belong to the range
   */
  public LlmAssertion around(Duration mean, Duration plusOrMinus, boolean inclusive) {
    return around(millis(mean), millis(plusOrMinus), inclusive);
  }

  public LlmAssertion deviatesAround(Duration mean, double percentDeviation) {
    return deviatesAround(millis(mean), percentDeviation);
  }

  public LlmAssertion deviatesAround(Duration mean, double percentDeviation, boolean inclusive) {
    return deviatesAround(millis(mean), percentDeviation, inclusive);
  }

  /** The time equals the value. */
  public LlmAssertion is(Duration value) {
    return is(millis(value));
  }

  /** As {@link #is(Duration)}, whose name is reserved in Kotlin. */
  public LlmAssertion shouldBe(Duration value) {
    return is(value);
  }

  /** The time equals one of the values. */
  public LlmAssertion in(Duration... values) {
    return in(Arrays.stream(values).mapToDouble(TimeCondition::millis).toArray());
  }

  /** As {@link #in(Duration...)}, whose name is reserved in Kotlin. */
  public LlmAssertion within(Duration... values) {
    return in(values);
  }

  private static double millis(Duration value) {
    return value.toNanos() / 1e6;
  }
}
