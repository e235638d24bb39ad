package io.github.gatlingllm.record;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The instants of one request, stamped as they happen on a monotonic nanosecond clock, and
 * converted to durations once at the end.
 *
 * <pre>
 * scheduled ─ start ─ admitted ─ written ─ headers ─ first event ─ first token … last token ─ closed
 *   └ start lag ┘ └ gate wait ┘ └ connect ┘          └──────────── TTFT, E2E from admitted ────────┘
 * </pre>
 *
 * <p>A token event costs one comparison, a few stores and, amortised, no allocation. Not
 * thread-safe: one event loop owns it until the request ends.
 */
public final class Timeline {

  /** Most events of one answer whose times are kept: two hours at 300 per second. */
  private static final int MAX_EVENTS = 1 << 21;

  private static final int MAX_UNKNOWN_FIELDS = 8;

  private static final long NONE = Long.MIN_VALUE;

  private static final int UNKNOWN = -1;

  private final long scheduled;
  private final long start;
  private long admitted = NONE;
  private long paced = NONE;
  private long written = NONE;
  private long roundTrip = NONE;
  private long headers = NONE;
  private long firstEvent = NONE;
  private long firstToken = NONE;
  private long firstOutput = NONE;
  private long lastToken = NONE;
  private long body = NONE;
  private long closed = NONE;

  private int[] offsetsMicros = new int[32];

  /** How many tokens the server had counted when each event came; empty if it counts none. */
  private int[] counted = new int[0];

  /** All tokens of the answer by the server, and how many of them it only billed. */
  private int total = UNKNOWN;

  private int hidden;

  private int[] choices = new int[0];
  private int count;
  private List<String> unknownFields = List.of();
  private int coalesced;
  private int late;
  private boolean done;
  private long longestGap = NONE;

  /** First and last token instant of each choice; only choice 0 until another one comes. */
  private long[] choiceFirst = {NONE};

  private long[] choiceLast = {NONE};

  /**
   * @param scheduled planned arrival; without a plan, when its user became free
   * @param start when the request was ready to be sent; not before {@code scheduled}
   */
  public Timeline(long scheduled, long start) {
    this.scheduled = scheduled;
    this.start = start;
  }

  public void admitted(long now) {
    admitted = now;
  }

  /** How long a limit of requests or tokens per minute held the request back. */
  public void paced(long nanos) {
    paced = nanos;
  }

  public void written(long now) {
    written = now;
  }

  /** How long the TCP handshake of its connection took; null where that is unknown. */
  public void roundTrip(@Nullable Long nanos) {
    roundTrip = nanos == null ? NONE : nanos;
  }

  public void headers(long now) {
    headers = now;
  }

  /** An event with data arrived, with tokens or without. */
  public void event(long now) {
    if (firstEvent == NONE) {
      firstEvent = now;
    }
  }

  /**
   * An event with tokens arrived.
   *
   * @param choice index of its choice
   * @param now instant of the read that completed it; the events of one read share it
   * @param output whether part of it is not reasoning
   * @param countedSoFar how many tokens the server has counted with it; negative if it does not say
   */
  public void tokens(int choice, long now, boolean output, int countedSoFar) {
    if (firstToken == NONE) {
      firstToken = now;
    }
    if (output && firstOutput == NONE) {
      firstOutput = now;
    }
    lastToken = now;
    ofChoice(choice, now);
    append(choice, now, countedSoFar);
  }

  /** The server's count of the answer's tokens until now, and how many of them it only billed. */
  public void counted(int tokens, int billed) {
    total = tokens;
    hidden = billed;
  }

  /** What came until now turns out to be reasoning. */
  public void allWasReasoning() {
    firstOutput = NONE;
  }

  /** Text that came at that instant turns out to be no reasoning. */
  public void outputFrom(long instant) {
    if (firstOutput == NONE) {
      firstOutput = instant;
    }
  }

  /** A field that is not known to carry text has carried it. */
  public void unknownField(String name) {
    if (!unknownFields.contains(name) && unknownFields.size() < MAX_UNKNOWN_FIELDS) {
      unknownFields = new ArrayList<>(unknownFields);
      unknownFields.add(name);
    }
  }

  /** The last byte of a body that is not streamed. */
  public void body(long now) {
    body = now;
  }

  public void done() {
    done = true;
  }

  /** An event with data arrived after the announced end. */
  public void late() {
    late++;
  }

  public void closed(long now) {
    closed = now;
  }

  private void ofChoice(int choice, long now) {
    if (choice >= choiceFirst.length) {
      int from = choiceFirst.length;
      choiceFirst = Arrays.copyOf(choiceFirst, choice + 1);
      choiceLast = Arrays.copyOf(choiceLast, choice + 1);
      Arrays.fill(choiceFirst, from, choice + 1, NONE);
      Arrays.fill(choiceLast, from, choice + 1, NONE);
    }
    if (choiceFirst[choice] == NONE) {
      choiceFirst[choice] = now;
    } else {
      long gap = now - choiceLast[choice];
      longestGap = Math.max(longestGap, gap);
      if (gap == 0) {
        coalesced++;
      }
    }
    choiceLast[choice] = now;
  }

