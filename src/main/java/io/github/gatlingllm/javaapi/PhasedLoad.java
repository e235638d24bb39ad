package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.Phases;
import java.time.Duration;

/**
 * A load whose levels go through the same phases.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 */
public abstract sealed class PhasedLoad<T extends PhasedLoad<T>> implements LoadProfile
    permits ClosedLoop, OpenLoop, MaxGoodput {
  final Phases phases;

  PhasedLoad(Phases phases) {
    this.phases = phases;
  }

  /** The same load in other phases. */
  abstract T with(Phases others);

  /**
   * Lets each level settle for this time before measuring. Without it a level finds out itself:
   * measuring starts when each user, in an open loop one, has had an answer and twice the median
   * E2E of the answers so far has passed since the users have started; at the latest after as much
   * time as is measured, at least 5 s. Rate curves, traces and levels of so many {@link #requests}
   * are measured from their start.
   *
   * @param seconds 0 or more
   */
  public final T stabilize(long seconds) {
    return stabilize(Duration.ofSeconds(seconds));
  }

  /** As {@link #stabilize(long)}. */
  public final T stabilize(Duration duration) {
    return checked(() -> with(phases.withStabilize(duration.toNanos())));
  }

  /**
   * Measures each level for this time. Takes the place of {@link #requests}.
   *
   * @param seconds above 0; 30 by default
   */
  public final T measure(long seconds) {
    return measure(Duration.ofSeconds(seconds));
  }

  /** As {@link #measure(long)}. */
  public final T measure(Duration duration) {
    return checked(() -> with(phases.withMeasure(duration.toNanos())));
  }

  /**
   * Ends the load of each level with its measure phase, which saves tokens. Without it the load
   * stays on, unmeasured, until the requests that were scheduled while it measured have ended, for
   * at most the time of {@link #drain}: on a server that empties, late requests look too good. A
   * rate curve then holds its last rate, a trace begins again. There is none with {@link
   * #requests}, whose number is exact.
   */
  public final T disableCooldown() {
    return with(phases.withCooldown(false));
  }

  /**
   * At the end of each level, waits for what is pending for at most this time.
   *
   * @param seconds 0 or more; 30 by default
   */
  public final T drain(long seconds) {
    return drain(Duration.ofSeconds(seconds));
  }

  /** As {@link #drain(long)}. */
  public final T drain(Duration duration) {
    return checked(() -> with(phases.withDrain(duration.toNanos())));
  }

  /**
   * Measures each level for so many runs of the scenario, shared by its users, until the last of
   * them has ended. Takes the place of {@link #measure(long)}. The number is exact: unless {@link
   * #stabilize} or a fill is set, nothing else is sent.
   *
   * @param count 1 or more
   */
  public final T requests(int count) {
    return checked(() -> with(phases.withRequests(count)));
  }

  /** As {@link #requests(int)}, and no longer than that time: whichever comes first. */
  public final T requests(int count, Duration atMost) {
    return checked(() -> with(phases.withRequests(count, atMost.toNanos())));
  }
}
