package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Gaps;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.Phases;
import io.github.gatlingllm.load.RateFunction;
import io.github.gatlingllm.load.StopRule;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
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
public final class OpenLoop implements LoadProfile {
  /** How arrivals are spread. */
  private sealed interface Shape {}

  private record Poisson() implements Shape {}

  private record Constant() implements Shape {}

  private record Gamma(double cv) implements Shape {}

  /** A trace says itself when users arrive. */
  private record Recorded() implements Shape {}

  /** What one level offers. */
  @FunctionalInterface
  private interface Offer {
    LoadLevel level(Shape shape, long seed, Phases phases);
  }

  private final List<Offer> offers;
  private final Shape shape;
  private final long seed;
  private final Phases phases;

  private OpenLoop(List<Offer> offers, Shape shape, long seed, Phases phases) {
    this.offers = List.copyOf(offers);
    this.shape = shape;
    this.seed = seed;
    this.phases = phases;
    try {
      plan();
    } catch (IllegalArgumentException e) {
      throw InvalidSimulation.because(e.getMessage());
    }
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
        Arrays.stream(perSecond).mapToObj(OpenLoop::steady).toList(),
        new Poisson(),
        Seeds.random(),
        Phases.DEFAULT);
  }

  /**
   * One level, {@code curve}, whose rate follows a curve and which measures all of it.
   *
   * @param usersPerSecond 0 or more, by the time since the start
   * @throws IllegalArgumentException if the curve is negative or no number somewhere
   */
  public static OpenLoop of(ToDoubleFunction<Duration> usersPerSecond, Duration length) {
    RateFunction rate = CurveArrivals.rate(usersPerSecond);
    double even =
        new Arrivals.Curve(rate, length.toNanos(), new Gaps.Equal()).countBefore(length.toNanos());
    Offer offer =
        (shape, seed, phases) ->
            new LoadLevel.Open(
                "curve",
                even / (length.toNanos() / 1e9),
                new Arrivals.Curve(rate, length.toNanos(), gaps(shape, seed)),
                phases);
    return new OpenLoop(
        List.of(offer),
        new Poisson(),
        Seeds.random(),
        Phases.DEFAULT.withMeasure(length.toNanos()));
  }

  /** One level, {@code trace}, that replays recorded traffic and measures all of it. */
  public static OpenLoop of(Arrivals.Replay replay) {
    double perSecond = replay.trace().size() / (replay.lengthNanos() / 1e9);
    return new OpenLoop(
        List.of((shape, seed, phases) -> new LoadLevel.Open("trace", perSecond, replay, phases)),
        new Recorded(),
        Seeds.random(),
        Phases.DEFAULT.withMeasure(replay.lengthNanos()));
  }

  private static Offer steady(double perSecond) {
    return (shape, seed, phases) ->
        new LoadLevel.Open(perSecond, arrivals(perSecond, shape, seed), phases);
  }

  private static Arrivals arrivals(double perSecond, Shape shape, long seed) {
    if (shape instanceof Gamma gamma) {
      return new Arrivals.Gamma(perSecond, gamma.cv(), seed);
    }
    return shape instanceof Constant
        ? new Arrivals.Constant(perSecond)
        : new Arrivals.Poisson(perSecond, seed);
  }

  private static Gaps gaps(Shape shape, long seed) {
    if (shape instanceof Gamma gamma) {
      return new Gaps.Gamma(gamma.cv(), seed);
    }
    return shape instanceof Constant ? new Gaps.Equal() : new Gaps.Exponential(seed);
  }

  private OpenLoop reshaped(String step, Shape shape) {
    requireDrawn(step);
    return new OpenLoop(offers, shape, seed, phases);
  }

  private void requireDrawn(String step) {
    if (shape instanceof Recorded) {
      throw InvalidSimulation.because(
          step + " has no effect: a trace says itself when users arrive; leave it out");
    }
  }

  /** Users arrive as a Poisson process, the default: independent, exponential gaps. */
  public OpenLoop poisson() {
    return reshaped("poisson()", new Poisson());
  }

  /** Users arrive evenly spaced. */
  public OpenLoop constant() {
    return reshaped("constant()", new Constant());
  }

  /**
   * Users arrive with gamma-distributed gaps.
   *
   * @param cv standard deviation of the gaps ÷ their mean: above 0, at most 100; 1 is Poisson
   */
  public OpenLoop gamma(double cv) {
    return reshaped("gamma(" + cv + ")", new Gamma(Gaps.requireCv(cv)));
  }

  /** Pins the arrival times: the same seed plans the same ones. Without it they are random. */
  public OpenLoop seed(long seed) {
    requireDrawn("seed(" + seed + ")");
    return new OpenLoop(offers, shape, seed, phases);
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
    return new OpenLoop(offers, shape, seed, phases.withStabilize(duration.toNanos()));
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
    return new OpenLoop(offers, shape, seed, phases.withMeasure(duration.toNanos()));
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
    return new OpenLoop(offers, shape, seed, phases.withDrain(duration.toNanos()));
  }

  /**
   * Measures each level for so many users, until the last of them has ended. Takes the place of
   * {@link #measure(long)}.
   *
   * @param count 1 or more
   */
  public OpenLoop requests(int count) {
    return new OpenLoop(offers, shape, seed, phases.withRequests(count));
  }

  /** The levels, their phases and arrivals. */
  @Override
  public LoadPlan plan() {
    return new LoadPlan(
        IntStream.range(0, offers.size())
            // A seed of its own for each level, else all would be one pattern, stretched.
            .mapToObj(i -> offers.get(i).level(shape, seed + i, phases))
            .toList());
  }

  /**
   * Ends the sweep after the first level that breaks one of these rules; put it last.
   *
   * <pre>{@code
   * .stopWhen(sloBelow(50), errorsAbove(10), overSaturated())
   * }</pre>
   */
  public StoppedSweep stopWhen(StopRule... rules) {
    return StoppedSweep.of(plan(), rules);
  }
}
