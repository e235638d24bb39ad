package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.github.gatlingllm.action.ArrivalStep;
import io.github.gatlingllm.load.Arrivals;
import java.time.Duration;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * DSL for an open injection step that starts users as a seeded Poisson process: gaps are
 * independent and exponentially distributed, and the number of users varies as real traffic's does.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 *
 * <pre>{@code
 * setUp(chat.injectOpen(poissonUsersPerSec(25).seed(42).during(60))).protocols(engine);
 * }</pre>
 */
public final class PoissonArrivals {
  private final double perSecond;
  private final @Nullable Long seed;

  private PoissonArrivals(double perSecond, @Nullable Long seed) {
    this.perSecond = Arrivals.requireRate(perSecond);
    this.seed = seed;
  }

  /**
   * Users arriving at random.
   *
   * @param perSecond mean number of users per second, above 0
   * @throws IllegalArgumentException if it is not
   */
  public static PoissonArrivals of(double perSecond) {
    return new PoissonArrivals(perSecond, null);
  }

  /** Pins the arrival times: the same seed plans the same ones. Without it they are random. */
  public PoissonArrivals seed(long seed) {
    return new PoissonArrivals(perSecond, seed);
  }

  /**
   * Ends the step.
   *
   * @param seconds length of the step in seconds, above 0
   */
  public OpenInjectionStep during(long seconds) {
    return during(Duration.ofSeconds(seconds));
  }

  /**
   * Ends the step.
   *
   * @param duration length of the step, above 0
   */
  public OpenInjectionStep during(Duration duration) {
    if (duration.isZero() || duration.isNegative()) {
      throw new IllegalArgumentException(
          "during(" + duration + ") starts no user; expected more than 0 s");
    }
    long drawn = seed == null ? new SplittableRandom().nextLong() : seed;
    return ArrivalStep.of(new Arrivals.Poisson(perSecond, drawn), duration.toNanos());
  }
}
