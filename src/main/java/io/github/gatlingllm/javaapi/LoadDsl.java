package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.gatling.javaapi.core.PopulationBuilder;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.StopRule;
import java.time.Duration;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The part of {@link LlmDsl} that says how many users come, and when; import it from there. */
public abstract class LoadDsl {

  LoadDsl() {}

  /**
   * Users that arrive as a Poisson process: independent exponential gaps, the same ones for the
   * same seed.
   *
   * <pre>{@code
   * chat.injectOpen(poissonUsersPerSec(25).seed(42).during(60))
   * }</pre>
   *
   * @param rate mean users per second, above 0
   */
  public static PoissonArrivals poissonUsersPerSec(double rate) {
    return PoissonArrivals.of(rate);
  }

  /**
   * Users that arrive with gamma-distributed gaps, in bursts where cv is above 1.
   *
   * <pre>{@code
   * chat.injectOpen(gammaUsersPerSec(25).cv(1.4).seed(42).during(60))
   * }</pre>
   *
   * @param rate mean users per second, above 0
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
   * @param rate users per second, 0 or more, by the time since the start of the step
   */
  public static CurveArrivals usersPerSec(ToDoubleFunction<Duration> rate) {
    return CurveArrivals.of(rate);
  }

  /**
   * Users that arrive as recorded traffic did: CSV with a header that names a {@code timestamp}
   * (Azure, BurstGPT), or JSONL (Mooncake). The first arrives at once. Where the trace has token
   * counts, each user has its own as the attributes {@code inputTokens} and {@code outputTokens}.
   *
   * <pre>{@code
   * chat.injectOpen(replay("azure-trace.csv", 2.0))
   * }</pre>
   *
   * @param file path of a trace in order of time, else its name on the class path
   * @param speed 2 replays it twice as fast
   */
  public static OpenInjectionStep replay(String file, double speed) {
    return SeededArrivals.replay(file, speed);
  }

  /** As {@link #replay(String, double)}, as fast as it was recorded. */
  public static OpenInjectionStep replay(String file) {
    return SeededArrivals.replay(file, 1);
  }

  /**
   * Load levels of so many users, each of which begins again as soon as it has ended.
   *
   * <pre>{@code
   * setUp(closedLoop(1, 2, 4, 8).stabilize(10).measure(60).drain(20).inject(chat)).protocols(engine)
   * }</pre>
   *
   * @param users users in flight, one number per level
   */
  public static ClosedLoop closedLoop(int... users) {
    return ClosedLoop.of(users);
  }

  /**
   * Load levels of so many users per second, whether or not earlier ones were served.
   *
   * <pre>{@code
   * setUp(openLoop(1, 2, 4).poisson().seed(7).measure(60).inject(chat)).protocols(engine)
   * }</pre>
   *
   * @param usersPerSecond one number per level
   */
  public static OpenLoop openLoop(double... usersPerSecond) {
    return OpenLoop.of(usersPerSecond);
  }

  /**
   * One load level whose rate follows a curve.
   *
   * <pre>{@code
   * setUp(openLoop(t -> 5 + t.toMillis() / 2000.0, ofSeconds(60)).seed(7).inject(chat))
   * }</pre>
   *
   * @param usersPerSecond 0 or more, by the time since the start
   */
  public static OpenLoop openLoop(ToDoubleFunction<Duration> usersPerSecond, Duration length) {
    return OpenLoop.of(usersPerSecond, length);
  }

  /**
   * Load levels of so many users at once, waiting for the slowest, in trials.
   *
   * <pre>{@code
   * setUp(batch(8).trials(10).inject(chat)).protocols(engine)
   * }</pre>
   *
   * @param users users of each trial, one number per level
   */
  public static Batch batch(int... users) {
    return Batch.of(users);
  }

  /**
   * Looks for the highest rate of users at which the SLO holds.
   *
   * <pre>{@code
   * setUp(maxGoodput().startingAt(2).measure(60).inject(chat)).protocols(engine)
   * }</pre>
   */
  public static MaxGoodput maxGoodput() {
    return MaxGoodput.start();
  }

  /**
   * Ends a sweep after a level at which less than this share of the requests met the SLO.
   *
   * @param percent above 0, at most 100
   */
  public static StopRule sloBelow(double percent) {
    return checked(() -> new StopRule.SloBelow(percent));
  }

  /**
   * Ends a sweep after a level at which more than this share of the requests failed.
   *
   * @param percent 0 to 100
   */
  public static StopRule errorsAbove(double percent) {
    return checked(() -> new StopRule.ErrorsAbove(percent));
  }

  /**
   * Ends a sweep within the level at which more requests than this have failed, in whatever phase:
   * at that instant it starts nothing new, and drains what was sent.
   *
   * @param count 0 or more
   */
  public static StopRule errorCountAbove(long count) {
    return checked(() -> new StopRule.ErrorCountAbove(count));
  }

  /**
   * Ends a sweep within the level at which more requests than this have failed one after the other,
   * without one that succeeded between. Holds for all load levels, with 100, unless set otherwise
   * here, or by {@link #never()}.
   *
   * @param count 1 or more
   */
  public static StopRule errorsInARowAbove(long count) {
    return checked(() -> new StopRule.ErrorsInARowAbove(count));
  }

  /** Offers all levels, also to a server that answers nothing any more. */
  public static StopRule never() {
    return new StopRule.Never();
  }

  /** Ends a sweep of rates after a level at which requests pile up. */
  public static StopRule overSaturated() {
    return new StopRule.OverSaturated();
  }

  /**
   * Loads several targets in turn: each when all users of the one before have ended.
   *
   * <pre>{@code
   * setUp(oneAfterTheOther(
   *     closedLoop(16).measure(60).target("vLLM", llm.baseUrl(a).model("llama-8b")).inject(chat),
   *     closedLoop(16).measure(60).target("SGLang", llm.baseUrl(b).model("llama-8b")).inject(chat)));
   * }</pre>
   */
  public static PopulationBuilder oneAfterTheOther(PopulationBuilder... populations) {
    return oneAfterTheOther(List.of(populations));
  }

  /** As {@link #oneAfterTheOther(PopulationBuilder...)}. */
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
   * Loads several targets at the same time, as in {@link #oneAfterTheOther}: nothing that changes
   * with time favours one of them, but they share the load generator.
   */
  public static List<PopulationBuilder> sideBySide(PopulationBuilder... populations) {
    return List.of(populations);
  }
}
