package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Planned;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
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

  private final String description;
  private final Supplier<Iterator<Planned>> plan;
  private final Iterator<Planned> arrivals;
  private boolean anchored;
  private long anchorNanos;

  /**
   * @param description how users arrive, seeds included
   * @param plan draws all planned arrivals, ascending; the same ones each time
   */
  public OpenSchedule(String description, Supplier<Iterator<Planned>> plan) {
    this.description = description;
    this.plan = plan;
    this.arrivals = plan.get();
  }

  /** How users arrive, seeds included. */
  public String description() {
    return description;
  }

  /** The whole plan, drawn again. */
  public Iterator<Planned> planned() {
    return plan.get();
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
    boolean first = !anchored;
    if (first) {
      anchored = true;
      anchorNanos = nanoTime + MARGIN_NANOS - offset;
    }
    Arrival arrival = new Arrival(null, planned, anchorNanos + offset, first);
    arrival.started(nanoTime);
    return arrival;
  }
}
