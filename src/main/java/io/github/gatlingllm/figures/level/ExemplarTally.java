package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.Exemplar;
import io.github.gatlingllm.figures.level.Series.Exemplars;
import io.github.gatlingllm.figures.level.Series.ServerParts;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the slowest ok requests, and the longest failed requests of each cause. Ties are broken by
 * the request id, so that the order of records does not matter; it does for the causes of failure
 * beyond {@value #MOST}, which are kept as one.
 */
final class ExemplarTally {

  /** Number of slow requests that are kept, and of failed ones. */
  static final int MOST = 12;

  private final long origin;
  private final TreeSet<Kept> slowest = new TreeSet<>(Kept.LONGEST_FIRST);
  private final Map<Cause, TreeSet<Kept>> failed = new TreeMap<>(Cause.IN_ORDER);

  private record Cause(String verdict, @Nullable String message) {
    private static final Cause OTHER = new Cause("other", null);

    private static final Comparator<Cause> IN_ORDER =
        Comparator.comparing(Cause::verdict)
            .thenComparing(Cause::message, Comparator.nullsFirst(Comparator.naturalOrder()));
  }

  private record Kept(RequestRecord record, LevelInfo level, long nanos) {
    private static final Comparator<Kept> LONGEST_FIRST =
        Comparator.comparingLong(Kept::nanos)
            .reversed()
            .thenComparing(kept -> kept.record.identity().requestId());
  }

  ExemplarTally(long origin) {
    this.origin = origin;
  }

  void add(RequestRecord record, LevelInfo level) {
    RequestRecord.Outcome outcome = record.outcome();
    Long latency = record.timing().latencyFromScheduleNanos();
    if (outcome.ok() && latency != null) {
      keep(slowest, new Kept(record, level, latency));
    } else if (outcome.hasFailed()) {
      Cause cause = new Cause(outcome.status().key(), outcome.error());
      if (failed.size() >= MOST && !failed.containsKey(cause)) {
        cause = Cause.OTHER;
      }
      TreeSet<Kept> same = failed.computeIfAbsent(cause, c -> new TreeSet<>(Kept.LONGEST_FIRST));
      keep(same, new Kept(record, level, overNanos(record)));
    }
  }

  private static void keep(NavigableSet<Kept> kept, Kept more) {
    kept.add(more);
    if (kept.size() > MOST) {
      kept.pollLast();
    }
  }

  private static long overNanos(RequestRecord record) {
    RequestRecord.Timing t = record.timing();
    Long closed = t.closedNanos();
    Long wait = t.gateWaitNanos();
    return t.startLagNanos() + (wait == null ? 0 : wait) + (closed == null ? 0 : closed);
  }

  Exemplars exemplars() {
    List<Kept> some = new ArrayList<>();
    for (int rank = 0; rank < MOST; rank++) {
      int skipped = rank;
      failed.values().forEach(same -> same.stream().skip(skipped).limit(1).forEach(some::add));
    }
    return new Exemplars(
        slowest.stream().map(this::exemplar).toList(),
        some.stream().limit(MOST).map(this::exemplar).toList());
  }

  private Exemplar exemplar(Kept kept) {
    RequestRecord record = kept.record;
    RequestRecord.Identity id = record.identity();
    RequestRecord.Timing t = record.timing();
    Long wait = t.queueWaitNanos();
    Long gap = record.events().longestGapNanos();
    ServerParts server = ServerParts.of(record);
    return new Exemplar(
        id.requestId(),
        id.name(),
        kept.level,
        (t.scheduledUnixNanos() - origin) / 1e9,
        record.outcome().status().key(),
        record.outcome().error(),
        wait == null ? null : (Double) (wait / 1e6),
        sum(wait, t.connectNanos()),
        sum(wait, t.ttftNanos()),
        kept.nanos / 1e6,
        record.tokens().outputTokens(),
        gap == null ? null : (Double) (gap / 1e6),
        server.isEmpty() ? null : server,
        record.events().count(),
        wait == null ? List.of() : marks(record.events().offsetsMicros(), wait / 1e6));
  }

  private static @Nullable Double sum(@Nullable Long wait, @Nullable Long since) {
    return wait == null || since == null ? null : (Double) ((wait + since) / 1e6);
  }

  /** The times of token events in ms, thinned out so that both ends of each longer gap are left. */
  static List<Double> marks(int[] micros, double admittedMs) {
    List<Double> marks = new ArrayList<>();
    int step = micros.length == 0 ? 0 : (micros[micros.length - 1] - micros[0]) / 120;
    int latest = 0;
    for (int i = 0; i < micros.length; i++) {
      boolean isLast = i + 1 == micros.length;
      if (i == 0 || isLast || micros[i] - latest >= step || micros[i + 1] - micros[i] >= step) {
        latest = micros[i];
        marks.add(admittedMs + latest / 1e3);
      }
    }
    return marks;
  }
}
