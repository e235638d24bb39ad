package io.github.gatlingllm.record;

import java.util.Arrays;

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
record EventTokens(int[] each, int tail, int first) {

  private static final int UNKNOWN = -1;

  private static final EventTokens NONE = new EventTokens(new int[0], 0, UNKNOWN);

  /** What the server counts while events come. */
  static final class ServerCounts {

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
   * ({@code hidden}); between two events, to the second one. Some servers count an event only with
   * the next one: then the first count is 0 or missing, and a part of the total comes last.
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
