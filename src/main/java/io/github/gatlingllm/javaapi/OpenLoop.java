package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.LoadLevel.Open;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.Phases;
import io.github.gatlingllm.load.StopRule;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * DSL for open-loop load in levels: users arrive at a rate, whether or not earlier ones were
 * served, and run the scenario once. Several rates are a sweep: one level after the other, each
 * starting when nothing of the one before is in flight.
 *
 * <p>Each level goes through the phases stabilize, measure, cooldown and drain; figures come from
 * measure only.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 *
 * <pre>{@code
 * setUp(openLoop(1, 2, 4, 8, 16).poisson().seed(7).measure(60).inject(chat)).protocols(engine);
 * }</pre>
 */
public final class OpenLoop extends PhasedLoad<OpenLoop> {
  private final List<Open> levels;
  private final Gaps gaps;
  private final long seed;
  private final LoadPlan.Sweep plan;

  /**
   * @param levels what is offered, in whatever gaps and phases
   * @param gaps of all levels
   * @param seed of the first level
   */
  private OpenLoop(List<Open> levels, Gaps gaps, long seed, Phases phases) {
    super(phases);
    this.levels = levels;
    this.gaps = gaps;
    this.seed = seed;
    this.plan = LoadPlan.Sweep.open(levels, gaps, seed, phases);
  }

  private static OpenLoop of(List<Open> levels, Phases phases) {
    return new OpenLoop(levels, new Gaps.Exponential(0), Seeds.random(), phases);
  }

  private static OpenLoop of(Open level) {
    return of(List.of(level), level.phases());
  }

  /**
   * A level per rate: Poisson arrivals with a random seed, measuring once it has settled, 30 s of
   * it, a cooldown, at most 30 s of drain.
   *
   * @param perSecond users per second, each above 0 and there once
   * @throws IllegalArgumentException if they are not
   */
  public static OpenLoop of(double... perSecond) {
    return checked(
        () -> of(Arrays.stream(perSecond).mapToObj(Open::steady).toList(), Phases.DEFAULT));
  }

  /**
   * One level, {@code curve}, whose rate follows a curve and which measures all of it.
   *
   * @param usersPerSecond 0 or more, by the time since the start
   * @throws IllegalArgumentException if the curve is negative or no number somewhere
   */
  public static OpenLoop of(ToDoubleFunction<Duration> usersPerSecond, Duration length) {
    return checked(() -> of(Open.curve(CurveArrivals.rate(usersPerSecond), length.toNanos())));
  }

  /** One level, {@code trace}, that replays recorded traffic and measures all of it. */
  public static OpenLoop of(Arrivals.Replay replay) {
    return checked(() -> of(Open.replay(replay)));
  }

  @Override
  OpenLoop with(Phases others) {
    return new OpenLoop(levels, gaps, seed, others);
  }

  private OpenLoop with(String step, Gaps others, long otherSeed) {
    if (levels.get(0).arrivals() instanceof Arrivals.Replay) {
      throw InvalidSimulation.because(
          step + " has no effect: a trace says itself when users arrive; leave it out");
    }
    return new OpenLoop(levels, others, otherSeed, phases);
  }

  /** Users arrive as a Poisson process, the default: independent, exponential gaps. */
  public OpenLoop poisson() {
    return with("poisson()", new Gaps.Exponential(0), seed);
  }

  /** Users arrive evenly spaced. */
  public OpenLoop constant() {
    return with("constant()", new Gaps.Equal(), seed);
  }

  /**
   * Users arrive with gamma-distributed gaps.
   *
   * @param cv standard deviation of the gaps ÷ their mean: above 0, at most 100; 1 is Poisson
   */
  public OpenLoop gamma(double cv) {
    return with("gamma(" + cv + ")", checked(() -> new Gaps.Gamma(cv, 0)), seed);
  }

  /** Pins the arrival times: the same seed plans the same ones. Without it they are random. */
  public OpenLoop seed(long seed) {
    return with("seed(" + seed + ")", gaps, seed);
  }

  /** The levels, their phases and arrivals. */
  @Override
  public LoadPlan.Sweep plan() {
    return plan;
  }

  /**
   * Ends the sweep after the first level that breaks one of these rules; put it last.
   *
   * <pre>{@code
   * .stopWhen(sloBelow(50), errorsAbove(10), overSaturated())
   * }</pre>
   */
  public StoppedSweep stopWhen(StopRule... rules) {
    return StoppedSweep.of(plan, rules);
  }
}
