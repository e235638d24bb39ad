package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.gatling.javaapi.core.PopulationBuilder;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.StopRule;
import java.time.Duration;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The part of {@link LlmDsl} that defines the load; import its members from there. */
public abstract class LoadDsl {

  LoadDsl() {}

  /**
   * Users that arrive as a Poisson process: gaps are independent and exponential, and the same seed
   * gives the same gaps.
   *
   * <pre>{@code
   * chat.injectOpen(poissonUsersPerSec(25).seed(42).during(60))
   * }</pre>
   *
   * @param rate mean number of users per second, above 0
   */
  public static PoissonArrivals poissonUsersPerSec(double rate) {
    return PoissonArrivals.of(rate);
  }

  /**
   * Users that arrive with gamma-distributed gaps: in bursts if {@code cv} is above 1.
   *
   * <pre>{@code
   * chat.injectOpen(gammaUsersPerSec(25).cv(1.4).seed(42).during(60))
   * }</pre>
   *
   * @param rate mean number of users per second, above 0
   */
  public static GammaArrivals.Rate gammaUsersPerSec(double rate) {
    return GammaArrivals.of(rate);
  }

  /**
   * Users that arrive as a Poisson process whose rate follows a curve.
   *
   * <pre>{@code
   * chat.injectOpen(usersPerSec(t -> 5 + t.toMillis() / 2000.0).seed(1).during(60))
   * }</pre>
   *
   * @param rate users per second, 0 or more, as a function of the time since the start of the step
   */
  public static CurveArrivals usersPerSec(ToDoubleFunction<Duration> rate) {
    return CurveArrivals.of(rate);
  }

  /**
   * Users that arrive as in a trace of recorded traffic: CSV with a header line and a column {@code
   * timestamp} (Azure, BurstGPT), or JSONL (Mooncake). If the trace has token counts, each user has
   * those of its request as the session attributes {@code inputTokens} and {@code outputTokens}.
   *
   * @param file path or class path resource of a trace in order of time
   * @param speed above 0; 2 replays the trace twice as fast
   */
  public static OpenInjectionStep replay(String file, double speed) {
    return SeededArrivals.replay(file, speed);
  }

  /** As {@link #replay(String, double)}, at the recorded speed. */
  public static OpenInjectionStep replay(String file) {
    return SeededArrivals.replay(file, 1);
  }

  /**
   * Closed-loop load levels: each user starts the scenario again as soon as it has ended.
   *
   * <pre>{@code
   * setUp(closedLoop(1, 2, 4, 8).stabilize(10).measure(60).drain(20).inject(chat)).protocols(engine)
   * }</pre>
   *
   * <p>By default users start over an automatic fill, 30 s are measured once the load has settled,
   * then follow a cooldown and at most 30 s of drain.
   *
   * @param users numbers of users, one per load level; each 1 or more and no number twice
   */
  public static ClosedLoop closedLoop(int... users) {
    return ClosedLoop.of(users);
  }

  /**
   * Open-loop load levels: users arrive at a rate, whether or not earlier users have been served.
   *
   * <pre>{@code
   * setUp(openLoop(1, 2, 4).poisson().seed(7).measure(60).inject(chat)).protocols(engine)
   * }</pre>
   *
   * <p>By default arrivals are a Poisson process with a random seed, 30 s are measured once the
   * load has settled, then follow a cooldown and at most 30 s of drain.
   *
   * @param usersPerSecond rates, one per load level; each above 0 and no rate twice
   */
  public static OpenLoop openLoop(double... usersPerSecond) {
    return OpenLoop.of(usersPerSecond);
  }

  /**
   * One open-loop load level, called {@code curve}, whose rate follows a curve, all of it measured.
   *
   * <pre>{@code
   * setUp(openLoop(t -> 5 + t.toMillis() / 2000.0, ofSeconds(60)).seed(7).inject(chat))
   * }</pre>
   *
   * @param usersPerSecond users per second, 0 or more, as a function of the time since the start
   * @param length duration of the curve, above 0
   */
  public static OpenLoop openLoop(ToDoubleFunction<Duration> usersPerSecond, Duration length) {
    return OpenLoop.of(usersPerSecond, length);
  }

  /**
   * Load levels of batch trials: all users of a trial start at once, and the next trial starts when
   * the slowest user has ended.
   *
   * <pre>{@code
   * setUp(batch(8).trials(10).inject(chat)).protocols(engine)
   * }</pre>
   *
   * @param users numbers of users of a trial, one per load level
   */
  public static Batch batch(int... users) {
    return Batch.of(users);
  }

  /**
   * A search for the highest rate of users at which the SLO holds.
   *
   * <pre>{@code
   * setUp(maxGoodput().startingAt(2).measure(60).inject(chat)).protocols(engine)
   * }</pre>
   */
  public static MaxGoodput maxGoodput() {
    return MaxGoodput.start();
  }

  /**
   * Ends a sweep after a load level at which less than this share of the requests met the SLO.
   *
   * @param percent above 0, at most 100
   */
  public static StopRule sloBelow(double percent) {
    return checked(() -> StopRule.sloBelow(percent));
  }

  /**
   * Ends a sweep after a load level at which more than this share of the requests failed.
   *
   * @param percent 0 to 100
   */
  public static StopRule errorsAbove(double percent) {
    return checked(() -> StopRule.errorsAbove(percent));
  }

  /**
   * Ends a sweep within a load level as soon as more than this number of its requests, in all
   * phases, have failed. No new requests are sent, and requests in flight are drained.
   *
   * @param count 0 or more
   */
  public static StopRule errorCountAbove(long count) {
    return checked(() -> StopRule.errorCountAbove(count));
  }

  /**
   * Ends a sweep within a load level as soon as more than this number of requests have failed in a
   * row, without a successful one between them. Applies to every sweep and search, with 100; in a
   * sweep it can be set here or turned off with {@link #never()}.
   *
   * @param count 1 or more
   */
  public static StopRule errorsInARowAbove(long count) {
    return checked(() -> StopRule.errorsInARowAbove(count));
  }

  /** Runs all load levels, even if the server no longer answers. */
  public static StopRule never() {
    return StopRule.NEVER;
  }

  /**
   * Ends a sweep of rates after a load level at which under 90 % of the arrivals were served in the
   * second half of the measure phase.
   */
  public static StopRule overSaturated() {
    return StopRule.OVER_SATURATED;
  }

  /**
   * Loads several targets in turn, see {@link LoadProfile#target}: each one when all users of the
   * one before have ended.
   */
  public static PopulationBuilder oneAfterTheOther(PopulationBuilder... populations) {
    return oneAfterTheOther(List.of(populations));
  }

  public static PopulationBuilder oneAfterTheOther(List<PopulationBuilder> populations) {
    if (populations.isEmpty()) {
      throw InvalidSimulation.because("oneAfterTheOther(): expected at least one population");
    }
    PopulationBuilder first = populations.get(0);
    return populations.size() == 1
        ? first
        : first.andThen(oneAfterTheOther(populations.subList(1, populations.size())));
  }

  /**
   * Loads several targets at the same time. Conditions that change over time are the same for all
   * targets, but the targets share the load generator.
   */
  public static List<PopulationBuilder> sideBySide(PopulationBuilder... populations) {
    return List.of(populations);
  }
}
