package io.github.gatlingllm.load;

import java.util.PrimitiveIterator;
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

  private final PrimitiveIterator.OfLong offsets;
  private boolean anchored;
  private long anchorNanos;

  /**
   * @param offsets all planned arrivals, ascending
   */
  public OpenSchedule(PrimitiveIterator.OfLong offsets) {
    this.offsets = offsets;
  }

  /**
   * The arrival of a user that started now.
   *
   * @return null when more users came than were planned
   */
  public synchronized @Nullable Arrival next(long nanoTime) {
    if (!offsets.hasNext()) {
      return null;
    }
    long offset = offsets.nextLong();
    if (!anchored) {
      anchored = true;
      anchorNanos = nanoTime + MARGIN_NANOS - offset;
    }
    Arrival arrival = new Arrival(null, offset, anchorNanos + offset);
    arrival.started(nanoTime);
    return arrival;
  }
}
