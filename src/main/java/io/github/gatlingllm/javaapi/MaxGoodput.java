package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.load.GoodputSearch;
import io.github.gatlingllm.load.LevelPlan;
import io.github.gatlingllm.load.Phases;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * DSL for a search: which is the highest rate of users, arriving as a Poisson process, at which the
 * protocol's SLO holds? It doubles the rate until the SLO fails, then bisects. Each level lasts
 * {@link #measure}, of which there are about ten.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 *
 * <pre>{@code
 * setUp(maxGoodput().startingAt(2).precision(0.05).measure(60).inject(chat))
 *     .protocols(engine.slo(slo().ttft(ofMillis(200)).percentile(99)));
 * }</pre>
 */
public final class MaxGoodput implements LoadProfile {
  private final GoodputSearch search;

  private MaxGoodput(GoodputSearch search) {
    this.search = search;
  }

  /** From 1 user per second, to 5 %, 30 s per level, at most 30 s of drain, with a random seed. */
  static MaxGoodput start() {
    return new MaxGoodput(
        new GoodputSearch(1, 0.05, new SplittableRandom().nextLong(), Phases.DEFAULT));
  }

  /**
   * The rate of the first level.
   *
   * @param usersPerSecond above 0
   */
  public MaxGoodput startingAt(double usersPerSecond) {
    return new MaxGoodput(
        new GoodputSearch(usersPerSecond, search.precision(), search.seed(), search.phases()));
  }

  /**
   * Ends when the lowest rate that fails is at most this share above the highest that holds.
   *
   * @param share above 0 and below 1, e.g. 0.05
   */
  public MaxGoodput precision(double share) {
    return new MaxGoodput(
        new GoodputSearch(search.startingAt(), share, search.seed(), search.phases()));
  }

  /** Pins the arrival times: the same seed plans the same ones. */
  public MaxGoodput seed(long seed) {
    return new MaxGoodput(
        new GoodputSearch(search.startingAt(), search.precision(), seed, search.phases()));
  }

  /** Lets each level settle for so many seconds before measuring; 0 by default. */
  public MaxGoodput stabilize(long seconds) {
    return stabilize(Duration.ofSeconds(seconds));
  }

  /** As {@link #stabilize(long)}. */
  public MaxGoodput stabilize(Duration duration) {
    return with(search.phases().withStabilize(duration.toNanos()));
  }

  /** Measures each level for so many seconds; 30 by default. */
  public MaxGoodput measure(long seconds) {
    return measure(Duration.ofSeconds(seconds));
  }

  /** As {@link #measure(long)}. */
  public MaxGoodput measure(Duration duration) {
    return with(search.phases().withMeasure(duration.toNanos()));
  }

  /** Measures each level for so many users. Takes the place of {@link #measure(long)}. */
  public MaxGoodput requests(int count) {
    return with(search.phases().withRequests(count));
  }

  /** Waits for pending users of a level for at most so many seconds; 30 by default. */
  public MaxGoodput drain(long seconds) {
    return drain(Duration.ofSeconds(seconds));
  }

  /** As {@link #drain(long)}. */
  public MaxGoodput drain(Duration duration) {
    return with(search.phases().withDrain(duration.toNanos()));
  }

  private MaxGoodput with(Phases phases) {
    return new MaxGoodput(
        new GoodputSearch(search.startingAt(), search.precision(), search.seed(), phases));
  }

  /** The search. */
  @Override
  public LevelPlan plan() {
    return search;
  }
}
