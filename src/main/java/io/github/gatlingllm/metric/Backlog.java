package io.github.gatlingllm.metric;

import io.github.gatlingllm.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests of an open load level that have come and not left: whether what was offered is kept
 * up with. A search decides by it while load is on, the report afterwards.
 *
 * <p>It is not where fewer than {@value #CLEARLY_BELOW} of the arrivals in the second half of the
 * measure window completed there, and one of these holds:
 *
 * <ul>
 *   <li>The streams that wait for their first token grew in number, over the window and in its
 *       second half. An empty server passes however long its answers are: they are not over, but
 *       they have begun.
 *   <li>The requests that have not ended grew in number in the second half, and later requests stay
 *       longer: by {@value #SLOPE} s or more per second between the first quarter and the second
 *       half. Where answers are only long, late ones stay no longer than early ones.
 * </ul>
 *
 * <p>Grew means beyond chance: arrivals and departures are counts, whose difference has the
 * variance of their sum, and it must exceed {@value #BEYOND_CHANCE} of its standard deviations (1 %
 * of steady windows do); the two means must differ by {@value #FAR_BEYOND}.
 *
 * <p>It is not the server that does not keep up where the requests that wait to be sent (for a
 * throttle, a place in flight or a limit per minute) grew in number and those that were sent did
 * not.
 *
 * <p>Requests are counted by eighths of the window, so that they need no memory each.
 */
public final class Backlog {

  private static final double CLEARLY_BELOW = 0.9;
  private static final double SLOPE = 0.1;
  private static final double BEYOND_CHANCE = 2.33;
  private static final double FAR_BEYOND = 3;

  /** Parts of a window. */
  private static final int PARTS = 8;

  /** Between the middles of the first quarter and of the second half, in windows. */
  private static final double APART = 0.625;

  static final long NEVER = Long.MAX_VALUE;

  private final long from;
  private final long nanos;
  private final long end; // of all parts, since the start
  private final int most;
  private final Flow waiting;
  private final Flow unfinished;
  private final Flow held;
  private final Flow sentWaiting;
  private final Flow sentUnfinished;
  private final Instants completed;
  private final List<Moments> stays;
  private boolean streams;

  /**
   * Requests that came and wait for their first token (bodies, and where only answers that have
   * begun pile up: for their end), at the start and at the end of a measure window.
   *
   * @param grows whether what is offered is not kept up with: clearly fewer requests complete than
   *     arrive, and the queue grows beyond chance
   * @param held whether it grows before requests are sent, held back by a throttle or a limit of
   *     requests in flight, and not on the server; then it counts those that wait to be sent
   */
  public record Queue(boolean grows, boolean held, long start, long end) {

    /**
     * That a load is not kept up with, and by whom: {@code it does not keep up with 40 requests/s:
     * the queue grew to 41}, or {@code the load generator did not send 40 requests/s: …}.
     */
    public String words(String load) {
      return (held ? "the load generator did not send " + load : "it does not keep up with " + load)
          + ": "
          + reason();
    }

    /** What shows it: {@code the queue grew to 41}. */
    public String reason() {
      return held
          ? NumberText.counted(end, "request")
              + " waited here at the end, held back by a throttle, by maxInFlight or by a limit per"
              + " minute, not by the server"
          : "the queue grew to " + NumberText.count(end);
    }
  }

  /**
   * A window that begins at an instant and is measured for so long, or for several times as long.
   *
   * @param from in epoch nanoseconds
   * @param nanos of one time
   * @param times how often at most
   */
  public Backlog(long from, long nanos, int times) {
    this.from = from;
    this.nanos = Math.max(1, nanos);
    this.end = this.nanos * times;
    this.most = PARTS * times;
    waiting = new Flow();
    unfinished = new Flow();
    held = new Flow();
    sentWaiting = new Flow();
    sentUnfinished = new Flow();
    completed = new Instants();
    stays = Stream.generate(Moments::new).limit(most).toList();
  }

  /** The part in which an instant lies; −1 before the window, {@code most} behind all. */
  private int part(long instant) {
    if (instant < from) {
      return -1;
    }
    long after = instant - from;
    return after >= end ? most : (int) (after * PARTS / nanos);
  }

  /** Instants, counted by the parts in which they lie. */
  private final class Instants {
    private final long[] counts = new long[most];
    private long before;

    void add(int part) {
      if (part < 0) {
        before++;
      } else if (part < most) {
        counts[part]++;
      }
    }

    long between(int first, int end) {
      long sum = 0;
      for (int part = first; part < end; part++) {
        sum += counts[part];
      }
      return sum;
    }
  }

  /** Requests that came, and left. */
  private final class Flow {
    private final Instants came = new Instants();
    private final Instants left = new Instants();

    /** By parts; what never leaves does so behind all. */
    void add(int comes, int leaves) {
      came.add(comes);
      left.add(leaves);
    }

    boolean grows(int parts) {
      return came.between(parts / 2, parts) > left.between(parts / 2, parts)
          && isBeyondChance(0, parts);
    }

    boolean growsLate(int parts) {
      return isBeyondChance(parts / 2, parts);
    }

    private boolean isBeyondChance(int first, int end) {
      long in = came.between(first, end);
      long out = left.between(first, end);
      return in - out >= BEYOND_CHANCE * Math.sqrt((double) in + out);
    }

    Queue queue(boolean grows, boolean held, int parts) {
      long before = came.before - left.before;
      long end = before + came.between(0, parts) - left.between(0, parts);
      return new Queue(grows, held, before, end);
    }
  }

  /** Adds a request of the level's target and scenario, whichever level it was scheduled in. */
  public void add(RequestRecord record) {
    RequestRecord.Timing timing = record.timing();
    Long admitted = timing.admittedUnixNanos();
    long sent = admitted == null ? NEVER : admitted;
    long over =
        (admitted == null ? timing.startUnixNanos() : admitted)
            + Objects.requireNonNullElse(timing.closedNanos(), 0L);
    boolean isCut = record.outcome().status() == RequestStatus.CANCELLED && over >= from;
    Long ttft = timing.ttftNanos();
    long begun = admitted != null && ttft != null ? admitted + ttft : NEVER;
    add(
        timing.scheduledUnixNanos(),
        sent,
        record.identity().streamed() ? begun : null,
        over,
        isCut ? NEVER : over,
        record.outcome().ok());
  }

  /**
   * Adds a request by its instants.
   *
   * @param begun its first token; null where there is no stream
   * @param over when it ended or was cut off
   * @param ended {@link #NEVER} where it was cut off
   */
  void add(long came, long sent, @Nullable Long begun, long over, long ended, boolean ok) {
    int in = part(came);
    int admitted = part(sent);
    int out = part(ended);
    unfinished.add(in, out);
    held.add(in, Math.min(admitted, out));
    if (sent != NEVER) {
      sentUnfinished.add(admitted, out);
    }
    if (begun != null) {
      streams = true;
      int first = Math.min(part(begun), out);
      waiting.add(in, first);
      if (sent != NEVER) {
        sentWaiting.add(admitted, first);
      }
    }
    if (ok) {
      completed.add(out);
    }
    if (in >= 0 && in < most) {
      stays.get(in).add((over - came) / 1e9, 1);
    }
  }

  /** The queue over the window measured once. */
  public Queue queue() {
    return queue(1);
  }

  /**
   * The streams that wait for their first token; else, and for bodies, what has not ended.
   *
   * @param times how often as long as planned was measured
   */
  public Queue queue(int times) {
    int parts = Math.min(most, PARTS * times);
    boolean isBehind =
        completed.between(parts / 2, parts)
            <= CLEARLY_BELOW * unfinished.came.between(parts / 2, parts);
    if (isBehind && waiting.grows(parts)) {
      return held.grows(parts) && !sentWaiting.grows(parts)
          ? held.queue(true, true, parts)
          : waiting.queue(true, false, parts);
    }
    if (isBehind && unfinished.growsLate(parts) && staysGrow(parts)) {
      return held.growsLate(parts) && !sentUnfinished.growsLate(parts)
          ? held.queue(true, true, parts)
          : unfinished.queue(true, false, parts);
    }
    return (streams ? waiting : unfinished).queue(false, false, parts);
  }

  private boolean staysGrow(int parts) {
    Moments early = stays(0, parts / 4);
    Moments late = stays(parts / 2, parts);
    double growth = late.mean() - early.mean();
    double error = Math.sqrt(meanVariance(early) + meanVariance(late));
    double seconds = nanos * (double) parts / PARTS / 1e9;
    return early.count() > 1 && growth >= SLOPE * APART * seconds && growth >= FAR_BEYOND * error;
  }

  private Moments stays(int first, int end) {
    Moments all = new Moments();
    stays.subList(first, end).forEach(all::add);
    return all;
  }

  /** The variance of a mean. */
  private static double meanVariance(Moments stays) {
    return stays.std() * stays.std() / Math.max(1, stays.count() - 1);
  }
}
