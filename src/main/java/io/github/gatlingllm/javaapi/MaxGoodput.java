package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;

/**
 * DSL for a search for the highest load at which the protocol's SLO holds: a rate of users,
 * arriving as a Poisson process, or a number of users of a closed loop. The search doubles the load
 * until the SLO fails, then bisects. Finally it measures the highest load that holds and the lowest
 * load that fails again, with other arrivals.
 *
 * <p>Each level lasts {@link #measure}, or up to eight times as long if its result could be chance;
 * a search 30 to 40 times this duration. A level should last 30 times as long as a request.
 */
public final class MaxGoodput extends PhasedLoad<MaxGoodput> {
  private final boolean isOfUsers;
  private final double startingAt;
  private final double precision;
  private final long seed;
  private final LoadPlan plan;

  private MaxGoodput(
      boolean isOfUsers, double startingAt, double precision, long seed, Phases phases) {
    super(phases);
    this.isOfUsers = isOfUsers;
    this.startingAt = startingAt;
    this.precision = precision;
    this.seed = seed;
    this.plan =
        checked(
            () ->
                isOfUsers
                    ? LoadPlan.searchUsers(startingAt, precision, phases)
                    : LoadPlan.search(startingAt, precision, seed, phases));
  }

  /**
   * From 1 user, or 1 per second; precision 5 %, 30 s per level, drain of at most 30 s, random
   * seed.
   */
  static MaxGoodput start(boolean isOfUsers) {
    return new MaxGoodput(isOfUsers, 1, 0.05, Seeds.random(), Phases.DEFAULT);
  }

  @Override
  MaxGoodput with(Phases others) {
    return new MaxGoodput(isOfUsers, startingAt, precision, seed, others);
  }

  /** The load of the first level: users per second above 0, or a number of users; 1 by default. */
  public MaxGoodput startingAt(double load) {
    return new MaxGoodput(isOfUsers, load, precision, seed, phases);
  }

  /**
   * The largest error of the load that the search finds ÷ the true load, above 0 and below 1; 0.05
   * by default.
   */
  public MaxGoodput precision(double share) {
    return new MaxGoodput(isOfUsers, startingAt, share, seed, phases);
  }

  /** Pins the arrival times: the same seed gives the same times. By default the seed is random. */
  public MaxGoodput seed(long seed) {
    return new MaxGoodput(isOfUsers, startingAt, precision, seed, phases);
  }

  @Override
  public LoadPlan plan() {
    return plan;
  }
}
