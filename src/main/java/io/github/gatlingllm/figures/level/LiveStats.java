package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Figures of a run or a load level while it is on, for the console and the live page: of the
 * requests that have ended so far. Tokens count in the time window in which they arrived, so that
 * once all requests of a level have ended its figures are those of the report.
 *
 * <p>Thread-safe. One reader calls {@link #snapshot()}: the rate of "now" is that since its
 * previous call. Memory: about 100 KiB, and the token instants of the longest answer.
 */
public final class LiveStats implements Consumer<RequestRecord> {

  private final LongSupplier nanoClock;
  private final long startNanos;
  private final TokenStream stream = new TokenStream();
  private final ValueRecorder ttft = Metric.TTFT_MS.recorder();
  private final ValueRecorder itl = Metric.ITL_MS.recorder();
  private final Amounts amounts = new Amounts();
  private long heldBack;
  private double tokensBefore;
  private long snapshotNanos;

  public LiveStats(LongSupplier nanoClock) {
    this(nanoClock, nanoClock.getAsLong());
  }

  /** Statistics of a time window; {@code nanoClock} returns at most its end. */
  public LiveStats(LongSupplier nanoClock, long startNanos) {
    this.nanoClock = nanoClock;
    this.startNanos = startNanos;
    this.snapshotNanos = startNanos;
  }

  @Override
  public void accept(RequestRecord record) {
    add(record, true, Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /**
   * Adds a request that has ended.
   *
   * @param isMeasured whether its latencies, its outcome and its SLO count
   * @param fromUnixNanos start of the window in which tokens and completed requests count
   */
  public synchronized void add(
      RequestRecord record, boolean isMeasured, long fromUnixNanos, long untilUnixNanos) {
    stream.read(record);
    for (int i = 0; i < stream.arrivals; i++) {
      long at = stream.unixNanos[i];
      boolean isIn = at >= fromUnixNanos && at < untilUnixNanos;
      amounts.add(Amount.TOKENS, isIn ? stream.tokens[i] : 0);
    }
    RequestRecord.Outcome outcome = record.outcome();
    Long closed = record.timing().closedUnixNanos();
    if (outcome.ok() && closed != null && closed >= fromUnixNanos && closed < untilUnixNanos) {
      Integer texts = record.tokens().inputs();
      amounts.add(Amount.INPUTS, texts == null ? 0 : texts);
      amounts.add(Amount.COMPLETED, 1);
    }
    if (!isMeasured) {
      return;
    }
    amounts.started(record, outcome.sloOk());
    Long firstToken = record.timing().ttftNanos();
    if (firstToken != null && outcome.hasFirstToken()) {
      ttft.add(firstToken / 1e6);
    }
    if (outcome.ok()) {
      stream.addTokenGaps(itl);
    }
    Long paced = record.timing().pacingWaitNanos();
    heldBack += paced != null && paced > 0 ? 1 : 0;
  }

  /** The figures up to now; the next snapshot's "now" begins here. */
  public synchronized LiveFigures snapshot() {
    long now = nanoClock.getAsLong();
    LiveFigures figures = figures(now);
    snapshotNanos = now;
    tokensBefore = amounts.of(Amount.TOKENS);
    return figures;
  }

  /** The figures up to now, for another reader: leaves the "now" of snapshots as it is. */
  public synchronized LiveFigures peek() {
    return figures(nanoClock.getAsLong());
  }

  private LiveFigures figures(long now) {
    double tokens = amounts.of(Amount.TOKENS);
    double inputs = amounts.of(Amount.INPUTS);
    double judged = amounts.of(Amount.ATTEMPTED);
    return new LiveFigures(
        amounts.count(Amount.OK),
        amounts.count(Amount.FAILED),
        amounts.count(Amount.RATE_LIMITED),
        heldBack,
        judged > 0 ? (Double) (amounts.of(Amount.MET) / judged) : null,
        ttft.distribution(),
        itl.distribution(),
        perSecond(tokens - tokensBefore, now - snapshotNanos),
        perSecond(tokens, now - startNanos),
        inputs == 0 || tokens > 0 ? null : perSecond(inputs, now - startNanos),
        perSecond(amounts.of(Amount.COMPLETED), now - startNanos),
        null,
        null);
  }

  private static @Nullable Double perSecond(double amount, long nanos) {
    return nanos <= 0 ? null : (Double) (amount / (nanos / 1e9));
  }

  /**
   * Figures of the requests that have ended. Of a load level that is over: those of its measure
   * window, as in the report.
   *
   * @param sloShare share of attempted requests that met every objective, 0 to 1; null without SLO
   * @param tokensPerSecondNow output tokens of the requests that ended since the previous snapshot,
   *     per second
   * @param inputsPerSecond texts embedded, per second since the start; null where there are none,
   *     or where output tokens arrived too
   */
  public record LiveFigures(
      long ok,
      long failed,
      long rateLimited,
      long heldBack,
      @Nullable Double sloShare,
      Distribution ttftMs,
      Distribution itlMs,
      @Nullable Double tokensPerSecondNow,
      @Nullable Double tokensPerSecondMean,
      @Nullable Double inputsPerSecond,
      @Nullable Double requestsPerSecond,
      @Nullable Long inFlight,
      @Nullable Progress progress) {

    /** By the names that the setting {@code repeats} knows; without those that have no value. */
    public Map<String, Double> byName() {
      Map<String, Double> all = new HashMap<>();
      all.put("throughput", inputsPerSecond == null ? tokensPerSecondMean : inputsPerSecond);
      all.put("requests_per_s", requestsPerSecond);
      all.put("ttft.p50", ttftMs.p50());
      all.put("ttft.p99", ttftMs.p99());
      all.put("itl.p50", itlMs.p50());
      all.put("itl.p99", itlMs.p99());
      all.values().removeIf(Objects::isNull);
      return all;
    }

    public record Progress(
        String stage, @Nullable Phase phase, @Nullable Double share, @Nullable Long leftNanos) {}

    /** The same with what only the run knows. */
    public LiveFigures with(
        @Nullable Double share, @Nullable Long requests, @Nullable Progress where) {
      return new LiveFigures(
          ok,
          failed,
          rateLimited,
          heldBack,
          share,
          ttftMs,
          itlMs,
          tokensPerSecondNow,
          tokensPerSecondMean,
          inputsPerSecond,
          requestsPerSecond,
          requests,
          where);
    }
  }
}
