package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.javaapi.AssertionCondition.AssertionFigure;
import java.time.Duration;
import java.util.Arrays;

/** Last step of an assertion on a time: conditions in milliseconds, or as {@link Duration}s. */
public final class TimeCondition extends AssertionCondition {

  TimeCondition(AssertionFigure figure) {
    super(figure);
  }

  /** Below the value. */
  public LlmAssertion lt(Duration value) {
    return lt(millis(value));
  }

  /** At most the value. */
  public LlmAssertion lte(Duration value) {
    return lte(millis(value));
  }

  /** Above the value. */
  public LlmAssertion gt(Duration value) {
    return gt(millis(value));
  }

  /** At least the value. */
  public LlmAssertion gte(Duration value) {
    return gte(millis(value));
  }

  /** In the range, its bounds included. */
  public LlmAssertion between(Duration min, Duration max) {
    return between(millis(min), millis(max));
  }

  /** In the range; {@code inclusive} says whether its bounds belong to it. */
  public LlmAssertion between(Duration min, Duration max, boolean inclusive) {
    return between(millis(min), millis(max), inclusive);
  }

  /** At most so far from the mean. */
  public LlmAssertion around(Duration mean, Duration plusOrMinus) {
    return around(millis(mean), millis(plusOrMinus));
  }

  /**
   * As {@link #around(Duration, Duration)}; {@code inclusive} says whether the bounds belong to it.
   */
  public LlmAssertion around(Duration mean, Duration plusOrMinus, boolean inclusive) {
    return around(millis(mean), millis(plusOrMinus), inclusive);
  }

  /** As {@link #deviatesAround(double, double)}. */
  public LlmAssertion deviatesAround(Duration mean, double percentDeviation) {
    return deviatesAround(millis(mean), percentDeviation);
  }

  /** As {@link #deviatesAround(double, double, boolean)}. */
  public LlmAssertion deviatesAround(Duration mean, double percentDeviation, boolean inclusive) {
    return deviatesAround(millis(mean), percentDeviation, inclusive);
  }

  /** The value. */
  public LlmAssertion is(Duration value) {
    return is(millis(value));
  }

  /** As {@link #is(Duration)}, whose name is reserved in Kotlin. */
  public LlmAssertion shouldBe(Duration value) {
    return is(value);
  }

  /** One of the values. */
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
