package io.github.gatlingllm.enginestats;

import io.github.gatlingllm.record.RequestRecord;

/** What a run sent to one target, requests of all phases. */
public final class SentRequests {

  private long count;
  private long ok;
  private long outputTokens;
  private long fromUnixNanos = Long.MAX_VALUE;
  private long untilUnixNanos = Long.MIN_VALUE;

  /** Adds a request. */
  public void add(RequestRecord record) {
    Long admitted = record.timing().admittedUnixNanos();
    if (admitted == null) {
      return;
    }
    count++;
    ok += record.outcome().ok() ? 1 : 0;
    Integer tokens = record.tokens().outputTokens();
    outputTokens += tokens == null ? 0 : tokens;
    Long closed = record.timing().closedUnixNanos();
    fromUnixNanos = Math.min(fromUnixNanos, admitted);
    untilUnixNanos = Math.max(untilUnixNanos, closed == null ? admitted : closed);
  }

  void add(SentRequests other) {
    count += other.count;
    ok += other.ok;
    outputTokens += other.outputTokens;
    fromUnixNanos = Math.min(fromUnixNanos, other.fromUnixNanos);
    untilUnixNanos = Math.max(untilUnixNanos, other.untilUnixNanos);
  }

  /** How many were sent. */
  public long count() {
    return count;
  }

  /** Of those, how many were complete and passed their checks. */
  public long ok() {
    return ok;
  }

  /** Output tokens of all, as counted for the report. */
  public long outputTokens() {
    return outputTokens;
  }

  boolean isWithin(long from, long until) {
    return count > 0 && from <= fromUnixNanos && untilUnixNanos <= until;
  }
}
