package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.LoadLevel.Phases;
import java.time.Duration;

/**
 * A load whose levels all go through the same phases; figures come from measure only. A level
 * starts when no request of the level before is in flight.
 */
public abstract sealed class PhasedLoad<T extends PhasedLoad<T>> implements LoadProfile
    permits ClosedLoop, OpenLoop, MaxGoodput {
  final Phases phases;

  PhasedLoad(Phases phases) {
    this.phases = phases;
  }

  abstract T with(Phases others);

  /**
   * How long the load settles at each level before measuring. By default measuring starts when each
   * user (in an open loop: one user) has had an answer and twice the median E2E has passed, at the
   * latest after the length of the measure phase, or 5 s if that is longer. Rate curves, traces and
   * levels with {@link #requests} are measured from their start.
   */
  public final T stabilize(long seconds) {
    return stabilize(Duration.ofSeconds(seconds));
  }

  public final T stabilize(Duration duration) {
    return checked(() -> with(phases.withStabilize(duration.toNanos())));
  }

  /** How long each level is measured, above 0; 30 s by default. Replaces {@link #requests}. */
  public final T measure(long seconds) {
    return measure(Duration.ofSeconds(seconds));
  }

  public final T measure(Duration duration) {
    return checked(() -> with(phases.withMeasure(duration.toNanos())));
  }

  /**
   * Ends the load of each level with its measure phase, which saves tokens. By default the load
   * stays on, unmeasured, until all measured requests have ended, for at most the time of {@link
   * #drain}: on a server that empties the last ones would look too good. Levels with {@link
   * #requests} have no cooldown.
   */
  public final T disableCooldown() {
    return with(phases.withCooldown(false));
  }

  /**
   * The longest wait for requests in flight at the end of each level, 30 s by default; those that
   * still run then are cancelled.
   */
  public final T drain(long seconds) {
    return drain(Duration.ofSeconds(seconds));
  }

  public final T drain(Duration duration) {
    return checked(() -> with(phases.withDrain(duration.toNanos())));
  }

  /**
   * Bounds each level by a number of executions of the scenario, 1 or more, which its users share,
   * and measures until the last one has ended. Replaces {@link #measure(long)}. Unless {@link
   * #stabilize} or a fill is set, nothing else is sent.
   */
  public final T requests(int count) {
    return checked(() -> with(phases.withRequests(count)));
  }

  /** As {@link #requests(int)}, for at most this time: whichever bound comes first. */
  public final T requests(int count, Duration max) {
    return checked(() -> with(phases.withRequests(count, max.toNanos())));
  }
}
