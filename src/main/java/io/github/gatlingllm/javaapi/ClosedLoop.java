package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * DSL for closed-loop load: a fixed number of users, each of which starts the scenario again within
 * microseconds after its end. Users retain their session, cookies and conversations for the entire
 * run. A level goes through the phases fill, stabilize, measure, cooldown and drain.
 */
public final class ClosedLoop extends PhasedLoad<ClosedLoop> implements LoadProfile.Levels {
  private final int[] users;
  private final boolean startsOnePerSecond;
  private final LoadPlan.Sweep plan;

  private ClosedLoop(int[] users, Phases phases, boolean startsOnePerSecond) {
    super(phases);
    this.users = users;
    this.startsOnePerSecond = startsOnePerSecond;
    this.plan =
        new LoadPlan.Sweep(
            Arrays.stream(users).<LoadLevel>mapToObj(n -> level(n, phases)).toList());
  }

  private LoadLevel level(int number, Phases common) {
    return new LoadLevel.Closed(
        number, startsOnePerSecond ? common.withFill(TimeUnit.SECONDS.toNanos(number)) : common);
  }

  static ClosedLoop of(int... users) {
    return checked(() -> new ClosedLoop(users.clone(), Phases.DEFAULT, false));
  }

  @Override
  ClosedLoop with(Phases others) {
    return new ClosedLoop(users, others, startsOnePerSecond);
  }

  /** Starts one user per second at each level. */
  public ClosedLoop fill() {
    return new ClosedLoop(users, phases, true);
  }

  /**
   * Starts the users of each level evenly over this time; 0 starts all together. By default the
   * time is twice the median E2E of the level before. At the first level one user starts alone, and
   * the E2E of its first answer takes the place of the median. Levels with {@link #requests} start
   * all users together.
   */
  public ClosedLoop fill(long seconds) {
    return fill(Duration.ofSeconds(seconds));
  }

  public ClosedLoop fill(Duration duration) {
    return checked(() -> new ClosedLoop(users, phases.withFill(duration.toNanos()), false));
  }

  /** The load levels and their phases. */
  @Override
  public LoadPlan.Sweep plan() {
    return plan;
  }
}
