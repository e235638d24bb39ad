package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.GoodputSearch;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.Phases;

/**
 * DSL for a search: which is the highest rate of users, arriving as a Poisson process, at which the
 * protocol's SLO holds? It doubles the rate until the SLO fails, then bisects, and measures the
 * highest rate that holds and the lowest that fails again, with other arrivals. Each level lasts
 * {@link #measure}, up to eight times as long where chance leaves it undecided: 15 to 20 levels, 30
 * to 40 times that time in all. Levels should last 30 times as long as a request.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 *
 * <pre>{@code
 * setUp(maxGoodput().startingAt(2).precision(0.05).measure(60).inject(chat))
 *     .protocols(engine.slo(slo().ttft(ofMillis(200)).percentile(99)));
 * }</pre>
 */
public final class MaxGoodput extends PhasedLoad<MaxGoodput> {
  private final GoodputSearch search;

  private MaxGoodput(GoodputSearch search) {
    super(search.phases());
    this.search = search;
  }

  /** From 1 user per second, to 5 %, 30 s per level, at most 30 s of drain, with a random seed. */
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
   * The rate of the first level.
   *
   * @param usersPerSecond above 0
   */
  public MaxGoodput startingAt(double usersPerSecond) {
    return of(usersPerSecond, search.precision(), search.seed(), phases);
  }

  /**
   * How far the rate that is found may be from the truth.
   *
   * @param share of the truth, above 0 and below 1; 0.05 by default
   */
  public MaxGoodput precision(double share) {
    return of(search.startingAt(), share, search.seed(), phases);
  }

  /** Pins the arrival times: the same seed plans the same ones. */
  public MaxGoodput seed(long seed) {
    return of(search.startingAt(), search.precision(), seed, phases);
  }

  /** The search. */
  @Override
  public LoadPlan plan() {
    return search;
  }
}
