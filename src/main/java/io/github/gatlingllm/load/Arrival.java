package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Lengths;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The planned arrival of one open-load user, an attribute of its session: {@code scheduled = start
 * − startLagNanos} of its first LLM request, which waits for {@link #plannedNanos}, calls {@link
 * #started} and then {@link #take}. Used on the user's event loop only.
 */
public final class Arrival {
  /** Session attribute; the prefix lets it survive {@code session.reset()}. */
  public static final String KEY = "gatling.llm.arrival";

  private final @Nullable RunningLevel level;
  private final Planned planned;
  private final long plannedNanos;
  private final boolean isAnchor;
  private long startedNanos;
  private boolean isTaken;
  private @Nullable IdentityHashMap<Object, Integer> draws;

  Arrival(@Nullable RunningLevel level, Planned planned, long plannedNanos) {
    this(level, planned, plannedNanos, false);
  }

  Arrival(@Nullable RunningLevel level, Planned planned, long plannedNanos, boolean isAnchor) {
    this.level = level;
    this.planned = planned;
    this.plannedNanos = plannedNanos;
    this.isAnchor = isAnchor;
    this.startedNanos = plannedNanos;
  }

  public @Nullable RunningLevel level() {
    return level;
  }

  /** Its number in the load plan, see {@link Numbers}; null if it has none. */
  public @Nullable Long number() {
    Numbers numbers = numbers();
    return numbers == null ? null : (Long) numbers.of(planned);
  }

  /** The index of the user's next draw from that source, a different one for each call. */
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

  /** Planned arrival, in nanoseconds since the start of its schedule. */
  public long scheduledOffsetNanos() {
    return planned.offsetNanos();
  }

  /** Whether it is the first of an {@code injectOpen}, which fixes the start of the schedule. */
  public boolean isAnchor() {
    return isAnchor;
  }

  /** Token counts of the replayed request; null if none is replayed. */
  public @Nullable Lengths lengths() {
    return planned.lengths();
  }

  /** Planned arrival on {@link System#nanoTime()}. */
  public long plannedNanos() {
    return plannedNanos;
  }

  /** Sets when the user actually started, or continued after waiting for its planned instant. */
  public void started(long nanoTime) {
    startedNanos = nanoTime;
  }

  /** Actual start minus planned arrival, 0 or more. */
  public long startLagNanos() {
    return Math.max(0, startedNanos - plannedNanos);
  }

  /** Returns true for the first call: only the user's first request is scheduled by the arrival. */
  public boolean take() {
    boolean isFirst = !isTaken;
    isTaken = true;
    return isFirst;
  }

  public boolean isTaken() {
    return isTaken;
  }

  /**
   * Numbers of the arrivals of a level, continued from level to level. They follow from the plan
   * alone, so that all injectors agree on them; the prompt of an arrival is chosen by its number.
   */
  record Numbers(long first, long all, InjectorShare share) {

    Stream<Planned> own(Stream<Planned> complete) {
      return share.isPart() ? complete.filter(arrival -> share.has(of(arrival))) : complete;
    }

    long of(Planned arrival) {
      return first + arrival.index();
    }

    /** The index of the user's {@code k}-th draw: first draws of all users precede second ones. */
    long of(Planned arrival, int k) {
      return of(arrival) + k * all;
    }
  }

  /**
   * Assigns the indices at which users draw, e.g. prompts: by the number of the arrival in a load
   * plan, else in the order of calls. Injectors never share an index. Thread-safe.
   */
  public static final class DrawOrder {

    /** Session attribute: the number of the feeder's draw for the user's next request. */
    public static final String KEY = "gatling.llm.draw";

    /** Between the numbers of requests that send what was drawn once. */
    private static final long AGAIN = 1L << 32;

    /** Each order has a range of this number of bits of {@linkplain #number numbers}. */
    private static final int BITS = 40;

    private static final long FIRST_RANGE = 1 << 16;
    private static final AtomicLong ORDERS = new AtomicLong();

    private final InjectorShare share;
    private final AtomicLong taken = new AtomicLong();
    private final long range = (FIRST_RANGE + ORDERS.getAndIncrement() % FIRST_RANGE) << BITS;

    public DrawOrder(InjectorShare share) {
      this.share = share;
    }

    /**
     * The number of a draw in the order of calls, unique among all orders. What else a request
     * needs is chosen by it: if it was drawn separately, two event loops could pair what they draw
     * in either way.
     */
    private long number(long index) {
      return range + index;
    }

    /** A draw as an attribute of the user who gets what was drawn. */
    public AtomicLong fed(long index) {
      return new AtomicLong(number(index));
    }

    /** The number of the next request with that attribute. */
    public static long nextOf(AtomicLong fed) {
      return fed.getAndAdd(AGAIN);
    }

    public long next(@Nullable Arrival arrival) {
      return next(arrival, null);
    }

    /** The index of a user's next draw; a request gets its number, unless its arrival has one. */
    public long next(@Nullable Arrival arrival, @Nullable LongConsumer request) {
      Long planned = arrival == null ? null : arrival.draw(this);
      if (planned != null) {
        return planned;
      }
      long index = next();
      if (request != null) {
        request.accept(number(index));
      }
      return index;
    }

    /** The index of the next draw of a user without arrival. */
    public long next() {
      return share.numberOf(taken.getAndIncrement());
    }
  }

  /**
   * Assigns the planned instants of one {@code injectOpen} to its users, in the order in which they
   * start. The first fixes the start of the schedule, {@link #MARGIN_NANOS} after its own, so that
   * a user that Gatling starts a few milliseconds late is on time. Thread-safe.
   */
  public static final class OpenSchedule {
    static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final String description;
    private final Supplier<Stream<Planned>> plan;
    private final Iterator<Planned> arrivals;
    private boolean isAnchored;
    private long anchorNanos;

    public OpenSchedule(String description, Supplier<Stream<Planned>> plan) {
      this.description = description;
      this.plan = plan;
      this.arrivals = plan.get().iterator();
    }

    /** How users arrive, seeds included. */
    public String description() {
      return description;
    }

    /** The complete plan, drawn again. */
    public Stream<Planned> planned() {
      return plan.get();
    }

    public synchronized @Nullable Arrival next(long nanoTime) {
      if (!arrivals.hasNext()) {
        return null;
      }
      Planned planned = arrivals.next();
      long offset = planned.offsetNanos();
      boolean isAnchor = !isAnchored;
      if (isAnchor) {
        isAnchored = true;
        anchorNanos = nanoTime + MARGIN_NANOS - offset;
      }
      Arrival arrival = new Arrival(null, planned, anchorNanos + offset, isAnchor);
      arrival.started(nanoTime);
      return arrival;
    }
  }
}
