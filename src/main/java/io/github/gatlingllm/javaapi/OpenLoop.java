package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.LoadLevel.Open;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * DSL for open-loop load: users arrive at a given rate, whether or not earlier users have been
 * served, and run the scenario once. A level goes through the phases stabilize, measure, cooldown
 * and drain.
 */
public final class OpenLoop extends PhasedLoad<OpenLoop> implements LoadProfile.Levels {
  private final List<Open> levels;
  private final Gaps gaps;
  private final long seed;
  private final LoadPlan.Sweep plan;

  /** The gaps and phases of the levels are replaced; the seed is that of the first level. */
  private OpenLoop(List<Open> levels, Gaps gaps, long seed, Phases phases) {
    super(phases);
    this.levels = levels;
    this.gaps = gaps;
    this.seed = seed;
    this.plan = LoadPlan.Sweep.open(levels, gaps, seed, phases);
  }

  private static OpenLoop of(List<Open> levels, Phases phases) {
    return new OpenLoop(levels, Gaps.poisson(0), Seeds.random(), phases);
  }

  static OpenLoop of(double... perSecond) {
    return checked(
        () -> of(Arrays.stream(perSecond).mapToObj(Open::steady).toList(), Phases.DEFAULT));
  }

  static OpenLoop of(ToDoubleFunction<Duration> usersPerSecond, Duration length) {
    return checked(
        () -> {
          Open curve = Open.curve(LoadDsl.curve(usersPerSecond), length.toNanos());
          return of(List.of(curve), curve.phases());
        });
  }

  @Override
  OpenLoop with(Phases others) {
    return new OpenLoop(levels, gaps, seed, others);
  }

  private OpenLoop with(Gaps others, long otherSeed) {
    return new OpenLoop(levels, others, otherSeed, phases);
  }

  /** Users arrive as a Poisson process, with independent exponential gaps: the default. */
  public OpenLoop poisson() {
    return with(Gaps.poisson(0), seed);
  }

  /** Users arrive at equal gaps. */
  public OpenLoop constant() {
    return with(Gaps.EQUAL, seed);
  }

  /**
   * Users arrive with gamma-distributed gaps, whose standard deviation ÷ mean is {@code cv}: above
   * 0, at most 100; 1 is Poisson.
   */
  public OpenLoop gamma(double cv) {
    return with(checked(() -> Gaps.gamma(cv, 0)), seed);
  }

  /** Pins the arrival times: the same seed gives the same times. By default the seed is random. */
  public OpenLoop seed(long seed) {
    return with(gaps, seed);
  }

  /** The load levels, their phases and arrivals. */
  @Override
  public LoadPlan.Sweep plan() {
    return plan;
  }
}
