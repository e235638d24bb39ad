package io.github.gatlingllm.record;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The gaps between the token-bearing events of one request.
 *
 * <p>ICL is the gap between consecutive events of one choice. ITL is that gap ÷ the tokens of the
 * event that ends it, counted once per token. Tokens per event are those that the server reports;
 * otherwise N is divided evenly among the events, at least one each. An event of 0 tokens ends no
 * inter-token gap: its gap is part of the next one. Tokens that were counted after the last event
 * have no gap.
 *
 * <pre>
 * offsets µs   100  130  190       ICL  30, 60
 * tokens         1    1    3       ITL  30, 20, 20, 20
 * </pre>
 */
public final class TokenGaps {

  /** Percentiles of requests with more tokens are not computed. */
  public static final long MAX_TOKENS = 1_000_000;

  /** Default speed of a reader, tokens per second: 225 words per minute. */
  public static final double READING_SPEED = 5;

  private static final double MAX_READING_SPEED = 1_000_000;

  private static final double[] NONE = {};

  private TokenGaps() {}

  /** Receives the gaps in order of arrival. */
  @FunctionalInterface
  public interface Visitor {

    /** The gap before an event in microseconds, in total and per token of it. */
    void gap(int eventIndex, int chunkMicros, double tokenMicros, int tokens);
  }

  /** Visits every gap; there is none with fewer than two events or without event times. */
  public static void visit(RequestRecord.Events events, RequestRecord.Tokens tokens, Visitor v) {
    int[] offsets = events.offsetsMicros();
    if (offsets.length < 2) {
      return;
    }
    boolean known = events.tokens().length == offsets.length;
    boolean oneChoice = events.choices().length != offsets.length;
    double share = share(offsets.length, tokens.streamedTokens());
    Map<Integer, int[]> tails = oneChoice ? Map.of() : new HashMap<>();
    int[] tail = null;
    for (int i = 0; i < offsets.length; i++) {
      int count = known ? events.tokens()[i] : share == 1 ? 1 : evenly(share, i);
      count -= i == offsets.length - 1 ? events.tail() : 0;
      int[] last = oneChoice ? tail : tails.get(events.choices()[i]);
      if (last == null) {
        last = new int[] {offsets[i], offsets[i]};
        tail = last;
        if (!oneChoice) {
          tails.put(events.choices()[i], last);
        }
        continue;
      }
      double perToken = (offsets[i] - last[1]) / (known ? Math.max(1, count) : share);
      v.gap(i, offsets[i] - last[0], perToken, Math.max(0, count));
      last[0] = offsets[i];
      if (count > 0) {
        last[1] = offsets[i];
      }
    }
  }

  /** The nearest-rank percentile of {@link #sortedTokenMicros}; null without values. */
  public static @Nullable Double tokenMicrosAt(
      RequestRecord.Events events, RequestRecord.Tokens tokens, double percent) {
    double[] ascending = sortedTokenMicros(events, tokens);
    return ascending.length == 0 ? null : (Double) nearestRank(ascending, percent);
  }

  /** ITL of a request in microseconds, ascending; empty above a million tokens. */
  public static double[] sortedTokenMicros(
      RequestRecord.Events events, RequestRecord.Tokens tokens) {
    long[] total = {0};
    visit(events, tokens, (i, chunk, perToken, count) -> total[0] += count);
    if (total[0] == 0 || total[0] > MAX_TOKENS) {
      return NONE;
    }
    double[] values = new double[(int) total[0]];
    int[] at = {0};
    visit(
        events,
        tokens,
        (i, chunk, perToken, count) -> {
          Arrays.fill(values, at[0], at[0] + count, perToken);
          at[0] += count;
        });
    Arrays.sort(values);
    return values;
  }

  /** The nearest-rank percentile of ascending values; p in (0, 100]. */
  public static double nearestRank(double[] ascending, double percent) {
    return ascending[(int) rank(percent, ascending.length) - 1];
  }

  /** The rank, from 1, of that percentile among this number of values: ⌈p ÷ 100 × n⌉. */
  public static long rank(double percent, long count) {
    // As HdrHistogram: one ulp less, so that rounding cannot reach the next rank.
    return Math.max(1, (long) Math.ceil(Math.nextDown(percent) * count / 100));
  }

  /** Tokens of each event if the server does not report them: N ÷ events, at least 1. */
  public static double share(int events, @Nullable Integer n) {
    return n == null || n < events ? 1 : (double) n / events;
  }

  /** Tokens of event {@code i}, an integer, so that they add up to N over all events. */
  private static int evenly(double share, int i) {
    return (int) (Math.floor((i + 1) * share + 1e-9) - Math.floor(i * share + 1e-9));
  }

  /** Returns the speed; throws if it is not between 0 and a million tokens per second. */
  public static double checkedReadingSpeed(double tokensPerS) {
    if (!(tokensPerS > 0 && tokensPerS <= MAX_READING_SPEED)) {
      throw new IllegalArgumentException("expected tokens per second, above 0 and at most 1e6");
    }
    return tokensPerS;
  }

  /**
   * The total time that a reader of the answer waits for late tokens, in nanoseconds, rounded to
   * microseconds; with several choices the longest one. Null without event times. The reader reads
   * at a constant speed while the answer is streamed: starts with the first token and waits for
   * every token that has not arrived yet.
   *
   * <pre>
   * 5 tokens/s, tokens arrive at s   1.0  1.1  1.7  1.8
   * are due at                       1.0  1.2  1.4  1.9   waits 0.3 s for the third token
   * </pre>
   *
   * <p>The total wait equals the playout delay of the stream: the delay after which the reader
   * could start and never wait. It is the largest of tᵢ − t₁ − (i − 1) ÷ speed over all tokens i.
   */
  public static @Nullable Long stallNanos(RequestRecord record, double tokensPerS) {
    int[] offsets = record.events().offsetsMicros();
    if (offsets.length == 0 || record.isOneBody()) {
      return null;
    }
    int[] reported = record.events().tokens();
    int[] choices = record.events().choices();
    double share = share(offsets.length, record.tokens().streamedTokens());
    double microsPerToken = 1e6 / tokensPerS;
    double longest = 0;
    Map<Integer, double[]> dueMicros = new HashMap<>();
    double[] due = {Double.NaN};
    for (int i = 0; i < offsets.length; i++) {
      double tokens = reported.length == offsets.length ? reported[i] : share;
      if (tokens > 0) {
        if (choices.length == offsets.length) {
          due = dueMicros.computeIfAbsent(choices[i], choice -> new double[] {Double.NaN});
        }
        due[0] = Double.isNaN(due[0]) ? offsets[i] : due[0];
        longest = Math.max(longest, offsets[i] - due[0]);
        due[0] += tokens * microsPerToken;
      }
    }
    return Math.round(longest) * 1_000;
  }
}