  private void append(int choice, long now, int countedSoFar) {
    if (count >= MAX_EVENTS) {
      count++;
      return;
    }
    if (count == offsetsMicros.length) {
      offsetsMicros = Arrays.copyOf(offsetsMicros, count * 2);
    }
    if (choice > 0 || choices.length > 0) {
      // The events before the first one of another choice have choice 0.
      choices = choices.length > count ? choices : Arrays.copyOf(choices, offsetsMicros.length);
      choices[count] = choice;
    }
    offsetsMicros[count] = (int) Math.min(Integer.MAX_VALUE, (now - admitted) / 1_000);
    if (countedSoFar >= 0 || counted.length > 0) {
      int from = counted.length;
      if (from <= count) {
        counted = Arrays.copyOf(counted, offsetsMicros.length);
        Arrays.fill(counted, from, counted.length, UNKNOWN);
      }
      counted[count] = countedSoFar;
    }
    count++;
  }

  public long scheduled() {
    return scheduled;
  }

  /** When the request was written to a channel; call it only afterwards. */
  public boolean isAdmitted() {
    return admitted != NONE;
  }

  public int count() {
    return count;
  }

  /** The durations of the request, which has {@code streamedTokens} tokens (N of the metrics). */
  public RequestRecord.Timing timing(
      long startUnixNanos, @Nullable Long scheduledOffsetNanos, @Nullable Integer streamedTokens) {
    return new RequestRecord.Timing(
        startUnixNanos,
        scheduledOffsetNanos,
        start - scheduled,
        admitted == NONE ? null : (Long) (admitted - start),
        sinceAdmitted(written),
        sinceAdmitted(headers),
        sinceAdmitted(firstEvent),
        sinceAdmitted(firstToken),
        sinceAdmitted(firstOutput),
        sinceAdmitted(body == NONE ? lastToken : body),
        closed == NONE ? null : (Long) (closed - (admitted == NONE ? start : admitted)),
        tpotNanos(streamedTokens),
        paced == NONE ? null : (Long) paced,
        roundTrip == NONE ? null : (Long) roundTrip);
  }

  /** The token-bearing events, with their times unless they are too many. */
  public RequestRecord.Events events(boolean keep) {
    boolean keepTimes = keep && count <= MAX_EVENTS;
    EventTokens known = eventTokens();
    int first = known.each.length > 0 ? known.each[0] : firstCounted();
    return new RequestRecord.Events(
        keepTimes ? Arrays.copyOf(offsetsMicros, count) : new int[0],
        keepTimes ? known.withTail() : new int[0],
        keepTimes && choices.length > 0 ? Arrays.copyOf(choices, count) : new int[0],
        count,
        coalesced,
        late,
        done,
        longestGap == NONE ? null : longestGap,
        first > 0 ? (Integer) first : null,
        known.tail,
        unknownFields);
  }

  /**
   * The tokens of each event, from the server's counts; empty where they are not known for each.
   *
   * @param tail tokens that it counted after the last event
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record EventTokens(int[] each, int tail) {

    private static final EventTokens UNKNOWN = new EventTokens(new int[0], 0);

    int[] withTail() {
      int[] all = each.clone();
      if (tail > 0) {
        all[all.length - 1] += tail;
      }
      return all;
    }
  }

  private EventTokens eventTokens() {
    if (counted.length == 0 || count > MAX_EVENTS) {
      return EventTokens.UNKNOWN;
    }
    EventTokens known = eventTokens(0);
    return known.each.length == 0 && counted[0] <= 0 ? eventTokens(1) : known;
  }

  /**
   * The tokens of each event by the counts that came with it, or with later events for a server
   * that counts an event only {@code lag} events later. Tokens that were counted before the first
   * event belong to it, unless they were billed only ({@code hidden}); between two events, to the
   * second one. A count that covers several events is understood if each has one token.
   */
  private EventTokens eventTokens(int lag) {
    int[] each = new int[count];
    int before = 0;
    int from = 0;
    for (int i = 0; i < count; i++) {
      int at = i + lag;
      int soFar = at < count ? (at == 0 && counted[0] == 0 ? UNKNOWN : counted[at]) : total;
      if (soFar < 0 && i == count - 1) {
        soFar = total;
      }
      if (soFar >= 0) {
        int events = i - from + 1;
        int tokens = soFar - before;
        if (tokens < 0 || (events > 1 && tokens != events)) {
          return EventTokens.UNKNOWN;
        }
        Arrays.fill(each, from, i + 1, events > 1 ? 1 : tokens);
        before = soFar;
        from = i + 1;
      }
    }
    if (from < count) {
      return EventTokens.UNKNOWN;
    }
    int billed = each[0] > hidden ? hidden : 0;
    each[0] -= billed;
    int tail = total == UNKNOWN ? 0 : total - hidden - (before - billed);
    return new EventTokens(each, Math.max(0, tail));
  }

  private int firstCounted() {
    return counted.length == 0 ? UNKNOWN : counted[0];
  }

