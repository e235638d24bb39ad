package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Figures.FailingSpan;
import io.github.gatlingllm.metric.Figures.Failures;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * How a target failed: how often, and whether it was away for a while.
 *
 * <pre>
 * ok       ├────┤ ├──────┤                    ├────┤
 * failed          ├────────×  × ├──×   ├──×
 * failing span           └─────────────────┘  back
 * </pre>
 *
 * <p>A failing span is a time in which requests failed while none that succeeds was under way: from
 * the first failing one, or the last ok one's end, to the end of the last failing one. A request
 * that was limited (429), or cancelled after tokens had come, shows a server that is there. Time is
 * cut into at most a million slots, of 10 ms in runs of up to three hours; memory is 128 KiB, and 8
 * MiB at most where requests fail.
 */
final class Outages {

  private static final double LEAST_S = 1;
  private static final int LEAST_REQUESTS = 3;

  /** How often a run as good as this one may have such a span by chance. */
  private static final double CHANCE = 0.01;

  private final TimeSlots slots;
  private final BitSet served = new BitSet();
  private int[] begun = {};
  private int[] over = {};
  private long firstNanos = Long.MAX_VALUE;
  private long lastNanos = Long.MIN_VALUE;
  private long ended;
  private long failed;

  /**
   * Nothing seen yet.
   *
   * @param from start of the run, epoch nanoseconds
   * @param until its end
   */
  Outages(long from, long until) {
    slots = TimeSlots.of(from, until);
  }

  /** Adds a request to the target, of any phase. */
  void add(RequestRecord record) {
    Long admitted = record.timing().admittedUnixNanos();
    Long closed = record.timing().closedUnixNanos();
    if (admitted == null || closed == null) {
      return;
    }
    RequestStatus status = record.outcome().status();
    boolean isServed =
        status == RequestStatus.COMPLETE
            || status == RequestStatus.RATE_LIMITED
            || (status == RequestStatus.CANCELLED && record.timing().ttftNanos() != null);
    firstNanos = Math.min(firstNanos, admitted);
    lastNanos = Math.max(lastNanos, closed);
    ended += status == RequestStatus.CANCELLED ? 0 : 1;
    if (isServed) {
      slots.set(served, admitted, closed);
    } else if (status != RequestStatus.CANCELLED) {
      failed++;
      begun = slots.add(begun, slots.at(admitted), 1);
      over = slots.add(over, slots.at(closed), 1);
    }
  }

  /** What was seen. */
  Failures failures() {
    long outages = 0;
    double awayS = 0;
    FailingSpan longest = null;
    int slot = served.nextClearBit(0);
    int counted = 0;
    long underWay = 0;
    while (slot < over.length) {
      int back = served.nextSetBit(slot);
      for (; counted < slot; counted++) {
        underWay += at(begun, counted) - at(over, counted);
      }
      FailingSpan span = span(slot, back < 0 ? over.length : back, underWay, back);
      if (span != null) {
        boolean isOutage = isOutage(span);
        outages += isOutage ? 1 : 0;
        awayS += isOutage ? span.seconds() : 0;
        longest = longest == null || isBefore(span, longest) ? span : longest;
      }
      slot = back < 0 ? over.length : served.nextClearBit(back);
    }
    Double between = failed == 0 ? null : (Double) ((lastNanos - firstNanos) / 1e9 / failed);
    return new Failures(ended, failed, between, outages, awayS, longest);
  }

  /** An outage stands before longer spans that chance may have made. */
  private boolean isBefore(FailingSpan span, FailingSpan other) {
    boolean isOutage = isOutage(span);
    return isOutage == isOutage(other) ? span.seconds() > other.seconds() : isOutage;
  }

  /** What failed from one slot to before another, in which nothing was served. */
  private @Nullable FailingSpan span(int from, int end, long underWayBefore, int back) {
    long underWay = underWayBefore;
    int first = underWay > 0 ? from : -1;
    int to = from;
    long sent = 0;
    for (int slot = from; slot < Math.min(end, over.length); slot++) {
      int more = at(begun, slot);
      first = first < 0 && more > 0 ? slot : first;
      sent += more;
      underWay += more - at(over, slot);
      to = underWay > 0 || at(over, slot) > 0 ? slot + 1 : to;
    }
    return first < 0
        ? null
        : new FailingSpan(
            slots.seconds(first),
            slots.seconds(to),
            underWayBefore + sent,
            sent,
            back < 0 ? null : (Double) slots.seconds(back));
  }

  /**
   * Whether the target was away: for a second or more, in several requests, with others that
   * succeed before or after it, and not by chance, as it comes with so many failures anyway. Where
   * none succeeds after it, the last requests of the run may be all that failed: some were sent in
   * it then.
   */
  private boolean isOutage(FailingSpan span) {
    return span.seconds() >= LEAST_S
        && span.requests() >= LEAST_REQUESTS
        && !served.isEmpty()
        && (span.backAtS() != null || span.sent() >= LEAST_REQUESTS)
        && runsByChance(span.requests()) < CHANCE;
  }

  /** How many runs of so many failures there would be if requests failed in random order. */
  private double runsByChance(long length) {
    double logarithm = Math.log((double) (ended - failed + 1));
    for (long i = 0; i < length; i++) {
      logarithm += Math.log((double) (failed - i) / (ended - i));
    }
    return Math.exp(logarithm);
  }

  private static int at(int[] slotted, int slot) {
    return slot < slotted.length ? slotted[slot] : 0;
  }
}
