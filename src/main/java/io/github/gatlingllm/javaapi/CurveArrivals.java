package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Gaps;
import io.github.gatlingllm.load.RateFunction;
import java.time.Duration;
import java.util.function.LongFunction;
import java.util.function.ToDoubleFunction;

/**
 * DSL for an open injection step whose rate follows a curve, as a non-homogeneous Poisson process.
 * The curve is read every 10 ms and taken as straight in between.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
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
public final class CurveArrivals {
  private final RateFunction rate;
  private final LongFunction<Gaps> shape;
  private final long seed;

  private CurveArrivals(RateFunction rate, LongFunction<Gaps> shape, long seed) {
    this.rate = rate;
    this.shape = shape;
    this.seed = seed;
  }

  static CurveArrivals of(ToDoubleFunction<Duration> usersPerSecond) {
    return new CurveArrivals(rate(usersPerSecond), Gaps.Exponential::new, Seeds.random());
  }

  static RateFunction rate(ToDoubleFunction<Duration> usersPerSecond) {
    return nanos -> usersPerSecond.applyAsDouble(Duration.ofNanos(nanos));
  }

  /** Users arrive at random around the curve, the default. */
  public CurveArrivals poisson() {
    return new CurveArrivals(rate, Gaps.Exponential::new, seed);
  }

  /** Users arrive as evenly as the curve allows, one each time its integral grows by 1. */
  public CurveArrivals constant() {
    return new CurveArrivals(rate, unused -> new Gaps.Equal(), seed);
  }

  /** As {@link GammaArrivals}, around the curve. */
  public CurveArrivals gamma(double cv) {
    double known = Gaps.requireCv(cv);
    return new CurveArrivals(rate, s -> new Gaps.Gamma(known, s), seed);
  }

  /** Pins the arrival times: the same seed plans the same ones. Without it they are random. */
  public CurveArrivals seed(long seed) {
    return new CurveArrivals(rate, shape, seed);
  }

  /**
   * Ends the step.
   *
   * @param seconds length of the step in seconds, above 0
   * @throws IllegalArgumentException if the curve is negative or no number somewhere
   */
  public OpenInjectionStep during(long seconds) {
    return during(Duration.ofSeconds(seconds));
  }

  /** As {@link #during(long)}. */
  public OpenInjectionStep during(Duration duration) {
    return Steps.during(new Arrivals.Curve(rate, duration.toNanos(), shape.apply(seed)), duration);
  }
}
