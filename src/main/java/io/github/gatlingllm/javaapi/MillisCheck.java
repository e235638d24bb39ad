package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.CheckBuilder;
import io.github.gatlingllm.action.LlmChecks;
import io.github.gatlingllm.action.MeasuredAnswer;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A check on a duration of the measured request, in milliseconds. Absent durations (no token came,
 * say) fail every comparison.
 *
 * <pre>{@code
 * ttft().lt(500)
 * ttft().lt(ofMillis(500))
 * e2e().saveAs("millis")
 * }</pre>
 */
public final class MillisCheck
    extends CheckBuilder.Find.Default<LlmChecks.Type, MeasuredAnswer, Double, Double> {

  private static final double NANOS_PER_MILLI = 1e6;

  MillisCheck(String name, Function<MeasuredAnswer, @Nullable Number> nanos) {
    super(
        LlmChecks.find(
            name,
            false,
            response -> {
              Number value = nanos.apply(response);
              return value == null ? null : (Double) (value.doubleValue() / NANOS_PER_MILLI);
            }),
        LlmChecks.Type.RESPONSE,
        Double.class,
        Function.identity());
  }

  /** Less than, in milliseconds. */
  public CheckBuilder.Final lt(double millis) {
    return lt((Double) millis);
  }

  /** Less than. */
  public CheckBuilder.Final lt(Duration limit) {
    return lt(millis(limit));
  }

  /** At most, in milliseconds. */
  public CheckBuilder.Final lte(double millis) {
    return lte((Double) millis);
  }

  /** At most. */
  public CheckBuilder.Final lte(Duration limit) {
    return lte(millis(limit));
  }

  /** More than, in milliseconds. */
  public CheckBuilder.Final gt(double millis) {
    return gt((Double) millis);
  }

  /** More than. */
  public CheckBuilder.Final gt(Duration limit) {
    return gt(millis(limit));
  }

  /** At least, in milliseconds. */
  public CheckBuilder.Final gte(double millis) {
    return gte((Double) millis);
  }

  /** At least. */
  public CheckBuilder.Final gte(Duration limit) {
    return gte(millis(limit));
  }

  private static Double millis(Duration duration) {
    return duration.toNanos() / NANOS_PER_MILLI;
  }
}
