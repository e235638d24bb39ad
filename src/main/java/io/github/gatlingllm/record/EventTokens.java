package io.github.gatlingllm.record;

import java.util.Arrays;

/**
 * The tokens of each event of an answer, from the server's counts; empty where they are not known
 * for each.
 *
 * <pre>
 * counted until the event   51  52  54     total 59
 * tokens of the event       51   1   2     after the last 5
 * </pre>
 *
 * @param tail tokens that it counted after the last event
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record EventTokens(int[] each, int tail) {

  private static final int UNCOUNTED = -1;

  static final EventTokens UNKNOWN = new EventTokens(new int[0], 0);

  /**
   * @param counted how many tokens the server had counted with each event; negative where it does
   *     not say
   * @param total its last count; negative for none
   * @param hidden tokens of the total that were billed and not received
   */
  static EventTokens of(int[] counted, int total, int hidden) {
    EventTokens known = of(counted, total, hidden, 0);
    // Some servers count an event only with the next one.
    return known.each.length == 0 && counted[0] <= 0 ? of(counted, total, hidden, 1) : known;
  }

  /**
   * Tokens that were counted before the first event belong to it, unless they were billed only;
   * between two events, to the second one. A count that covers several events is understood if each
   * has one token.
   */
  private static EventTokens of(int[] counted, int total, int hidden, int lag) {
    int count = counted.length;
    int[] each = new int[count];
    int before = 0;
    int from = 0;
    for (int i = 0; i < count; i++) {
      int at = i + lag;
      int soFar = at < count ? (at == 0 && counted[0] == 0 ? UNCOUNTED : counted[at]) : total;
      if (soFar < 0 && i == count - 1) {
        soFar = total;
      }
      if (soFar >= 0) {
        int events = i - from + 1;
        int tokens = soFar - before;
        if (tokens < 0 || (events > 1 && tokens != events)) {
          return UNKNOWN;
        }
        Arrays.fill(each, from, i + 1, events > 1 ? 1 : tokens);
        before = soFar;
        from = i + 1;
      }
    }
    if (from < count) {
      return UNKNOWN;
    }
    int billed = each[0] > hidden ? hidden : 0;
    each[0] -= billed;
    int tail = total < 0 ? 0 : total - hidden - (before - billed);
    return new EventTokens(each, Math.max(0, tail));
  }

  int[] withTail() {
    int[] all = each.clone();
    if (tail > 0) {
      all[all.length - 1] += tail;
    }
    return all;
  }
}
