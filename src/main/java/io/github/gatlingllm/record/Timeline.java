package io.github.gatlingllm.record;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

  /**
   * Maximum number of events of one answer whose times are recorded: two hours at 300 per second.
   */
  private static final int MAX_EVENTS = 1 << 21;

  private static final int MAX_UNKNOWN_FIELDS = 8;

  private static final long NONE = Long.MIN_VALUE;

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

  private final EventTokens.ServerCounts counts = new EventTokens.ServerCounts();
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

  /** How long a limit of requests or tokens per minute delayed the request. */
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
   * @param countedSoFar how many tokens the server has counted with it; negative if unknown
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
    counts.total(tokens, billed);
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
    counts.add(count, countedSoFar);
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
    EventTokens known = counts.tokens(count);
    return new RequestRecord.Events(
        keepTimes ? Arrays.copyOf(offsetsMicros, count) : new int[0],
        keepTimes ? known.withTail() : new int[0],
        keepTimes && choices.length > 0 ? Arrays.copyOf(choices, count) : new int[0],
        count,
        coalesced,
        late,
        done,
        longestGap == NONE ? null : longestGap,
        known.first() > 0 ? (Integer) known.first() : null,
        known.tail(),
        unknownFields);
  }

  /**
   * TPOT = (last token − first token) / {@link EventTokens#steps}, with several choices the sum of
   * their spans. Null for fewer than 2 events or tokens, and if all events came in one read.
   */
  private @Nullable Double tpotNanos(@Nullable Integer streamedTokens) {
    if (streamedTokens == null || count < 2) {
      return null;
    }
    long spans = 0;
    int firstTokens = 0;
    for (int choice = 0; choice < choiceFirst.length; choice++) {
      if (choiceFirst[choice] != NONE) {
        spans += choiceLast[choice] - choiceFirst[choice];
        firstTokens++;
      }
    }
    double steps = counts.tokens(count).steps(streamedTokens, count, firstTokens);
    return steps < 1 || spans == 0 ? null : (Double) (spans / steps);
  }

  private @Nullable Long sinceAdmitted(long instant) {
    return instant == NONE || admitted == NONE ? null : (Long) (instant - admitted);
  }

  /**
   * The tokens of each token-bearing event of a stream, from the server's counts; empty where they
   * are not known for each.
   *
   * <pre>
   * counted with each event    51 52 53   total 58      tokens  51 1 1, after the last event 5
   * </pre>
   *
   * @param tail tokens that it counted after the last event
   * @param first tokens of the first event; 0 or less where they are not known
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record EventTokens(int[] each, int tail, int first) {

    private static final int UNKNOWN = -1;

    private static final EventTokens NONE = new EventTokens(new int[0], 0, UNKNOWN);

    /** What the server counts while events come. */
    private static final class ServerCounts {

      /** How many tokens it had counted with each event, negative if unknown; empty if none has. */
      private int[] counted = {};

      private int total = UNKNOWN;
      private int hidden;

      void add(int event, int soFar) {
        int from = counted.length;
        if (soFar < 0 && from == 0) {
          return;
        }
        if (from <= event) {
          counted = Arrays.copyOf(counted, Math.max(32, 2 * event));
          Arrays.fill(counted, from, counted.length, UNKNOWN);
        }
        counted[event] = soFar;
      }

      /** All tokens of the answer until now, and how many of them are only billed. */
      void total(int tokens, int billed) {
        total = tokens;
        hidden = billed;
      }

      EventTokens tokens(int events) {
        return counted.length == 0 || events == 0 || events > counted.length
            ? NONE
            : of(counted, events, total, hidden);
      }
    }

    /**
     * Tokens that were counted before the first event belong to it, unless they were only billed
     * ({@code hidden}); between two events, to the second one. Some servers count an event only
     * with the next one: then the first count is 0 or missing, and a part of the total comes last.
     */
    private static EventTokens of(int[] counted, int count, int total, int hidden) {
      EventTokens known = of(counted, count, total, hidden, 0);
      if (known.each.length > 0) {
        return known;
      }
      return counted[0] > 0
          ? new EventTokens(NONE.each, 0, counted[0])
          : of(counted, count, total, hidden, 1);
    }

    /** The tokens where an event is counted {@code lag} events later. */
    private static EventTokens of(int[] counted, int count, int total, int hidden, int lag) {
      int[] each = new int[count];
      int before = 0;
      int from = 0;
      for (int i = 0; i < count; i++) {
        int at = i + lag;
        int soFar = at < count && (at > 0 || counted[0] > 0) ? counted[at] : UNKNOWN;
        soFar = soFar < 0 && i == count - 1 ? total : soFar;
        if (soFar >= 0) {
          int events = i - from + 1;
          int tokens = soFar - before;
          if (tokens < 0 || (events > 1 && tokens != events)) {
            return NONE; // a count for several events is understood if each has one token
          }
          Arrays.fill(each, from, i + 1, events > 1 ? 1 : tokens);
          before = soFar;
          from = i + 1;
        }
      }
      if (from < count) {
        return NONE;
      }
      int billed = each[0] > hidden ? hidden : 0;
      each[0] -= billed;
      return new EventTokens(each, Math.max(0, total - hidden - (before - billed)), each[0]);
    }

    /**
     * Tokens after the first event, of n tokens and {@code count} events: without those after the
     * last one, which are in no gap. Of several choices each has a first event, of an even share.
     */
    double steps(int n, int count, int choices) {
      double share = TokenGaps.share(count, n);
      return n - tail - (first > 0 && choices == 1 ? first : choices * share);
    }

    /** The tokens of each event, in sum all: those after the last event are with it. */
    int[] withTail() {
      int[] all = each.clone();
      if (all.length > 0) {
        all[all.length - 1] += tail;
      }
      return all;
    }
  }
}
