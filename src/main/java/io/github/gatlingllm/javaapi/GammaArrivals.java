package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import org.jspecify.annotations.Nullable;

/**
 * DSL for an open injection step that starts users with gamma-distributed gaps: burstier than a
 * Poisson process where the coefficient of variation is above 1, evener where it is below.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 *
 * <pre>{@code
 * setUp(chat.injectOpen(gammaUsersPerSec(25).cv(1.4).seed(42).during(60))).protocols(engine);
 * }</pre>
 */
public final class GammaArrivals extends SeededArrivals<GammaArrivals> {

  /** What is left to say of {@code gammaUsersPerSec(25)}: how bursty. */
  public static final class Rate {
    private final double perSecond;

    private Rate(double perSecond) {
      this.perSecond = checked(() -> Arrivals.requireRate(perSecond));
    }

    /**
     * Standard deviation of the gaps ÷ their mean.
     *
     * @param cv above 0, at most 100; 1 is Poisson
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

  /** Users arriving in bursts; see {@link Rate#cv}. */
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
