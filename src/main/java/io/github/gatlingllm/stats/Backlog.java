package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.stats.Summary.Queue;
import io.github.gatlingllm.stats.Windows.LevelWindow;
import java.util.Objects;

/**
 * The requests of an open load level that have come and not left: whether the server keeps up.
 *
 * <p>It does not where fewer than {@value #CLEARLY_BELOW} of the arrivals in the second half of the
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
 */
final class Backlog {

  private static final double CLEARLY_BELOW = 0.9;
  private static final double SLOPE = 0.1;
  private static final double BEYOND_CHANCE = 2.33;
  private static final double FAR_BEYOND = 3;

  /** Between the middles of the first quarter and of the second half, in windows. */
  private static final double APART = 0.625;

  private final LevelWindow window;
  private final Flow waiting = new Flow();
  private final Flow unfinished = new Flow();
  private final Moments earlyStays = new Moments();
  private final Moments lateStays = new Moments();
  private boolean streams;
  private long completedLate;

  Backlog(LevelWindow window) {
    this.window = window;
  }

  /** Requests that came, and left: first tokens, or ends. */
  private final class Flow {
    private long before;
    private long in;
    private long inLate;
    private long out;
    private long outLate;

    /** {@code left} is {@link Long#MAX_VALUE} for a request that never did. */
    void add(long came, long left) {
      if (came < window.from() && left >= window.from()) {
        before++;
      }
      if (window.contains(came)) {
        in++;
        inLate += isLate(came) ? 1 : 0;
      }
      if (window.contains(left)) {
        out++;
        outLate += isLate(left) ? 1 : 0;
      }
    }

    boolean grows() {
      return inLate > outLate && isBeyondChance(in, out);
    }

    boolean growsLate() {
      return isBeyondChance(inLate, outLate);
    }

    private boolean isBeyondChance(long came, long left) {
      return came - left >= BEYOND_CHANCE * Math.sqrt((double) came + left);
    }

    Queue queue(boolean grows) {
      return new Queue(grows, before, before + in - out);
    }
  }

  private boolean isLate(long unixNanos) {
    return window.position(unixNanos) >= 0.5;
  }

  /** Adds a request of the level's target and scenario, whichever level it was scheduled in. */
  void add(RequestRecord record) {
    streams |= record.identity().streamed();
    RequestRecord.Timing timing = record.timing();
    long came = timing.scheduledUnixNanos();
    if (came >= window.to()) {
      return;
    }
    long over = timing.startUnixNanos() + Objects.requireNonNullElse(timing.closedNanos(), 0L);
    Long admitted = timing.admittedUnixNanos();
    if (admitted != null) {
      over += admitted - timing.startUnixNanos();
    }
    boolean isCut = record.outcome().status() == RequestStatus.CANCELLED && over >= window.from();
    long ended = isCut ? Long.MAX_VALUE : over;
    Long ttft = timing.ttftNanos();
    unfinished.add(came, ended);
    if (record.identity().streamed()) {
      waiting.add(came, admitted != null && ttft != null ? admitted + ttft : ended);
    }
    if (record.outcome().ok() && window.contains(ended) && isLate(ended)) {
      completedLate++;
    }
    if (window.contains(came)) {
      double position = window.position(came);
      double staySeconds = (over - came) / 1e9;
      if (position < 0.25) {
        earlyStays.add(staySeconds, 1);
      } else if (position >= 0.5) {
        lateStays.add(staySeconds, 1);
      }
    }
  }

  /** The streams that wait for their first token; else, and for bodies, what has not ended. */
  Queue queue() {
    boolean isBehind = completedLate <= CLEARLY_BELOW * unfinished.inLate;
    if (isBehind && waiting.grows()) {
      return waiting.queue(true);
    }
    boolean pilesUp = isBehind && unfinished.growsLate() && staysGrow();
    return pilesUp || !streams ? unfinished.queue(pilesUp) : waiting.queue(false);
  }

  private boolean staysGrow() {
    double growth = lateStays.mean() - earlyStays.mean();
    double error = Math.sqrt(meanVariance(earlyStays) + meanVariance(lateStays));
    return earlyStays.count() > 1
        && growth >= SLOPE * APART * window.nanos() / 1e9
        && growth >= FAR_BEYOND * error;
  }

  /** The variance of a mean. */
  private static double meanVariance(Moments stays) {
    return stays.std() * stays.std() / Math.max(1, stays.count() - 1);
  }
}
