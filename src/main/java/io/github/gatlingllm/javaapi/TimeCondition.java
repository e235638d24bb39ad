package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.javaapi.AssertionCondition.AssertionFigure;
import java.time.Duration;
import java.util.Arrays;

/**
 * Last step of an assertion on a time: the conditions of {@link AssertionCondition}, with numbers
 * of milliseconds or with {@link Duration}s.
 */
public final class TimeCondition extends AssertionCondition {

  TimeCondition(AssertionFigure figure) {
    super(figure);
  }

  public LlmAssertion lt(Duration value) {
    return lt(millis(value));
  }

  public LlmAssertion lte(Duration value) {
    return lte(millis(value));
  }

  public LlmAssertion gt(Duration value) {
    return gt(millis(value));
  }

  public LlmAssertion gte(Duration value) {
    return gte(millis(value));
  }

  public LlmAssertion between(Duration min, Duration max) {
    return between(millis(min), millis(max));
  }

  public LlmAssertion between(Duration min, Duration max, boolean inclusive) {
    return between(millis(min), millis(max), inclusive);
  }

  public LlmAssertion around(Duration mean, Duration plusOrMinus) {
    return around(millis(mean), millis(plusOrMinus));
  }

  public LlmAssertion around(Duration mean, Duration plusOrMinus, boolean inclusive) {
    return around(millis(mean), millis(plusOrMinus), inclusive);
  }

  public LlmAssertion deviatesAround(Duration mean, double percentDeviation) {
    return deviatesAround(millis(mean), percentDeviation);
  }

  public LlmAssertion deviatesAround(Duration mean, double percentDeviation, boolean inclusive) {
    return deviatesAround(millis(mean), percentDeviation, inclusive);
  }

  public LlmAssertion is(Duration value) {
    return is(millis(value));
  }

  public LlmAssertion shouldBe(Duration value) {
    return is(value);
  }

  public LlmAssertion in(Duration... values) {
    return in(Arrays.stream(values).mapToDouble(TimeCondition::millis).toArray());
  }

  public LlmAssertion within(Duration... values) {
    return in(values);
  }

  private static double millis(Duration value) {
    return value.toNanos() / 1e6;
  }
}
