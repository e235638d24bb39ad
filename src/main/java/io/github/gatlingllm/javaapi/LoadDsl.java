package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.gatling.javaapi.core.PopulationBuilder;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LoadInjection;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.load.VaryingRate;
import java.time.Duration;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import java.util.function.ToDoubleFunction;

/** The part of {@link LlmDsl} that defines the load; import its members from there. */
public abstract class LoadDsl {

  LoadDsl() {}

  /**
   * Users that arrive as a Poisson process of this mean rate, above 0: gaps are independent and
   * exponential, and the same seed gives the same gaps. {@code
   * chat.injectOpen(poissonUsersPerSec(25).seed(42).during(60))}.
   */
  public static SeededArrivals poissonUsersPerSec(double rate) {
    return SeededArrivals.steady(rate, Gaps.poisson(0));
  }

  /**
   * Users that arrive with gamma-distributed gaps at this mean rate, above 0, in bursts if {@code
   * cv} is above 1: {@code gammaUsersPerSec(25).cv(1.4).seed(42).during(60)}.
   */
  public static SeededArrivals gammaUsersPerSec(double rate) {
    return poissonUsersPerSec(rate);
  }

  /**
   * Users that arrive as a Poisson process whose rate per second is a function of the time since
   * the start of the step; 0 or more. The curve is sampled every 10 ms and interpolated linearly.
   */
  public static SeededArrivals usersPerSec(ToDoubleFunction<Duration> rate) {
    LongToDoubleFunction curve = curve(rate);
    return new SeededArrivals(
        (gaps, length) -> new VaryingRate(curve, length, gaps), Gaps.poisson(0), null);
  }

  static LongToDoubleFunction curve(ToDoubleFunction<Duration> usersPerSecond) {
    return nanos -> usersPerSecond.applyAsDouble(Duration.ofNanos(nanos));
  }

  /**
   * Users that arrive as in a trace of recorded traffic, in order of time: CSV with a header line
   * and a column {@code timestamp} (Azure, BurstGPT), or JSONL (Mooncake). If the trace has token
   * counts, each user has those of its request as the session attributes {@code inputTokens} and
   * {@code outputTokens}.
   *
   * @param file path or class path resource; {@code @1s} or {@code @1ms} after it sets the unit of
   *     time stamps that are numbers, which else all lines together decide
   * @param speed above 0; 2 replays the trace twice as fast
   */
  public static OpenInjectionStep replay(String file, double speed) {
    Trace replay = checked(() -> Trace.read(file, speed));
    return LoadInjection.step(replay, replay.lengthNanos());
  }

  /** As {@link #replay(String, double)}, at the recorded speed. */
  public static OpenInjectionStep replay(String file) {
    return replay(file, 1);
  }

  /**
   * Closed-loop load levels, one per number of users, each 1 or more: each user starts the scenario
   * again as soon as it has ended. {@code closedLoop(1, 2,
   * 4).stabilize(10).measure(60).drain(20).inject(chat)}.
   *
   * <p>By default users start over an automatic fill, 30 s are measured once the load has settled,
   * then follow a cooldown and at most 30 s of drain.
   */
  public static ClosedLoop closedLoop(int... users) {
    return ClosedLoop.of(users);
  }

  /**
   * Open-loop load levels, one per rate, each above 0: users arrive at a rate, whether or not
   * earlier users have been served. {@code openLoop(1, 2,
   * 4).poisson().seed(7).measure(60).inject(chat)}.
   *
   * <p>By default arrivals are a Poisson process with a random seed, and phases are as in {@link
   * #closedLoop}, without a fill.
   */
  public static OpenLoop openLoop(double... usersPerSecond) {
    return OpenLoop.of(usersPerSecond);
  }

  /**
   * One open-loop load level, called {@code curve}, of this length, whose rate per second, 0 or
   * more, is a function of the time since its start: {@code openLoop(t -> 5 + t.toMillis() /
   * 2000.0, ofSeconds(60))}. All of it is measured.
   */
  public static OpenLoop openLoop(ToDoubleFunction<Duration> usersPerSecond, Duration length) {
    return OpenLoop.of(usersPerSecond, length);
  }

  /**
   * Load levels of batch trials, one per number of users: all users of a trial start together, and
   * the next trial starts when the slowest user has ended. {@code
   * batch(8).trials(10).inject(chat)}.
   */
  public static Batch batch(int... users) {
    return Batch.of(users);
  }

  /**
   * A search for the highest rate of users at which the SLO holds: {@code
   * maxGoodput().startingAt(2).measure(60).inject(chat)}.
   */
  public static MaxGoodput maxGoodput() {
    return MaxGoodput.start(false);
  }

  /**
   * A search for the highest number of users of a closed loop at which the SLO holds: {@code
   * maxUsers().startingAt(8).measure(60).inject(chat)}.
   */
  public static MaxGoodput maxUsers() {
    return MaxGoodput.start(true);
  }

  /**
   * Ends a sweep after a load level at which less than this percentage of the requests met the SLO;
   * above 0 and at most 100.
   */
  public static StopRule sloBelow(double percent) {
    return checked(() -> StopRule.sloBelow(percent));
  }

  /**
   * Ends a sweep after a load level at which more than this percentage of the requests failed; 0 to
   * 100.
   */
  public static StopRule errorsAbove(double percent) {
    return checked(() -> StopRule.errorsAbove(percent));
  }

  /**
   * Ends a sweep within a load level as soon as more than this number of its requests (0 or more),
   * in all phases, have failed. No new requests are sent, and requests in flight are drained.
   */
  public static StopRule errorCountAbove(long count) {
    return checked(() -> StopRule.errorCountAbove(count));
  }

  /**
   * Ends a sweep within a load level as soon as more than this number of requests (1 or more) have
   * failed in a row, without a successful one between them. Applies to every sweep and search, with
   * 100; in a sweep it can be set here or turned off with {@link #never()}.
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

  /**
   * Measures classes of traffic, a scenario each: alone, one after the other, and all together, in
   * a random order in each repeat of their loads, which have the same duration and repeats. The
   * report then states what each class does to the others: {@code
   * setUp(aloneAndTogether(openLoop(2).repeats(5).inject(chat),
   * closedLoop(8).repeats(5).inject(batch)))}.
   */
  public static List<PopulationBuilder> aloneAndTogether(PopulationBuilder... populations) {
    return LoadInjection.inTurns(List.of(populations), true, Seeds.random());
  }
}
