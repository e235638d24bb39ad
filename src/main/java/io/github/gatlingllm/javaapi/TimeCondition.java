package io.github.gatlingllm.javaapi;

import java.time.Duration;

/**
 * Last step of an assertion on a time: the conditions of {@link AssertionCondition}, with numbers
 * of milliseconds or with {@link Duration}s.
 */
public final class TimeCondition extends AssertionCondition {

  TimeCondition(AssertionCondition figure) {
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

  /** The time equals the value. */
  public LlmAssertion is(Duration value) {
    return is(millis(value));
  }

  /** As {@link #is(Duration)}. */
  public LlmAssertion shouldBe(Duration value) {
    return is(value);
  }

  private static double millis(Duration value) {
    return value.toNanos() / 1e6;
  }
}
