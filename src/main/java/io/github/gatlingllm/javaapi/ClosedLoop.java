package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.Phases;
import io.github.gatlingllm.load.StopRule;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * DSL for closed-loop load: so many users, each of which begins the scenario again as soon as it
 * has ended it, within microseconds. Users live on: session, cookies and conversations last for the
 * whole run. Several numbers are a sweep: one level after the other, each starting when nothing of
 * the one before is in flight.
 *
 * <p>Each level goes through the phases fill, stabilize, measure and drain; figures come from
 * measure only.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 *
 * <pre>{@code
 * setUp(closedLoop(32).fill().stabilize(60).measure(120).drain(30).inject(chat)).protocols(engine);
 * setUp(closedLoop(1, 2, 4, 8, 16).stabilize(10).measure(60).inject(chat)).protocols(engine);
 * }</pre>
 */
public final class ClosedLoop implements LoadProfile {
  private final int[] users;
  private final Phases phases;
  private final boolean oneUserPerSecond;

  private ClosedLoop(int[] users, Phases phases, boolean oneUserPerSecond) {
    this.users = users;
    this.phases = phases;
    this.oneUserPerSecond = oneUserPerSecond;
    try {
      plan();
    } catch (IllegalArgumentException e) {
      throw InvalidSimulation.because(e.getMessage());
    }
  }

  /**
   * A level per number: all users at once, no stabilizing, 30 s of measuring, at most 30 s of
   * drain.
   *
   * @param users numbers of users in flight, each 1 or more and there once
   * @throws IllegalArgumentException if they are not
   */
  public static ClosedLoop of(int... users) {
    return new ClosedLoop(users.clone(), Phases.DEFAULT, false);
  }

  /** Starts one more user per second, at each level. */
  public ClosedLoop fill() {
    return new ClosedLoop(users, phases, true);
  }

  /**
   * Starts the users of each level evenly over this time.
   *
   * @param seconds 0 or more; 0 (the default) starts all at once
   */
  public ClosedLoop fill(long seconds) {
    return fill(Duration.ofSeconds(seconds));
  }

  /** As {@link #fill(long)}. */
  public ClosedLoop fill(Duration duration) {
    return new ClosedLoop(users, phases.withFill(duration.toNanos()), false);
  }

  /**
   * Lets each level settle before measuring.
   *
   * @param seconds 0 (the default) or more
   */
  public ClosedLoop stabilize(long seconds) {
    return stabilize(Duration.ofSeconds(seconds));
  }

  /** As {@link #stabilize(long)}. */
  public ClosedLoop stabilize(Duration duration) {
    return new ClosedLoop(users, phases.withStabilize(duration.toNanos()), oneUserPerSecond);
  }

  /**
   * Measures each level for this time. Takes the place of {@link #requests}.
   *
   * @param seconds above 0; 30 by default
   */
  public ClosedLoop measure(long seconds) {
    return measure(Duration.ofSeconds(seconds));
  }

  /** As {@link #measure(long)}. */
  public ClosedLoop measure(Duration duration) {
    return new ClosedLoop(users, phases.withMeasure(duration.toNanos()), oneUserPerSecond);
  }

  /**
   * At the end of each level, waits for pending iterations for at most this time.
   *
   * @param seconds 0 or more; 30 by default
   */
  public ClosedLoop drain(long seconds) {
    return drain(Duration.ofSeconds(seconds));
  }

  /** As {@link #drain(long)}. */
  public ClosedLoop drain(Duration duration) {
    return new ClosedLoop(users, phases.withDrain(duration.toNanos()), oneUserPerSecond);
  }

  /**
   * Measures each level for so many runs of the scenario, shared by its users, until the last of
   * them has ended. Takes the place of {@link #measure(long)}.
   *
   * @param count 1 or more
   */
  public ClosedLoop requests(int count) {
    return new ClosedLoop(users, phases.withRequests(count), oneUserPerSecond);
  }

  /** The levels and their phases. */
  @Override
  public LoadPlan plan() {
    return new LoadPlan(
        Arrays.stream(users)
            .<LoadLevel>mapToObj(
                n ->
                    new LoadLevel.Closed(
                        n,
                        oneUserPerSecond ? phases.withFill(TimeUnit.SECONDS.toNanos(n)) : phases))
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
