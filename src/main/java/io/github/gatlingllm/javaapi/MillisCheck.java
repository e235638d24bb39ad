package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.CheckBuilder;
import io.github.gatlingllm.action.MeasuredAnswer;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A check on a duration of the measured request, in milliseconds: {@code ttft().lt(500)}, {@code
 * ttft().lt(ofMillis(500))}. An absent duration, for example of a request without tokens, fails
 * every comparison. Limits can be any number type, so that Kotlin accepts an {@code Int}. {@code
 * saveAs} saves a {@code Double}.
 */
public final class MillisCheck
    extends CheckBuilder.Find.Default<Object, MeasuredAnswer, Double, Number> {

  private static final double NANOS_PER_MILLI = 1e6;

  @SuppressWarnings(
      "unchecked") // Gatling chooses the comparison by the class of the value, which is Double
  MillisCheck(String name, Function<MeasuredAnswer, @Nullable Number> nanos) {
    super(
        MeasuredAnswer.find(
            name,
            false,
            response -> {
              Number value = nanos.apply(response);
              return value == null ? null : (Double) (value.doubleValue() / NANOS_PER_MILLI);
            }),
        MeasuredAnswer.CHECK_TYPE,
        (Class<Number>) (Class<?>) Double.class,
        millis -> millis);
  }

  @Override
  public CheckBuilder.Final is(Number millis) {
    return super.is((Double) millis.doubleValue());
  }

  @Override
  public CheckBuilder.Final lt(Number millis) {
    return super.lt((Double) millis.doubleValue());
  }

  /** The time is below the limit. */
  public CheckBuilder.Final lt(Duration limit) {
    return lt(limit.toNanos() / NANOS_PER_MILLI);
  }

  @Override
  public CheckBuilder.Final lte(Number millis) {
    return super.lte((Double) millis.doubleValue());
  }

  /** The time is at most the limit. */
  public CheckBuilder.Final lte(Duration limit) {
    return lte(limit.toNanos() / NANOS_PER_MILLI);
  }

  @Override
  public CheckBuilder.Final gt(Number millis) {
    return super.gt((Double) millis.doubleValue());
  }

  /** The time is above the limit. */
  public CheckBuilder.Final gt(Duration limit) {
    return gt(limit.toNanos() / NANOS_PER_MILLI);
  }

  @Override
  public CheckBuilder.Final gte(Number millis) {
    return super.gte((Double) millis.doubleValue());
  }

  /** The time is at least the limit. */
  public CheckBuilder.Final gte(Duration limit) {
    return gte(limit.toNanos() / NANOS_PER_MILLI);
  }
}
