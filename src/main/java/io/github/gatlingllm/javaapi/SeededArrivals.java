package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LoadInjection;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.Trace;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An open injection step whose arrival times are drawn from a seeded random process. */
public abstract sealed class SeededArrivals<T extends SeededArrivals<T>>
    permits PoissonArrivals, GammaArrivals, CurveArrivals {
  final Gaps gaps;
  final @Nullable Long seed;

  /**
   * @param gaps the distribution of the gaps; its seed is replaced
   * @param seed null if each step draws its own
   */
  SeededArrivals(Gaps gaps, @Nullable Long seed) {
    this.gaps = gaps;
    this.seed = seed;
  }

  abstract T with(Gaps others, @Nullable Long otherSeed);

  /** The arrival process of a step of this length. */
  abstract Arrivals arrivals(Gaps seeded, long lengthNanos);

  /** Pins the arrival times: the same seed gives the same times. By default the seed is random. */
  public final T seed(long pinned) {
    return with(gaps, pinned);
  }

  /**
   * Sets the length of the step, which completes it.
   *
   * @param seconds above 0
   */
  public final OpenInjectionStep during(long seconds) {
    return during(Duration.ofSeconds(seconds));
  }

  public final OpenInjectionStep during(Duration duration) {
    if (duration.isZero() || duration.isNegative()) {
      throw InvalidSimulation.because(
          "during(" + duration + ") starts no user; expected more than 0 s");
    }
    Gaps seeded = gaps.withSeed(seed == null ? Seeds.random() : seed);
    return checked(
        () -> LoadInjection.step(arrivals(seeded, duration.toNanos()), duration.toNanos()));
  }

  static OpenInjectionStep replay(String file, double speed) {
    Arrivals.Replay replay = checked(() -> new Arrivals.Replay(Trace.read(Path.of(file)), speed));
    return LoadInjection.step(replay, replay.lengthNanos());
  }
}
