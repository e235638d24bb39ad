package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import org.jspecify.annotations.Nullable;

/**
 * DSL for an open injection step that starts users with gamma-distributed gaps. Arrivals are
 * burstier than a Poisson process if the coefficient of variation is above 1, and more even if it
 * is below 1.
 */
public final class GammaArrivals extends SeededArrivals<GammaArrivals> {

  /** The rate of {@code gammaUsersPerSec(25)}; still needs the coefficient of variation. */
  public static final class Rate {
    private final double perSecond;

    private Rate(double perSecond) {
      this.perSecond = checked(() -> Arrivals.requireRate(perSecond));
    }

    /**
     * Sets the coefficient of variation: the standard deviation of the gaps ÷ their mean.
     *
     * @param cv above 0, at most 100; 1 is a Poisson process
     */
    public GammaArrivals cv(double cv) {
      return new GammaArrivals(perSecond, checked(() -> new Gaps.Gamma(cv, 0)), null);
    }
  }

  private final double perSecond;

  private GammaArrivals(double perSecond, Gaps gaps, @Nullable Long seed) {
    super(gaps, seed);
    this.perSecond = perSecond;
  }

  static Rate of(double perSecond) {
    return new Rate(perSecond);
  }

  @Override
  GammaArrivals with(Gaps others, @Nullable Long otherSeed) {
    return new GammaArrivals(perSecond, others, otherSeed);
  }

  @Override
  Arrivals arrivals(Gaps seeded, long lengthNanos) {
    return new Arrivals.Steady(perSecond, seeded);
  }
}
