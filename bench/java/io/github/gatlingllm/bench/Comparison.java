package io.github.gatlingllm.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * The times that a client reports, compared with the server's log. All in nanoseconds, sorted.
 *
 * @param ttft |client's TTFT − (first write − request read)|, one per stream
 * @param itl |client's gap − gap between the two writes|, for streams whose tokens are complete
 * @param late for every token: client's time since sending − server's time since reading, which is
 *     the time of both directions; negative if a client stamps a request after sending it
 * @param lateAtEnd the same for the last fifth of each stream: if a client keeps up, it does not
 *     grow
 */
@SuppressWarnings("ArrayRecordComponent") // millions of primitive values
record Comparison(long[] ttft, long[] itl, long[] late, long[] lateAtEnd) {

  /** Compares every stream of the client with the stream of the same id or number at the server. */
  static Comparison of(List<TimedStream> client, List<TimedStream> server) {
    Map<String, TimedStream> byId = new HashMap<>();
    Map<Long, TimedStream> byNumber = new HashMap<>();
    for (TimedStream stream : server) {
      byId.put(stream.id(), stream);
      byNumber.put(stream.number(), stream);
    }
    List<long[]> itl = new ArrayList<>();
    List<long[]> late = new ArrayList<>();
    List<long[]> lateAtEnd = new ArrayList<>();
    LongStream.Builder ttft = LongStream.builder();
    for (TimedStream said : client) {
      TimedStream truth = said.number() >= 0 ? byNumber.get(said.number()) : byId.get(said.id());
      if (truth == null || said.offsetNanos().length == 0) {
        continue;
      }
      ttft.add(Math.abs(said.offsetNanos()[0] - truth.offsetNanos()[0]));
      if (said.offsetNanos().length == truth.offsetNanos().length) {
        long[] differences = differences(said.offsetNanos(), truth.offsetNanos());
        late.add(differences);
        int from = differences.length - differences.length / 5;
        lateAtEnd.add(Arrays.copyOfRange(differences, from, differences.length));
        itl.add(steps(differences));
      }
    }
    return new Comparison(
        ttft.build().sorted().toArray(), sorted(itl), sorted(late), sorted(lateAtEnd));
  }

  private static long[] differences(long[] client, long[] server) {
    long[] differences = new long[client.length];
    Arrays.setAll(differences, i -> client[i] - server[i]);
    return differences;
  }

  /** The error of a gap is the difference between the lateness of its two tokens. */
  private static long[] steps(long[] differences) {
    long[] steps = new long[Math.max(0, differences.length - 1)];
    Arrays.setAll(steps, i -> Math.abs(differences[i + 1] - differences[i]));
    return steps;
  }

  private static long[] sorted(List<long[]> parts) {
    return parts.stream().flatMapToLong(Arrays::stream).sorted().toArray();
  }

  /** The nearest-rank quantile in milliseconds; NaN of nothing. */
  static double millis(long[] sorted, double share) {
    return sorted.length == 0
        ? Double.NaN
        : sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)] / 1e6;
  }
}