  /**
   * TPOT = (last token − first token) / (N − k), where k is the number of tokens of the first
   * event: as the server reports it, otherwise an even share of N. Tokens that it counted after the
   * last event are in no gap: N does not include them. With several choices the spans are summed,
   * and k covers the first event of each. Null for fewer than 2 events or tokens, and if all events
   * came in one read, because there is no gap to measure.
   */
  private @Nullable Double tpotNanos(@Nullable Integer streamedTokens) {
    if (streamedTokens == null || count < 2) {
      return null;
    }
    long spans = 0;
    int firsts = 0;
    for (int choice = 0; choice < choiceFirst.length; choice++) {
      if (choiceFirst[choice] != NONE) {
        spans += choiceLast[choice] - choiceFirst[choice];
        firsts++;
      }
    }
    EventTokens known = eventTokens();
    double share = TokenGaps.share(count, streamedTokens);
    int first = known.each.length > 0 ? known.each[0] : firstCounted();
    double taken = first > 0 && firsts == 1 ? first : firsts * share;
    double steps = streamedTokens - known.tail - taken;
    return steps < 1 || spans == 0 ? null : (Double) (spans / steps);
  }

  private @Nullable Long sinceAdmitted(long instant) {
    return instant == NONE || admitted == NONE ? null : (Long) (instant - admitted);
  }

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
  public static final class TokenGaps {

    /** Percentiles of requests with more tokens are not computed. */
    public static final long MAX_TOKENS = 1_000_000;

    private static final double[] NONE = {};

    private TokenGaps() {}

    /** Receives the gaps in order of arrival. */
    @FunctionalInterface
    public interface Visitor {

      /** The gap before an event in microseconds, as a whole and per token of it. */
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

    /** The nearest-rank percentile of ascending values: the ⌈p ÷ 100 × n⌉-th; p in (0, 100]. */
    public static double nearestRank(double[] ascending, double percent) {
      return ascending[nearestRank(ascending.length, percent)];
    }

    /** The position, from 0, of that percentile among so many ascending values. */
    public static int nearestRank(int count, double percent) {
      int rank = (int) Math.ceil(Math.nextDown(percent / 100 * count));
      return Math.max(1, Math.min(rank, count)) - 1;
    }

    /** Tokens of each event if the server does not report them: N ÷ events, at least 1. */
    public static double share(int events, @Nullable Integer n) {
      return n == null || n < events ? 1 : (double) n / events;
    }

    /** Whole tokens of event {@code i}, so that they add up to N over all events. */
    private static int evenly(double share, int i) {
      return (int) (Math.floor((i + 1) * share + 1e-9) - Math.floor(i * share + 1e-9));
    }

    /**
     * A reader who reads an answer at a constant speed while it is streamed: starts with the first
     * token and waits for every token that has not arrived yet.
     *
     * <pre>
     * 5 tokens/s, tokens arrive at s   1.0  1.1  1.7  1.8
     * are wanted at                    1.0  1.2  1.4  1.9   waits 0.3 s for the third token
     * </pre>
     *
     * <p>The total wait equals the playout delay of the stream: the delay after which the reader
     * could start and never wait. It is the largest of tᵢ − t₁ − (i − 1) ÷ speed over all tokens i.
     */
    public static final class ReadingSpeed {

      /** Default speed, tokens per second: 225 words per minute. */
      public static final double DEFAULT = 5;

      private static final double MAX_TOKENS_PER_S = 1_000_000;

      private ReadingSpeed() {}

      /** Returns the speed; throws if it is not between 0 and a million tokens per second. */
      public static double checked(double tokensPerS) {
        if (!(tokensPerS > 0 && tokensPerS <= MAX_TOKENS_PER_S)) {
          throw new IllegalArgumentException("expected tokens per second, above 0 and at most 1e6");
        }
        return tokensPerS;
      }

      /**
       * The total time that a reader of the answer waits for late tokens, in nanoseconds, rounded
       * to microseconds; with several choices the longest one. Null without event times.
       */
      public static @Nullable Long stallNanos(RequestRecord record, double tokensPerS) {
        int[] offsets = record.events().offsetsMicros();
        if (offsets.length == 0 || record.isOneBody()) {
          return null;
        }
        int[] reported = record.events().tokens();
        int[] choices = record.events().choices();
        double share = TokenGaps.share(offsets.length, record.tokens().streamedTokens());
        double microsPerToken = 1e6 / tokensPerS;
        double longest = 0;
        Map<Integer, double[]> wantedMicros = new HashMap<>();
        double[] wanted = {Double.NaN};
        for (int i = 0; i < offsets.length; i++) {
          double tokens = reported.length == offsets.length ? reported[i] : share;
          if (tokens > 0) {
            if (choices.length == offsets.length) {
              wanted =
                  wantedMicros.computeIfAbsent(choices[i], choice -> new double[] {Double.NaN});
            }
            wanted[0] = Double.isNaN(wanted[0]) ? offsets[i] : wanted[0];
            longest = Math.max(longest, offsets[i] - wanted[0]);
            wanted[0] += tokens * microsPerToken;
          }
        }
        return Math.round(longest) * 1_000;
      }
    }
  }
}
