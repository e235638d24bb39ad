package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Figures.FailingSpan;
import io.github.gatlingllm.figures.metric.Figures.Failures;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The failures of a target, and the times in which it was unavailable.
 *
 * <pre>
 * ok       ├────┤ ├──────┤                    ├────┤
 * failed          ├────────×  × ├──×   ├──×
 * failing span           └─────────────────┘  back
 * </pre>
 *
 * <p>A failing span is a time in which requests failed while no request that succeeded was in
 * flight: from the start of the first failing request, or the end of the last ok one, to the end of
 * the last failing request. Rate-limited requests (429), and requests cancelled after their first
 * token, show that the server is available; failures by a limit of the load generator show neither.
 * Memory is 128 KiB; at most 8 MiB where requests fail.
 */
final class Outages {

  private static final double MIN_S = 1;
  private static final int MIN_REQUESTS = 3;

  /** Highest number of such spans expected by chance in a run with this number of failures. */
  private static final double CHANCE = 0.01;

  private final TimeSlots slots;
  private final BitSet served = new BitSet();
  private int[] begun = {};
  private int[] over = {};
  private long firstNanos = Long.MAX_VALUE;
  private long lastNanos = Long.MIN_VALUE;
  private long ended;
  private long failed;

  Outages(long from, long until) {
    slots = TimeSlots.ofRun(from, until);
  }

  void add(RequestRecord record) {
    Long admitted = record.timing().admittedUnixNanos();
    Long closed = record.timing().closedUnixNanos();
    boolean isOurs = GeneratorLimit.of(record.outcome().error()) != null;
    if (admitted == null || closed == null || isOurs) {
      return;
    }
    RequestStatus status = record.outcome().status();
    boolean isServed =
        status == RequestStatus.COMPLETE
            || status == RequestStatus.CHECK_FAILED
            || status == RequestStatus.RATE_LIMITED
            || (status.isCut() && record.timing().ttftNanos() != null);
    firstNanos = Math.min(firstNanos, admitted);
    lastNanos = Math.max(lastNanos, closed);
    ended += status.isCut() ? 0 : 1;
    if (isServed) {
      slots.set(served, admitted, closed);
    } else if (!status.isCut()) {
      failed++;
      begun = slots.add(begun, slots.at(admitted), 1);
      over = slots.add(over, slots.at(closed), 1);
    }
  }

  Failures failures() {
    List<FailingSpan> spans = spans();
    List<FailingSpan> outages = spans.stream().filter(this::isOutage).toList();
    return new Failures(
        ended,
        failed,
        failed == 0 ? null : (Double) ((lastNanos - firstNanos) / 1e9 / failed),
        outages.size(),
        outages.stream().mapToDouble(FailingSpan::seconds).sum(),
        (outages.isEmpty() ? spans : outages)
            .stream().reduce((a, b) -> b.seconds() > a.seconds() ? b : a).orElse(null));
  }

  /** The failing spans, each within slots in which nothing was served. */
  private List<FailingSpan> spans() {
    List<FailingSpan> spans = new ArrayList<>();
    long underWay = 0;
    int slot = 0;
    while (slot < over.length) {
      for (; slot < over.length && served.get(slot); slot++) {
        underWay += at(begun, slot) - at(over, slot);
      }
      int back = served.nextSetBit(slot);
      int first = underWay > 0 ? slot : -1;
      int to = slot;
      long before = underWay;
      long sent = 0;
      for (; slot < over.length && slot != back; slot++) {
        int more = at(begun, slot);
        first = first < 0 && more > 0 ? slot : first;
        sent += more;
        underWay += more - at(over, slot);
        to = underWay > 0 || at(over, slot) > 0 ? slot + 1 : to;
      }
      if (first >= 0) {
        Double backAt = back < 0 ? null : (Double) slots.seconds(back);
        spans.add(
            new FailingSpan(slots.seconds(first), slots.seconds(to), before + sent, sent, backAt));
      }
    }
    return spans;
  }

  /** Several requests must have been sent in a last span: else only the run's last ones failed. */
  private boolean isOutage(FailingSpan span) {
    return span.seconds() >= MIN_S
        && span.requests() >= MIN_REQUESTS
        && !served.isEmpty()
        && (span.backAtS() != null || span.sent() >= MIN_REQUESTS)
        && runsByChance(span.requests()) < CHANCE;
  }

  /** Expected number of spans of that many failures if requests failed in random order. */
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
