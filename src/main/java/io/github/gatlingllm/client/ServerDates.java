package io.github.gatlingllm.client;

import io.github.gatlingllm.record.ClockOffset.DateChange;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Records when the {@code Date} header of a server's responses changed, second by second. The
 * server sets {@code Date} between the sending of the request and the arrival of the response
 * headers, so the responses around a change are bounds for the time of the change, without extra
 * requests. It costs one string comparison per response and about a hundred bytes per second.
 * Thread-safe.
 */
final class ServerDates {

  /** A date this many seconds (more than a day) from the first one is ignored. */
  private static final long MAX_SECONDS = 100_000;

  private final TreeMap<Long, DateSecond> bySecond = new TreeMap<>();
  private String latestText = "";
  private @Nullable DateSecond latest;

  /** The responses with one {@code Date}. */
  private static final class DateSecond {
    private long lastSent = Long.MIN_VALUE;
    private long firstReceived = Long.MAX_VALUE;
  }

  /**
   * Adds a response.
   *
   * @param date its {@code Date} header; null for none
   * @param sentNanos when the request was handed to the connection
   * @param receivedNanos when the response headers were read
   */
  synchronized void answered(@Nullable String date, long sentNanos, long receivedNanos) {
    if (date == null) {
      return;
    }
    if (!date.equals(latestText)) {
      latestText = date;
      latest = second(ResponseHeaders.instant(date));
    }
    if (latest != null) {
      latest.lastSent = Math.max(latest.lastSent, sentNanos);
      latest.firstReceived = Math.min(latest.firstReceived, receivedNanos);
    }
  }

  private @Nullable DateSecond second(@Nullable Instant date) {
    if (date == null) {
      return null;
    }
    long second = date.getEpochSecond();
    boolean isFar = !bySecond.isEmpty() && Math.abs(second - bySecond.firstKey()) >= MAX_SECONDS;
    return isFar ? null : bySecond.computeIfAbsent(second, key -> new DateSecond());
  }

  /**
   * The changes in order of time.
   *
   * @param clock converts {@code nanoTime} to epoch time
   */
  synchronized List<DateChange> changes(LongUnaryOperator clock) {
    if (bySecond.isEmpty()) {
      return List.of();
    }
    long first = bySecond.firstKey();
    long[] before = new long[Math.toIntExact(bySecond.lastKey() - first)];
    long received = Long.MAX_VALUE;
    for (int i = before.length - 1; i >= 0; i--) {
      DateSecond second = bySecond.get(first + i + 1);
      received = second == null ? received : Math.min(received, second.firstReceived);
      before[i] = received;
    }
    List<DateChange> changes = new ArrayList<>(before.length);
    long sent = Long.MIN_VALUE;
    for (int i = 0; i < before.length; i++) {
      DateSecond second = bySecond.get(first + i);
      sent = second == null ? sent : Math.max(sent, second.lastSent);
      changes.add(
          new DateChange(first + i + 1, clock.applyAsLong(sent), clock.applyAsLong(before[i])));
    }
    return changes;
  }
}
