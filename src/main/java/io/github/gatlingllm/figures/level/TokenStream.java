package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.TokenGaps;
import java.util.Arrays;

/**
 * The arrival times of the tokens of one request and the gaps between them. One object reads one
 * record after the other, and allocates nothing per token.
 *
 * <p>With event times, each event has the tokens that the server reported, else an even share of N.
 * Without event times, N tokens are spread evenly from the first token to the last, over at most
 * {@value #MAX_INTERPOLATED} instants. An answer in one body has all tokens at its last byte.
 */
final class TokenStream implements TokenGaps.Visitor {

  private static final int MAX_INTERPOLATED = 100_000;

  /** Whether N was divided evenly among the events, whose own tokens are not known. */
  boolean isShared;

  /** Number of instants at which tokens arrived. */
  int arrivals;

  /** Whether no token arrived before the previous one: its choices are one after the other. */
  private boolean isInOrder;

  private long latest;

  long[] unixNanos = new long[256];
  double[] tokens = new double[256];

  int gaps;

  /** Position, from 0, of the event that ended a gap. */
  private int[] endedBy = new int[256];

  /** Gaps between events (ICL). */
  private int[] chunkMicros = new int[256];

  private Moments chunkMillis = new Moments();

  /** Gaps per token (ITL); meaningless where {@link #gapTokens} is 0. */
  private double[] tokenMicros = new double[256];

  private int[] gapTokens = new int[256];

  /** Whether each gap counts for one token, as in most streams: ITL and ICL are the same. */
  boolean isOneEach;

  void read(RequestRecord record) {
    arrivals = 0;
    isInOrder = true;
    latest = Long.MIN_VALUE;
    gaps = 0;
    isOneEach = true;
    TokenGaps.visit(record.events(), record.tokens(), this);
    chunkMillis = Moments.ofMicros(chunkMicros, 0, gaps);
    Long admitted = record.timing().admittedUnixNanos();
    isShared = false;
    if (admitted != null) {
      arrivals(record, admitted);
    }
  }

  private void arrivals(RequestRecord record, long admitted) {
    int[] offsets = record.events().offsetsMicros();
    if (offsets.length > 0) {
      events(record, admitted, offsets);
      return;
    }
    Long last = record.timing().latencyNanos();
    Long first = record.timing().ttftNanos();
    Integer known = record.tokens().n();
    if (last == null) {
      return;
    }
    if (first == null) {
      if (known != null) {
        arrived(admitted + last, known);
      }
      return;
    }
    int n = known == null ? record.events().count() : known;
    int points = Math.min(n, MAX_INTERPOLATED);
    for (int i = 0; i < points; i++) {
      double part = points == 1 ? 0 : (double) i / (points - 1);
      arrived(admitted + first + Math.round(part * (last - first)), (double) n / points);
    }
  }

  private void events(RequestRecord record, long admitted, int[] offsets) {
    int[] counts = record.events().tokens();
    boolean isKnown = counts.length == offsets.length;
    double share = TokenGaps.share(offsets.length, record.tokens().streamedTokens());
    for (int i = 0; i < offsets.length; i++) {
      arrived(admitted + offsets[i] * 1_000L, isKnown ? counts[i] : share);
    }
    isShared = !isKnown && share != 1;
  }

  private void arrived(long at, double count) {
    if (arrivals == unixNanos.length) {
      unixNanos = Arrays.copyOf(unixNanos, arrivals * 2);
      tokens = Arrays.copyOf(tokens, arrivals * 2);
    }
    isInOrder &= at >= latest;
    latest = Math.max(latest, at);
    unixNanos[arrivals] = at;
    tokens[arrivals++] = count;
  }

