package io.github.gatlingllm.client;

import io.github.gatlingllm.record.ClockOffset.DateChange;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * When the {@code Date} of one server's answers changed, second by second. Whatever an answer's
 * {@code Date} is, the server put it there after the request was sent and before its headers came;
 * answers around a change bound when it was, and no request is sent for that. A comparison of texts
 * per answer, some hundred bytes per second of a run. Thread-safe.
 */
final class ServerDates {

  /** Of more than a day no more is noted; and a date that far from the first is none. */
  private static final long MOST_SECONDS = 100_000;

  private final TreeMap<Long, Seen> bySecond = new TreeMap<>();
  private String latestText = "";
  private @Nullable Seen latest;

  /** The answers with one {@code Date}. */
  private static final class Seen {
    private long lastSent = Long.MIN_VALUE;
    private long firstReceived = Long.MAX_VALUE;
  }

  /**
   * One answer.
   *
   * @param date its header; null for none
   * @param sentNanos when its request was handed to the connection
   * @param receivedNanos when its headers were read
   */
  synchronized void answered(@Nullable String date, long sentNanos, long receivedNanos) {
    if (date == null) {
      return;
    }
    if (!date.equals(latestText)) {
      latestText = date;
      latest = seen(AnswerHeaders.instant(date));
    }
    if (latest != null) {
      latest.lastSent = Math.max(latest.lastSent, sentNanos);
      latest.firstReceived = Math.min(latest.firstReceived, receivedNanos);
    }
  }

  private @Nullable Seen seen(@Nullable Instant date) {
    if (date == null) {
      return null;
    }
    long second = date.getEpochSecond();
    boolean isFar = !bySecond.isEmpty() && Math.abs(second - bySecond.firstKey()) >= MOST_SECONDS;
    return isFar ? null : bySecond.computeIfAbsent(second, any -> new Seen());
  }

  /**
   * The changes, in order of time.
   *
   * @param clock epoch time of a reading of the monotonic clock
   */
  synchronized List<DateChange> changes(LongUnaryOperator clock) {
    if (bySecond.isEmpty()) {
      return List.of();
    }
    long first = bySecond.firstKey();
    long[] before = new long[Math.toIntExact(bySecond.lastKey() - first)];
    long received = Long.MAX_VALUE;
    for (int i = before.length - 1; i >= 0; i--) {
      Seen seen = bySecond.get(first + i + 1);
      received = seen == null ? received : Math.min(received, seen.firstReceived);
      before[i] = received;
    }
    List<DateChange> changes = new ArrayList<>(before.length);
    long sent = Long.MIN_VALUE;
    for (int i = 0; i < before.length; i++) {
      Seen seen = bySecond.get(first + i);
      sent = seen == null ? sent : Math.max(sent, seen.lastSent);
      changes.add(
          new DateChange(first + i + 1, clock.applyAsLong(sent), clock.applyAsLong(before[i])));
    }
    return changes;
  }
}
