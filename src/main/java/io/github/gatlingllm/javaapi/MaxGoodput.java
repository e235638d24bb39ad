package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;

/**
 * DSL for a search for the highest rate of users, arriving as a Poisson process, at which the
 * protocol's SLO holds. The search doubles the rate until the SLO fails, then bisects. Finally it
 * measures the highest rate that holds and the lowest rate that fails again, with other arrivals.
 *
 * <p>Each level lasts {@link #measure}, or up to eight times as long if its result could be chance;
 * a search 30 to 40 times this duration. A level should last 30 times as long as a request.
 */
public final class MaxGoodput extends PhasedLoad<MaxGoodput> {
  private final double startingAt;
  private final double precision;
  private final long seed;
  private final LoadPlan plan;

  private MaxGoodput(double startingAt, double precision, long seed, Phases phases) {
    super(phases);
    this.startingAt = startingAt;
    this.precision = precision;
    this.seed = seed;
    this.plan = checked(() -> LoadPlan.search(startingAt, precision, seed, phases));
  }

  /** From 1 user per second, precision 5 %, 30 s per level, drain of at most 30 s, random seed. */
  static MaxGoodput start() {
    return new MaxGoodput(1, 0.05, Seeds.random(), Phases.DEFAULT);
  }

  @Override
  MaxGoodput with(Phases others) {
    return new MaxGoodput(startingAt, precision, seed, others);
  }

  /** The rate of the first level in users per second, above 0; 1 by default. */
  public MaxGoodput startingAt(double usersPerSecond) {
    return new MaxGoodput(usersPerSecond, precision, seed, phases);
  }

  /**
   * The largest error of the rate that the search finds ÷ the true rate, above 0 and below 1; 0.05
   * by default.
   */
  public MaxGoodput precision(double share) {
    return new MaxGoodput(startingAt, share, seed, phases);
  }

  /** Pins the arrival times: the same seed gives the same times. By default the seed is random. */
  public MaxGoodput seed(long seed) {
    return new MaxGoodput(startingAt, precision, seed, phases);
  }

  @Override
  public LoadPlan plan() {
    return plan;
  }
}
