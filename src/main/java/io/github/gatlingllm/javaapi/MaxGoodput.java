package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.GoodputSearch;
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
  private final GoodputSearch search;

  private MaxGoodput(GoodputSearch search) {
    super(search.phases());
    this.search = search;
  }

  /** From 1 user per second, precision 5 %, 30 s per level, drain of at most 30 s, random seed. */
  static MaxGoodput start() {
    return new MaxGoodput(new GoodputSearch(1, 0.05, Seeds.random(), Phases.DEFAULT));
  }

  private static MaxGoodput of(double startingAt, double precision, long seed, Phases phases) {
    return checked(() -> new MaxGoodput(new GoodputSearch(startingAt, precision, seed, phases)));
  }

  @Override
  MaxGoodput with(Phases others) {
    return of(search.startingAt(), search.precision(), search.seed(), others);
  }

  /**
   * Sets the rate of the first level.
   *
   * @param usersPerSecond above 0; 1 by default
   */
  public MaxGoodput startingAt(double usersPerSecond) {
    return of(usersPerSecond, search.precision(), search.seed(), phases);
  }

  /**
   * Sets the largest error of the rate that the search finds.
   *
   * @param share the error ÷ the true rate, above 0 and below 1; 0.05 by default
   */
  public MaxGoodput precision(double share) {
    return of(search.startingAt(), share, search.seed(), phases);
  }

  /** Pins the arrival times: the same seed gives the same times. By default the seed is random. */
  public MaxGoodput seed(long seed) {
    return of(search.startingAt(), search.precision(), seed, phases);
  }

  /** For internal use only: the search. */
  @Override
  public LoadPlan plan() {
    return search;
  }
}
