package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LoadInjection;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import java.time.Duration;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * DSL for an open injection step whose users arrive at times that are drawn from a seed.
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
public final class SeededArrivals {
  private final BiFunction<Gaps, Long, Arrivals> process;
  private final Gaps gaps;
  private final @Nullable Long seed;

  /**
   * @param process the arrivals with these gaps, for a step of this length in nanoseconds
   * @param gaps the distribution of the gaps; its seed is replaced
   * @param seed null if each step draws its own
   */
  SeededArrivals(BiFunction<Gaps, Long, Arrivals> process, Gaps gaps, @Nullable Long seed) {
    this.process = process;
    this.gaps = gaps;
    this.seed = seed;
  }

  static SeededArrivals steady(double perSecond, Gaps gaps) {
    double rate = checked(() -> Arrivals.requireRate(perSecond));
    return new SeededArrivals((seeded, length) -> new Arrivals.Steady(rate, seeded), gaps, null);
  }

  /** Users arrive as a Poisson process, with independent exponential gaps. */
  public SeededArrivals poisson() {
    return with(Gaps.poisson(0));
  }

  /** Users arrive as evenly as possible: one each time the integral of the rate grows by 1. */
  public SeededArrivals constant() {
    return with(Gaps.EQUAL);
  }

  /**
   * Users arrive with gamma-distributed gaps, scaled to the rate, whose standard deviation ÷ mean
   * is {@code cv}: above 0, at most 100; 1 is Poisson.
   */
  public SeededArrivals gamma(double cv) {
    return with(checked(() -> Gaps.gamma(cv, 0)));
  }

  /** As {@link #gamma}, after {@code gammaUsersPerSec}; 1 by default, a Poisson process. */
  public SeededArrivals cv(double cv) {
    return gamma(cv);
  }

  private SeededArrivals with(Gaps others) {
    return new SeededArrivals(process, others, seed);
  }

  /** Pins the arrival times: the same seed gives the same times. By default the seed is random. */
  public SeededArrivals seed(long pinned) {
    return new SeededArrivals(process, gaps, pinned);
  }

  /** The length of the step, above 0, which completes it. */
  public OpenInjectionStep during(long seconds) {
    return during(Duration.ofSeconds(seconds));
  }

  public OpenInjectionStep during(Duration duration) {
    long nanos = InvalidSimulation.above0("during", duration).toNanos();
    Gaps seeded = gaps.withSeed(seed == null ? Seeds.random() : seed);
    return checked(() -> LoadInjection.step(process.apply(seeded, nanos), nanos));
  }
}
