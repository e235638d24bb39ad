package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.record.InjectorShare;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The planned arrival of one open-load user, carried in its session under {@link #KEY}. It says how
 * late the user's first LLM request really is: {@code scheduled = start − startLagNanos}. Users of
 * closed loops have none.
 *
 * <p>Its user's first LLM request asks {@link #untilPlannedNanos}; if that is positive, it waits
 * until {@link #plannedNanos} and calls {@link #started}; then it calls {@link #take}. Users of
 * load plans start at their instants and need no wait. Not thread-safe: it belongs to the user's
 * event loop.
 */
public final class Arrival {
  /** Session attribute; the prefix lets it survive {@code session.reset()}. */
  public static final String KEY = "gatling.llm.arrival";

  private final @Nullable RunningLevel level;
  private final Planned planned;
  private final long plannedNanos;
  private final boolean first;
  private long startedNanos;
  private boolean taken;
  private @Nullable IdentityHashMap<Object, Integer> draws;

  Arrival(@Nullable RunningLevel level, Planned planned, long plannedNanos) {
    this(level, planned, plannedNanos, false);
  }

  Arrival(@Nullable RunningLevel level, Planned planned, long plannedNanos, boolean first) {
    this.level = level;
    this.planned = planned;
    this.plannedNanos = plannedNanos;
    this.first = first;
    this.startedNanos = plannedNanos;
  }

  /** The level of a load plan; null where the schedule is no plan's. */
  public @Nullable RunningLevel level() {
    return level;
  }

  /** Its number in its plan, see {@link Numbers}; null where it has none. */
  public @Nullable Long number() {
    Numbers numbers = numbers();
    return numbers == null ? null : (Long) numbers.of(planned);
  }

  /**
   * By what its user draws from that source now: another number each time.
   *
   * @return null where it has no number
   */
  @Nullable Long draw(Object source) {
    Numbers numbers = numbers();
    if (numbers == null) {
      return null;
    }
    draws = draws == null ? new IdentityHashMap<>(4) : draws;
    return numbers.of(planned, draws.merge(source, 1, Integer::sum) - 1);
  }

  private @Nullable Numbers numbers() {
    return level != null && level.level() instanceof LoadLevel.Open open ? open.numbers() : null;
  }

  /** Planned arrival since the start of its schedule. */
  public long scheduledOffsetNanos() {
    return planned.offsetNanos();
  }

  /** Whether it is the first of an {@code injectOpen}, the one that fixes when its plan starts. */
  public boolean anchors() {
    return first;
  }

  /** How long the request is to be, where the arrival replays one; null where it does not. */
  public Trace.@Nullable Lengths lengths() {
    return planned.lengths();
  }

  /** Planned arrival on {@link System#nanoTime()}. */
  public long plannedNanos() {
    return plannedNanos;
  }

  /** Notes when the user really started, or was let go on after it had been held. */
  public void started(long nanoTime) {
    startedNanos = nanoTime;
  }

  /** How long the user must still be held; 0 or less when its instant has come. */
  public long untilPlannedNanos(long nanoTime) {
    return plannedNanos - nanoTime;
  }

  /** Real start minus planned arrival, 0 or more. */
  public long startLagNanos() {
    return Math.max(0, startedNanos - plannedNanos);
  }

  /** True for the first caller: that is the request which the arrival is about. */
  public boolean take() {
    boolean first = !taken;
    taken = true;
    return first;
  }

  public boolean taken() {
    return taken;
  }

  /**
   * What the arrivals of a load level are numbered by. Numbers go on from level to level, so that
   * no two arrivals of a plan have the same; they follow from the plan alone, so that all injectors
   * of a load test agree on them. What an arrival asks follows from its number.
   *
   * @param first that of the level's first arrival
   * @param all how many numbers the whole plan has, at least
   * @param share which of the arrivals are this injector's
   */
  record Numbers(long first, long all, InjectorShare share) {

    /** The arrivals of this injector. */
    Iterator<Planned> own(Iterator<Planned> whole) {
      return share.isPart()
          ? Arrivals.streamOf(whole).filter(arrival -> share.has(of(arrival))).iterator()
          : whole;
    }

    /** The number of an arrival. */
    long of(Planned arrival) {
      return first + arrival.index();
    }

    /**
     * What the user of an arrival draws, for the {@code k}-th time from 0, by: first all users
     * once, then all a second time.
     */
    long of(Planned arrival, int k) {
      return of(arrival) + k * all;
    }
  }

  /**
   * Whose turn it is to draw from something that is drawn from in order, such as prompts. A user
   * that arrives by a plan draws by the number of its arrival, whoever is ahead of it by a few
   * microseconds; all others draw in the order in which they come. Several injectors never take the
   * same turn. Safe for use by several threads.
   */
  public static final class DrawOrder {

    private final InjectorShare share;
    private final AtomicLong taken = new AtomicLong();

    /**
     * @param share of all turns
     */
    public DrawOrder(InjectorShare share) {
      this.share = share;
    }

    /**
     * The next turn, from 0.
     *
     * @param arrival of the user; null where it did not arrive by a plan. Called on its event loop
     */
    public long next(@Nullable Arrival arrival) {
      Long number = arrival == null ? null : arrival.draw(this);
      return number == null ? next() : number;
    }

    /** The next turn of those that are taken in the order in which users come. */
    public long next() {
      return share.numberOf(taken.getAndIncrement());
    }
  }

  /**
   * Gives the users of one {@code injectOpen} their planned instants. Gatling starts users near
   * their instants, to the millisecond; which user takes which arrival does not matter, as users
   * differ in nothing before they start. So the first to start takes the first arrival, and is held
   * until its instant.
   *
   * <p>One anchor for the whole schedule, fixed by the first user. It lies {@link #MARGIN_NANOS}
   * later than Gatling's own: a user that Gatling starts a few milliseconds late is still on time.
   * Thread-safe.
   */
  public static final class OpenSchedule {
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
}
