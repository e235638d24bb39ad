package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.github.gatlingllm.action.PlanPopulation;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Level;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.Phases;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * DSL for open-loop load in levels: users arrive at a rate, whether or not earlier ones were
 * served, and run the scenario once. Several rates are a sweep: one level after the other, each
 * starting when nothing of the one before is in flight.
 *
 * <p>Each level goes through the phases stabilize, measure and drain; figures come from measure
 * only.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 *
 * <pre>{@code
 * setUp(openLoop(1, 2, 4, 8, 16).poisson().seed(7).measure(60).inject(chat)).protocols(engine);
 * }</pre>
 */
public final class OpenLoop {
  /** What becomes of a rate and a seed. */
  @FunctionalInterface
  private interface Shape {
    Arrivals at(double perSecond, long seed);
  }

  private static final Shape POISSON = Arrivals.Poisson::new;
  private static final Shape CONSTANT = (perSecond, seed) -> new Arrivals.Constant(perSecond);

  private final double[] perSecond;
  private final Shape shape;
  private final long seed;
  private final Phases phases;

  private OpenLoop(double[] perSecond, Shape shape, long seed, Phases phases) {
    this.perSecond = perSecond;
    this.shape = shape;
    this.seed = seed;
    this.phases = phases;
    plan();
  }

  /**
   * A level per rate: Poisson arrivals with a random seed, no stabilizing, 30 s of measuring, at
   * most 30 s of drain.
   *
   * @param perSecond users per second, each above 0 and there once
   * @throws IllegalArgumentException if they are not
   */
  public static OpenLoop of(double... perSecond) {
    return new OpenLoop(
        perSecond.clone(), POISSON, new SplittableRandom().nextLong(), Phases.DEFAULT);
  }

  /** Users arrive as a Poisson process, the default: independent, exponential gaps. */
  public OpenLoop poisson() {
    return new OpenLoop(perSecond, POISSON, seed, phases);
  }

  /** Users arrive evenly spaced. */
  public OpenLoop constant() {
    return new OpenLoop(perSecond, CONSTANT, seed, phases);
  }

  /**
   * Users arrive with gamma-distributed gaps.
   *
   * @param cv standard deviation of the gaps ÷ their mean: above 0, at most 100; 1 is Poisson
   */
  public OpenLoop gamma(double cv) {
    return new OpenLoop(perSecond, (rate, s) -> new Arrivals.Gamma(rate, cv, s), seed, phases);
  }

  /** Pins the arrival times: the same seed plans the same ones. Without it they are random. */
  public OpenLoop seed(long seed) {
    return new OpenLoop(perSecond, shape, seed, phases);
  }

  /**
   * Lets each level settle before measuring.
   *
   * @param seconds 0 (the default) or more
   */
  public OpenLoop stabilize(long seconds) {
    return stabilize(Duration.ofSeconds(seconds));
  }

  /** As {@link #stabilize(long)}. */
  public OpenLoop stabilize(Duration duration) {
    return new OpenLoop(perSecond, shape, seed, phases.withStabilize(duration.toNanos()));
  }

  /**
   * Measures each level for this time. Takes the place of {@link #requests}.
   *
   * @param seconds above 0; 30 by default
   */
  public OpenLoop measure(long seconds) {
    return measure(Duration.ofSeconds(seconds));
  }

  /** As {@link #measure(long)}. */
  public OpenLoop measure(Duration duration) {
    return new OpenLoop(perSecond, shape, seed, phases.withMeasure(duration.toNanos()));
  }

  /**
   * At the end of each level, waits for pending users for at most this time.
   *
   * @param seconds 0 or more; 30 by default
   */
  public OpenLoop drain(long seconds) {
    return drain(Duration.ofSeconds(seconds));
  }

  /** As {@link #drain(long)}. */
  public OpenLoop drain(Duration duration) {
    return new OpenLoop(perSecond, shape, seed, phases.withDrain(duration.toNanos()));
  }

  /**
   * Measures each level for so many users, until the last of them has ended. Takes the place of
   * {@link #measure(long)}.
   *
   * @param count 1 or more
   */
  public OpenLoop requests(int count) {
    return new OpenLoop(perSecond, shape, seed, phases.withRequests(count));
  }

  /** The levels, their phases and arrivals. */
  public LoadPlan plan() {
    return new LoadPlan(
        IntStream.range(0, perSecond.length)
            .<Level>mapToObj(
                i ->
                    // A seed of its own for each level, else all would be one pattern, stretched.
                    new Level.Open(perSecond[i], shape.at(perSecond[i], seed + i), phases))
            .toList());
  }

  /** Puts the scenario under this load, for {@code setUp}. */
  public PopulationBuilder inject(ScenarioBuilder scenario) {
    return PlanPopulation.of(plan(), scenario);
  }
}
