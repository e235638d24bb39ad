package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

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
 * <p>Each level goes through the phases fill, stabilize, measure, cooldown and drain; figures come
 * from measure only.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 *
 * <pre>{@code
 * setUp(closedLoop(32).fill().stabilize(60).measure(120).drain(30).inject(chat)).protocols(engine);
 * setUp(closedLoop(1, 2, 4, 8, 16).stabilize(10).measure(60).inject(chat)).protocols(engine);
 * }</pre>
 */
public final class ClosedLoop extends PhasedLoad<ClosedLoop> {
  private final int[] users;
  private final boolean oneUserPerSecond;
  private final LoadPlan.Sweep plan;

  private ClosedLoop(int[] users, Phases phases, boolean oneUserPerSecond) {
    super(phases);
    this.users = users;
    this.oneUserPerSecond = oneUserPerSecond;
    this.plan =
        new LoadPlan.Sweep(
            Arrays.stream(users).<LoadLevel>mapToObj(n -> level(n, phases)).toList());
  }

  private LoadLevel level(int number, Phases common) {
    return new LoadLevel.Closed(
        number, oneUserPerSecond ? common.withFill(TimeUnit.SECONDS.toNanos(number)) : common);
  }

  /**
   * A level per number: users spread over a fill, measuring when all have had an answer and the
   * load has settled, 30 s of it, a cooldown, at most 30 s of drain.
   *
   * @param users numbers of users in flight, each 1 or more and there once
   * @throws IllegalArgumentException if they are not
   */
  public static ClosedLoop of(int... users) {
    return checked(() -> new ClosedLoop(users.clone(), Phases.DEFAULT, false));
  }

  @Override
  ClosedLoop with(Phases others) {
    return new ClosedLoop(users, others, oneUserPerSecond);
  }

  /** Starts one more user per second, at each level. */
  public ClosedLoop fill() {
    return new ClosedLoop(users, phases, true);
  }

  /**
   * Starts the users of each level evenly over this time. Without it they start over twice the
   * median E2E of the level before; at the first level its first user starts alone, and its first
   * answer tells how long that is. Levels of so many {@link #requests} start all at once.
   *
   * @param seconds 0 or more; 0 starts all at once
   */
  public ClosedLoop fill(long seconds) {
    return fill(Duration.ofSeconds(seconds));
  }

  /** As {@link #fill(long)}. */
  public ClosedLoop fill(Duration duration) {
    return checked(() -> new ClosedLoop(users, phases.withFill(duration.toNanos()), false));
  }

  /** The levels and their phases. */
  @Override
  public LoadPlan.Sweep plan() {
    return plan;
  }

  /**
   * Ends the sweep after the first level that breaks one of these rules; put it last.
   *
   * <pre>{@code
   * .stopWhen(sloBelow(50), errorsAbove(10), overSaturated())
   * }</pre>
   */
  public StoppedSweep stopWhen(StopRule... rules) {
    return StoppedSweep.of(plan, rules);
  }
}
