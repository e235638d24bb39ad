package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import java.time.Duration;
import java.util.Arrays;

/**
 * DSL for batch trials: all users of a trial start together, and the next trial starts when the
 * slowest user has ended. Figures are tokens over wall time, of each trial and of all trials.
 * Several numbers of users are a sweep: one load level each.
 */
public final class Batch implements LoadProfile.Levels {
  private final int[] users;
  private final int trials;
  private final long drainNanos;

  private Batch(int[] users, int trials, long drainNanos) {
    this.users = users;
    this.trials = trials;
    this.drainNanos = drainNanos;
    plan();
  }

  /** One trial per number of users; the last trial of each may take 30 s. */
  static Batch of(int... users) {
    return new Batch(users.clone(), 1, Phases.DEFAULT.drainNanos());
  }

  /** The number of trials of each load level, 1 or more; 1 by default. */
  public Batch trials(int count) {
    return new Batch(users, count, drainNanos);
  }

  /** How long the last trial of a load level may take, 30 s by default, before it is cancelled. */
  public Batch drain(long seconds) {
    return drain(Duration.ofSeconds(seconds));
  }

  public Batch drain(Duration duration) {
    return new Batch(users, trials, duration.toNanos());
  }

  /** The load levels and their trials. */
  @Override
  public LoadPlan.Sweep plan() {
    return checked(
        () ->
            new LoadPlan.Sweep(
                Arrays.stream(users)
                    .<LoadLevel>mapToObj(n -> new LoadLevel.FixedBatch(n, trials, drainNanos))
                    .toList()));
  }
}
