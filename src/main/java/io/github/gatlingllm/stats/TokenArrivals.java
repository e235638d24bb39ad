package io.github.gatlingllm.stats;

import io.github.gatlingllm.check.AnswerCounts.TokenTimes;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.TokenGaps;

/**
 * When the tokens of a request arrived.
 *
 * <p>With event times: each event brings the tokens that the server said, else an even share of N.
 * Without: N tokens at equal distances from the first token to the last. Not streamed: all tokens
 * with the last byte of the body.
 */
final class TokenArrivals {

  private TokenArrivals() {}

  /** Receives the arrivals in order. */
  @FunctionalInterface
  interface Visitor {
    void tokens(long unixNanos, double tokens);
  }

  static TokenTimes visit(RequestRecord record, Visitor visitor) {
    Long admitted = record.timing().admittedUnixNanos();
    if (admitted == null) {
      return TokenTimes.KNOWN;
    }
    int[] offsets = record.events().offsetsMicros();
    if (offsets.length > 0) {
      return events(record, admitted, offsets, visitor);
    }
    Long last = record.timing().latencyNanos();
    Long first = record.timing().ttftNanos();
    if (last == null) {
      return TokenTimes.KNOWN;
    }
    if (first == null) {
      Integer tokens = record.tokens().outputTokens();
      if (record.identity().streamed() || tokens == null) {
        return TokenTimes.KNOWN;
      }
      visitor.tokens(admitted + last, tokens);
      return TokenTimes.KNOWN;
    }
    Integer known = record.tokens().n();
    int n = known == null ? record.events().count() : known;
    for (int i = 0; i < n; i++) {
      double part = n == 1 ? 0 : (double) i / (n - 1);
      visitor.tokens(admitted + first + Math.round(part * (last - first)), 1);
    }
    return TokenTimes.INTERPOLATED;
  }

  private static TokenTimes events(
      RequestRecord record, long admitted, int[] offsets, Visitor visitor) {
    int[] tokens = record.events().tokens();
    boolean known = tokens.length == offsets.length;
    double share = TokenGaps.share(offsets.length, record.tokens());
    for (int i = 0; i < offsets.length; i++) {
      visitor.tokens(admitted + offsets[i] * 1_000L, known ? tokens[i] : share);
    }
    return known || share == 1 ? TokenTimes.KNOWN : TokenTimes.SHARED;
  }
}
