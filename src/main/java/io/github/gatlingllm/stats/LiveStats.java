package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.TokenGaps;
import io.github.gatlingllm.stats.LiveFigures.Percentiles;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Adds up records as requests end, for the console. About 350 KiB, however long the run.
 *
 * <p>Tokens count when their request ends, because only then its record is there: over a steady
 * load the rate is right, a few long answers make it jump.
 *
 * <p>Records come from one thread, snapshots from another; neither waits longer than the other's
 * few microseconds. One reader takes the snapshots: "now" is since the snapshot before.
 */
public final class LiveStats implements Consumer<RequestRecord> {

  private static final long LONGEST_MICROS = TimeUnit.HOURS.toMicros(1);

  private final LongSupplier nanoClock;
  private final long startNanos;
  private final Histogram ttft = new Histogram(1, LONGEST_MICROS, 3);
  private final Histogram itl = new Histogram(1, LONGEST_MICROS, 3);
  private long ok;
  private long failed;
  private long judged;
  private long metSlo;
  private boolean hasSlo;
  private long tokens;
  private long tokensBefore;
  private long snapshotNanos;

  /** Statistics of a run that starts now. */
  public LiveStats(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    this.startNanos = nanoClock.getAsLong();
    this.snapshotNanos = startNanos;
  }

  @Override
  public synchronized void accept(RequestRecord record) {
    RequestRecord.Outcome outcome = record.outcome();
    Integer output = record.tokens().outputTokens();
    tokens += output == null ? 0 : output;
    judge(record);
    if (outcome.ok()) {
      ok++;
      latencies(record);
    } else if (outcome.status() != RequestStatus.CANCELLED) {
      failed++;
    }
  }

  /** The figures up to now. */
  public synchronized LiveFigures snapshot() {
    long now = nanoClock.getAsLong();
    LiveFigures figures =
        new LiveFigures(
            ok,
            failed,
            hasSlo && judged > 0 ? (Double) ((double) metSlo / judged) : null,
            Percentiles.of(ttft),
            Percentiles.of(itl),
            perSecond(tokens - tokensBefore, now - snapshotNanos),
            perSecond(tokens, now - startNanos),
            null,
            null,
            null);
    snapshotNanos = now;
    tokensBefore = tokens;
    return figures;
  }

  /** A request that was cut off or never admitted counts only if it had missed an objective. */
  private void judge(RequestRecord record) {
    RequestRecord.Outcome outcome = record.outcome();
    boolean undecided =
        outcome.status() == RequestStatus.CANCELLED || record.timing().gateWaitNanos() == null;
    hasSlo |= outcome.sloOk() != null;
    if (!undecided || !outcome.sloMissed().isEmpty()) {
      judged++;
      metSlo += Boolean.TRUE.equals(outcome.sloOk()) ? 1 : 0;
    }
  }

  private void latencies(RequestRecord record) {
    Long firstToken = record.timing().ttftNanos();
    if (firstToken != null) {
      add(ttft, firstToken / 1e3, 1);
    }
    TokenGaps.visit(
        record.events(),
        record.tokens(),
        (event, chunkMicros, tokenMicros, count) -> add(itl, tokenMicros, count));
  }

  private static void add(Histogram histogram, double micros, long count) {
    if (count > 0) {
      histogram.recordValueWithCount(
          Math.max(0, Math.min(LONGEST_MICROS, Math.round(micros))), count);
    }
  }

  private static @Nullable Double perSecond(long count, long nanos) {
    return nanos <= 0 ? null : (Double) (count * 1e9 / nanos);
  }
}
