package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Gaps;
import java.time.Duration;

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
public final class GammaArrivals {

  /** What is left to say of {@code gammaUsersPerSec(25)}: how bursty. */
  public static final class Rate {
    private final double perSecond;

    private Rate(double perSecond) {
      this.perSecond = Arrivals.requireRate(perSecond);
    }

    /**
     * Standard deviation of the gaps ÷ their mean.
     *
     * @param cv above 0, at most 100; 1 is Poisson
     */
    public GammaArrivals cv(double cv) {
      return new GammaArrivals(perSecond, cv, Seeds.random());
    }
  }

  private final double perSecond;
  private final double cv;
  private final long seed;

  private GammaArrivals(double perSecond, double cv, long seed) {
    this.perSecond = perSecond;
    this.cv = Gaps.requireCv(cv);
    this.seed = seed;
  }

  /** Users arriving in bursts; see {@link Rate#cv}. */
  static Rate of(double perSecond) {
    return new Rate(perSecond);
  }

  /** Pins the arrival times: the same seed plans the same ones. Without it they are random. */
  public GammaArrivals seed(long seed) {
    return new GammaArrivals(perSecond, cv, seed);
  }

  /**
   * Ends the step.
   *
   * @param seconds length of the step in seconds, above 0
   */
  public OpenInjectionStep during(long seconds) {
    return during(Duration.ofSeconds(seconds));
  }

  /** As {@link #during(long)}. */
  public OpenInjectionStep during(Duration duration) {
    return Steps.during(new Arrivals.Gamma(perSecond, cv, seed), duration);
  }
}
