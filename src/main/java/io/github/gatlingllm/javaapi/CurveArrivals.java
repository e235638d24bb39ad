package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.Arrivals.Rate;
import java.time.Duration;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * DSL for an open injection step whose rate follows a curve, by default as a non-homogeneous
 * Poisson process. The curve is sampled every 10 ms and interpolated linearly.
 *
 * <pre>{@code
 * // A day in two hours.
 * setUp(
 *     chat.injectOpen(
 *         usersPerSec(t -> 20 + 15 * Math.sin(2 * Math.PI * t.toSeconds() / 7200))
 *             .seed(1)
 *             .during(ofHours(2))));
 * }</pre>
 */
public final class CurveArrivals extends SeededArrivals<CurveArrivals> {
  private final Rate rate;

  private CurveArrivals(Rate rate, Gaps gaps, @Nullable Long seed) {
    super(gaps, seed);
    this.rate = rate;
  }

  static CurveArrivals of(ToDoubleFunction<Duration> usersPerSecond) {
    return new CurveArrivals(rate(usersPerSecond), new Gaps.Exponential(0), null);
  }

  static Rate rate(ToDoubleFunction<Duration> usersPerSecond) {
    return nanos -> usersPerSecond.applyAsDouble(Duration.ofNanos(nanos));
  }

  /** Users arrive as a Poisson process whose rate follows the curve: the default. */
  public CurveArrivals poisson() {
    return with(new Gaps.Exponential(0), seed);
  }

  /** Users arrive as evenly as possible: one each time the integral of the curve grows by 1. */
  public CurveArrivals constant() {
    return with(new Gaps.Equal(), seed);
  }

  /**
   * Users arrive with gamma-distributed gaps, scaled to the rate of the curve.
   *
   * @param cv standard deviation of the gaps ÷ their mean: above 0, at most 100; 1 is Poisson
   */
  public CurveArrivals gamma(double cv) {
    return with(checked(() -> new Gaps.Gamma(cv, 0)), seed);
  }

  @Override
  CurveArrivals with(Gaps others, @Nullable Long otherSeed) {
    return new CurveArrivals(rate, others, otherSeed);
  }

  @Override
  Arrivals arrivals(Gaps seeded, long lengthNanos) {
    return new Arrivals.Curve(rate, lengthNanos, seeded);
  }
}
