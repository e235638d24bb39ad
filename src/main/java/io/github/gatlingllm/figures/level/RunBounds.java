package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** What records may say about a run: times near it. */
final class RunBounds {

  /** No run of an injector that died is longer. */
  private static final long MAX_NANOS = TimeUnit.DAYS.toNanos(31);

  private RunBounds() {}

  /** The end of the last request of a run whose process died before it could write its end. */
  static long end(RunInfo info, RecordSource source) throws IOException {
    long start = info.startUnixNanos();
    AtomicLong end = new AtomicLong(start);
    var unused =
        source.replay(
            record -> {
              RequestRecord.Timing timing = record.timing();
              refuseBeyond(start - MAX_NANOS, start + MAX_NANOS, timing);
              Long closed = timing.closedUnixNanos();
              long last = closed == null ? timing.scheduledUnixNanos() : closed;
              end.accumulateAndGet(Math.max(timing.startUnixNanos(), last), Math::max);
            });
    return end.get();
  }

  /** Throws an {@link IllegalArgumentException} for a record of another time than the run. */
  static void refuseBeyond(long from, long to, RequestRecord.Timing timing) {
    long start = timing.startUnixNanos();
    if (start < from || start > to) {
      throw new IllegalArgumentException(
          "start_unix_ns is %s, far from the run".formatted(Instant.ofEpochSecond(0, start)));
    }
    for (Long nanos :
        Arrays.asList(
            timing.startLagNanos(),
            timing.gateWaitNanos(),
            timing.closedNanos(),
            timing.latencyNanos(),
            timing.ttftNanos(),
            timing.connectNanos())) {
      if (nanos != null && nanos > to - from) {
        throw new IllegalArgumentException(
            String.format(Locale.ROOT, "a time of %.0f s is longer than the run", nanos / 1e9));
      }
    }
  }
}
