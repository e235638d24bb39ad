package io.github.gatlingllm.load;

import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Gives the users of one {@code injectOpen} their planned instants. Gatling starts users near their
 * instants, to the millisecond; which user takes which arrival does not matter, as users differ in
 * nothing before they start. So the first to start takes the first arrival, and is held until its
 * instant.
 *
 * <p>One anchor for the whole schedule, fixed by the first user. It lies {@link #MARGIN_NANOS}
 * later than Gatling's own: a user that Gatling starts a few milliseconds late is still on time.
 * Thread-safe.
 */
public final class OpenSchedule {
  static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Iterator<Planned> arrivals;
  private boolean anchored;
  private long anchorNanos;

  /**
   * @param arrivals all planned arrivals, ascending
   */
  public OpenSchedule(Iterator<Planned> arrivals) {
    this.arrivals = arrivals;
  }

  /**
   * The arrival of a user that started now.
   *
   * @return null when more users came than were planned
   */
  public synchronized @Nullable Arrival next(long nanoTime) {
    if (!arrivals.hasNext()) {
      return null;
    }
    Planned planned = arrivals.next();
    long offset = planned.offsetNanos();
    if (!anchored) {
      anchored = true;
      anchorNanos = nanoTime + MARGIN_NANOS - offset;
    }
    Arrival arrival = new Arrival(null, planned, anchorNanos + offset);
    arrival.started(nanoTime);
    return arrival;
  }
}
