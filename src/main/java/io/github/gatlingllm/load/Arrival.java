package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Planned;
import java.util.IdentityHashMap;
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

  /** Its number in its plan, see {@link ArrivalNumbers}; null where it has none. */
  public @Nullable Long number() {
    ArrivalNumbers numbers = numbers();
    return numbers == null ? null : (Long) numbers.of(planned);
  }

  /**
   * By what its user draws from that source now: another number each time.
   *
   * @return null where it has no number
   */
  @Nullable Long draw(Object source) {
    ArrivalNumbers numbers = numbers();
    if (numbers == null) {
      return null;
    }
    draws = draws == null ? new IdentityHashMap<>(4) : draws;
    return numbers.of(planned, draws.merge(source, 1, Integer::sum) - 1);
  }

  private @Nullable ArrivalNumbers numbers() {
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
}
