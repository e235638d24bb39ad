package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import org.jspecify.annotations.Nullable;

/**
 * DSL for an open injection step that starts users as a seeded Poisson process: the gaps are
 * independent and exponentially distributed, so that the number of users per second varies.
 */
public final class PoissonArrivals extends SeededArrivals<PoissonArrivals> {
  private final double perSecond;

  private PoissonArrivals(double perSecond, Gaps gaps, @Nullable Long seed) {
    super(gaps, seed);
    this.perSecond = checked(() -> Arrivals.requireRate(perSecond));
  }

  static PoissonArrivals of(double perSecond) {
    return new PoissonArrivals(perSecond, new Gaps.Exponential(0), null);
  }

  @Override
  PoissonArrivals with(Gaps others, @Nullable Long otherSeed) {
    return new PoissonArrivals(perSecond, others, otherSeed);
  }

  @Override
  Arrivals arrivals(Gaps seeded, long lengthNanos) {
    return new Arrivals.Steady(perSecond, seeded);
  }
}