  @Override
  public void gap(int event, int chunk, double perToken, int count) {
    if (gaps == endedBy.length) {
      endedBy = Arrays.copyOf(endedBy, gaps * 2);
      chunkMicros = Arrays.copyOf(chunkMicros, gaps * 2);
      tokenMicros = Arrays.copyOf(tokenMicros, gaps * 2);
      gapTokens = Arrays.copyOf(gapTokens, gaps * 2);
    }
    isOneEach &= count == 1 && perToken == chunk;
    endedBy[gaps] = event;
    chunkMicros[gaps] = chunk;
    tokenMicros[gaps] = perToken;
    gapTokens[gaps++] = count;
  }

  /** The tokens that arrived in [{@code from}, {@code to}). */
  double tokens(long from, long to) {
    double sum = 0;
    for (int i = first(from); i < arrivals && !(isInOrder && unixNanos[i] >= to); i++) {
      sum += unixNanos[i] >= from && unixNanos[i] < to ? tokens[i] : 0;
    }
    return sum;
  }

  /** The position from which on tokens may have arrived at or after an instant. */
  int first(long from) {
    if (!isInOrder) {
      return 0;
    }
    int found = Arrays.binarySearch(unixNanos, 0, arrivals, from);
    int at = found < 0 ? -found - 1 : found;
    while (at > 0 && unixNanos[at - 1] == from) {
      at--;
    }
    return at;
  }

  /** The instant of the last token; the earliest of all instants without one. */
  long latest() {
    return latest;
  }

  int gapsAbove(int micros) {
    int above = 0;
    for (int g = 0; g < gaps; g++) {
      above += chunkMicros[g] > micros ? 1 : 0;
    }
    return above;
  }

  /** ITL p99 ÷ p50 of the request; 0 where it has none. */
  double jitter(RequestRecord record) {
    if (isOneEach && gaps <= TokenGaps.MAX_TOKENS) {
      int[] micros = Arrays.copyOf(chunkMicros, gaps);
      int middle = (int) TokenGaps.rank(50, gaps) - 1;
      double median = smallest(micros, 0, middle);
      return median <= 0
          ? 0
          : smallest(micros, middle, (int) TokenGaps.rank(99, gaps) - 1) / median;
    }
    double[] micros = TokenGaps.sortedTokenMicros(record.events(), record.tokens());
    double median = micros.length == 0 ? 0 : TokenGaps.nearestRank(micros, 50);
    return median <= 0 ? 0 : TokenGaps.nearestRank(micros, 99) / median;
  }

  /**
   * Moves the values so that the one at a position is where a sort would put it, none before it is
   * larger and none after it is smaller; returns it. Those before {@code first} are so already.
   */
  private static int smallest(int[] values, int first, int at) {
    int from = first;
    int to = values.length - 1;
    while (from < to) {
      int pivot = values[(from + to) >>> 1];
      int low = from;
      int high = to;
      while (low <= high) {
        while (values[low] < pivot) {
          low++;
        }
        while (values[high] > pivot) {
          high--;
        }
        if (low <= high) {
          int swapped = values[low];
          values[low++] = values[high];
          values[high--] = swapped;
        }
      }
      if (at <= high) {
        to = high;
      } else if (at >= low) {
        from = low;
      } else {
        break;
      }
    }
    return values[at];
  }

  void addChunkGaps(ValueRecorder iclMs) {
    iclMs.add(chunkMicros, 0, gaps, chunkMillis);
  }

  void addTokenGaps(ValueRecorder itlMs) {
    addTokenGaps(itlMs, 0, gaps);
  }

  void addTokenGaps(ValueRecorder itlMs, int from, int to) {
    if (isOneEach) {
      boolean areAll = to - from == gaps;
      itlMs.add(
          chunkMicros, from, to, areAll ? chunkMillis : Moments.ofMicros(chunkMicros, from, to));
      return;
    }
    for (int g = from; g < to; g++) {
      itlMs.add(tokenMicros[g] / 1e3, gapTokens[g]);
    }
  }

  long endOfGap(int gap) {
    return unixNanos[endedBy[gap]];
  }
}
