package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The backlog of an open load level: requests that have arrived and not ended, and whether the
 * server keeps up with the offered load.
 *
 * <p>The server does not keep up if the completions in the second half of the measure window are
 * less than {@value #CLEARLY_BELOW} of the arrivals there, and one of these conditions holds:
 *
 * <ul>
 *   <li>The number of streams that wait for their first token grew, over the window and in its
 *       second half.
 *   <li>The number of requests that have not ended grew in the second half, and their duration grew
 *       by {@value #SLOPE} s or more per second between the first quarter and the second half: if
 *       answers are merely long, late ones take no longer than early ones.
 * </ul>
 *
 * <p>Growth must be significant: the difference of arrivals and departures, whose variance is their
 * sum, exceeds {@value #SIGNIFICANT_DEVIATIONS} standard deviations (1 % of steady windows do). If
 * requests that wait to be sent grew in number and sent ones did not, the load generator holds them
 * back. Requests are counted per eighth of the window, so memory is bounded.
 */
public final class Backlog {

  private static final double CLEARLY_BELOW = 0.9;
  private static final double SLOPE = 0.1;
  private static final double SIGNIFICANT_DEVIATIONS = 2.33;
  private static final double SIGNIFICANT_ERRORS = 3;

  private static final int PARTS = 8;

  /** Distance between the middles of the first quarter and of the second half, in windows. */
  private static final double APART = 0.625;

  static final long NEVER = Long.MAX_VALUE;

  private final long from;
  private final long nanos;
  private final long end; // of all parts, since the start of the window
  private final int max;
  private final Flow waiting;
  private final Flow unfinished;
  private final Flow unsent;
  private final Flow sentWaiting;
  private final Flow sentUnfinished;
  private final Instants completed;
  private final List<Moments> durations;
  private boolean streams;

  /**
   * Waiting requests at the start and the end of a measure window: those without their first token;
   * for responses in one body, or if only requests that already stream accumulate, those that have
   * not ended.
   *
   * @param held whether the load generator holds requests back, not the server
   */
  public record Queue(boolean grows, boolean held, long start, long end) {

    /** A clause such as {@code does not keep up with 40 requests/s: the queue grew to 41}. */
    public Sentence clause(String load) {
      return Sentence.of("queue", held, load, reason());
    }

    public Sentence reason() {
      return Sentence.of("queue.reason", held, end);
    }
  }

  /** A window from an epoch instant that may be extended to a multiple of its planned length. */
  public Backlog(long from, long nanos, int times) {
    this.from = from;
    this.nanos = Math.max(1, nanos);
    this.end = this.nanos * times;
    this.max = PARTS * times;
    waiting = new Flow();
    unfinished = new Flow();
    unsent = new Flow();
    sentWaiting = new Flow();
    sentUnfinished = new Flow();
    completed = new Instants();
    durations = Stream.generate(Moments::new).limit(max).toList();
  }

  /** The index of the part; −1 before the window, {@code max} after it. */
  private int part(long instant) {
    if (instant < from) {
      return -1;
    }
    long after = instant - from;
    return after >= end ? max : (int) (after * PARTS / nanos);
  }

  private final class Instants {
    private final long[] counts = new long[max];
    private long before;

    void add(int part) {
      if (part < 0) {
        before++;
      } else if (part < max) {
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

  private final class Flow {
    private final Instants arrived = new Instants();
    private final Instants departed = new Instants();

    /** Adds a request by parts; one that never leaves has the index after the last. */
    void add(int arrives, int leaves) {
      arrived.add(arrives);
      departed.add(leaves);
    }

    boolean grows(int parts) {
      return arrived.between(parts / 2, parts) > departed.between(parts / 2, parts)
          && isSignificant(0, parts);
    }

    boolean growsInSecondHalf(int parts) {
      return isSignificant(parts / 2, parts);
    }

    private boolean isSignificant(int first, int end) {
      long in = arrived.between(first, end);
      long out = departed.between(first, end);
      return in - out >= SIGNIFICANT_DEVIATIONS * Math.sqrt((double) in + out);
    }

    Queue queue(boolean grows, boolean held, int parts) {
      long before = arrived.before - departed.before;
      long end = before + arrived.between(0, parts) - departed.between(0, parts);
      return new Queue(grows, held, before, end);
    }
  }

  /** Adds a request of the level's target and scenario, of whatever level it was scheduled in. */
  public void add(RequestRecord record) {
    RequestRecord.Timing timing = record.timing();
    Long admitted = timing.admittedUnixNanos();
    long sent = admitted == null ? NEVER : admitted;
    long over =
        (admitted == null ? timing.startUnixNanos() : admitted)
            + Objects.requireNonNullElse(timing.closedNanos(), 0L);
    boolean isCut = record.outcome().status() == RequestStatus.CANCELLED && over >= from;
    Long ttft = timing.ttftNanos();
    long firstToken = admitted != null && ttft != null ? admitted + ttft : NEVER;
    add(
        timing.scheduledUnixNanos(),
        sent,
        record.identity().streamed() ? firstToken : null,
        over,
        isCut ? NEVER : over,
        record.outcome().ok());
  }

  void add(long arrived, long sent, @Nullable Long firstToken, long over, long ended, boolean ok) {
    streams |= firstToken != null;
    boolean isBefore = Math.max(arrived, ended) < from && (sent == NEVER || sent < from);
    long first = firstToken == null ? NEVER : firstToken;
    boolean isAfter = Math.min(Math.min(arrived, sent), Math.min(first, ended)) - from >= end;
    if (isBefore || isAfter) {
      return; // in none of its parts
    }
    int in = part(arrived);
    int admitted = part(sent);
    int out = part(ended);
    unfinished.add(in, out);
    unsent.add(in, Math.min(admitted, out));
    if (sent != NEVER) {
      sentUnfinished.add(admitted, out);
    }
    if (firstToken != null) {
      int answered = Math.min(part(first), out);
      waiting.add(in, answered);
      if (sent != NEVER) {
        sentWaiting.add(admitted, answered);
      }
    }
    if (ok) {
      completed.add(out);
    }
    if (in >= 0 && in < max) {
      durations.get(in).add((over - arrived) / 1e9, 1);
    }
  }

  public Queue queue() {
    return queue(1);
  }

  /** The queue over a multiple of the planned window. */
  public Queue queue(int times) {
    int parts = Math.min(max, PARTS * times);
    boolean isBehind =
        completed.between(parts / 2, parts)
            <= CLEARLY_BELOW * unfinished.arrived.between(parts / 2, parts);
    if (isBehind && waiting.grows(parts)) {
      return unsent.grows(parts) && !sentWaiting.grows(parts)
          ? unsent.queue(true, true, parts)
          : waiting.queue(true, false, parts);
    }
    if (isBehind && unfinished.growsInSecondHalf(parts) && durationsGrow(parts)) {
      return unsent.growsInSecondHalf(parts) && !sentUnfinished.growsInSecondHalf(parts)
          ? unsent.queue(true, true, parts)
          : unfinished.queue(true, false, parts);
    }
    return (streams ? waiting : unfinished).queue(false, false, parts);
  }

  private boolean durationsGrow(int parts) {
    Moments early = durations(0, parts / 4);
    Moments late = durations(parts / 2, parts);
    double growth = late.mean() - early.mean();
    double error = Math.sqrt(meanVariance(early) + meanVariance(late));
    double seconds = nanos * (double) parts / PARTS / 1e9;
    return early.count() > 1
        && growth >= SLOPE * APART * seconds
        && growth >= SIGNIFICANT_ERRORS * error;
  }

  private Moments durations(int first, int end) {
    Moments all = new Moments();
    durations.subList(first, end).forEach(all::add);
    return all;
  }

  private static double meanVariance(Moments durations) {
    return durations.std() * durations.std() / Math.max(1, durations.count() - 1);
  }
}
