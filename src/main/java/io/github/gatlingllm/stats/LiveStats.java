package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.TokenGaps;
import io.github.gatlingllm.stats.LiveStats.LiveFigures.Percentiles;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Adds up records as requests end, of a load level or a run, for the console. About 350 KiB,
 * however long it takes.
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
  private long rateLimited;
  private long heldBack;
  private long judged;
  private long metSlo;
  private long inputs;
  private long tokens;
  private long served;
  private long tokensBefore;
  private long snapshotNanos;

  /** Statistics of what starts now. */
  public LiveStats(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    this.startNanos = nanoClock.getAsLong();
    this.snapshotNanos = startNanos;
  }

  @Override
  public void accept(RequestRecord record) {
    add(record, true, true);
  }

  /**
   * Adds a request that has ended.
   *
   * @param isMeasured whether its latencies, its outcome and its SLO count
   * @param isInTime whether it ended in the time that rates are of
   */
  public synchronized void add(RequestRecord record, boolean isMeasured, boolean isInTime) {
    RequestRecord.Outcome outcome = record.outcome();
    if (isInTime) {
      Integer output = record.tokens().n();
      tokens += output == null ? 0 : output;
      Integer texts = record.tokens().inputs();
      inputs += texts == null || !outcome.ok() ? 0 : texts;
      served += outcome.ok() ? 1 : 0;
    }
    if (!isMeasured) {
      return;
    }
    judge(record);
    if (outcome.ok()) {
      ok++;
      latencies(record);
    } else if (outcome.status() == RequestStatus.RATE_LIMITED) {
      rateLimited++;
    } else if (outcome.status() != RequestStatus.CANCELLED) {
      failed++;
    }
    Long paced = record.timing().pacingWaitNanos();
    heldBack += paced != null && paced > 0 ? 1 : 0;
  }

  /** The figures up to now. */
  public synchronized LiveFigures snapshot() {
    long now = nanoClock.getAsLong();
    LiveFigures figures = figures(now);
    snapshotNanos = now;
    tokensBefore = tokens;
    return figures;
  }

  /** The same for who looks besides: what "now" is of does not change. */
  public synchronized LiveFigures peek() {
    return figures(nanoClock.getAsLong());
  }

  private LiveFigures figures(long now) {
    return new LiveFigures(
        ok,
        failed,
        rateLimited,
        heldBack,
        judged > 0 ? (Double) ((double) metSlo / judged) : null,
        Percentiles.of(ttft),
        Percentiles.of(itl),
        perSecond(tokens - tokensBefore, now - snapshotNanos),
        perSecond(tokens, now - startNanos),
        inputs == 0 || tokens > 0 ? null : perSecond(inputs, now - startNanos),
        perSecond(served, now - startNanos),
        null,
        null);
  }

  /** A request that was cut off before it could be told does not count. */
  private void judge(RequestRecord record) {
    Boolean met = record.outcome().sloOk();
    if (met != null) {
      judged++;
      metSlo += met ? 1 : 0;
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

  /**
   * What a run looks like while it runs: good enough to watch, made from the requests that have
   * ended. The report's figures are made from the records.
   *
   * @param ok requests that succeeded since the start
   * @param failed requests that failed since the start; those that we cancelled are no failures
   * @param rateLimited requests that a rate limit of the server turned away since the start
   * @param heldBack requests that we held back to stay below a limit, of those that have ended
   * @param sloShare share of attempted requests that met every objective, 0 to 1; null without SLO
   * @param ttftMicros TTFT of ok requests since the start; null as long as there is none
   * @param itlMicros inter-token gaps of ok requests since the start; null as long as there is none
   * @param tokensPerSecondNow output tokens of the requests that ended since the figures before,
   *     per second
   * @param tokensPerSecondMean output tokens per second since the start
   * @param inputsPerSecond texts embedded, per second since the start; null where there are none,
   *     or tokens were put out too
   * @param requestsPerSecond requests that succeeded, per second since the start
   * @param inFlight requests that were sent and have not ended; null when not known
   * @param progress where the run stands; null when not known
   */
  public record LiveFigures(
      long ok,
      long failed,
      long rateLimited,
      long heldBack,
      @Nullable Double sloShare,
      @Nullable Percentiles ttftMicros,
      @Nullable Percentiles itlMicros,
      @Nullable Double tokensPerSecondNow,
      @Nullable Double tokensPerSecondMean,
      @Nullable Double inputsPerSecond,
      @Nullable Double requestsPerSecond,
      @Nullable Long inFlight,
      @Nullable Progress progress) {

    /** Percentiles of a distribution, nearest rank, in its unit. */
    public record Percentiles(long p50, long p95, long p99) {

      static @Nullable Percentiles of(AbstractHistogram values) {
        return values.getTotalCount() == 0
            ? null
            : new Percentiles(
                values.getValueAtPercentile(50),
                values.getValueAtPercentile(95),
                values.getValueAtPercentile(99));
      }
    }

    /**
     * Where a run stands.
     *
     * @param stage label of the load level
     * @param phase of that level; null when it has none
     * @param share of the whole run that is over, 0 to 1; null when its end is not known
     * @param leftNanos until the end of the run; null when not known
     */
    public record Progress(
        String stage, @Nullable Phase phase, @Nullable Double share, @Nullable Long leftNanos) {}

    public LiveFigures withInFlight(@Nullable Long requests) {
      return with(requests, progress);
    }

    public LiveFigures withProgress(@Nullable Progress where) {
      return with(inFlight, where);
    }

    private LiveFigures with(@Nullable Long requests, @Nullable Progress where) {
      return new LiveFigures(
          ok,
          failed,
          rateLimited,
          heldBack,
          sloShare,
          ttftMicros,
          itlMicros,
          tokensPerSecondNow,
          tokensPerSecondMean,
          inputsPerSecond,
          requestsPerSecond,
          requests,
          where);
    }
  }
}
