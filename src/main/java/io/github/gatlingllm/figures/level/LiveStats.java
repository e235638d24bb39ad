package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Figures of a run or a load level while it is on, for the console and the live page: the cell of
 * the requests that have ended so far. Requests are counted as for the report, so that once all
 * requests of a level have ended its figures are those of the report.
 *
 * <p>Thread-safe. One reader calls {@link #snapshot()}: the rate of "now" is that since its
 * previous call. Memory: about 100 KiB, and the token instants of the longest answer.
 */
public final class LiveStats implements Consumer<RequestRecord> {

  private final LongSupplier nanoClock;
  private final long startNanos;
  private final RequestParts parts = new RequestParts(Cell.Detail.LIVE.ofRequests(), 0);
  private final Cell cell = new Cell(Cell.Detail.LIVE);
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
   * @param isMeasured whether it was scheduled in the window
   * @param fromUnixNanos start of the window
   */
  public synchronized void add(
      RequestRecord record, boolean isMeasured, long fromUnixNanos, long untilUnixNanos) {
    parts.read(record);
    cell.add(parts.in(fromUnixNanos, untilUnixNanos, isMeasured));
    if (isMeasured) {
      cell.measured(parts);
    }
  }

  /** The figures up to now; the next snapshot's "now" begins here. */
  public synchronized LiveFigures snapshot() {
    long now = nanoClock.getAsLong();
    LiveFigures figures = figures(now);
    snapshotNanos = now;
    tokensBefore = cell.of(Amount.TOKENS);
    return figures;
  }

  /** The figures up to now, for another reader: leaves the "now" of snapshots as it is. */
  public synchronized LiveFigures peek() {
    return figures(nanoClock.getAsLong());
  }

  private LiveFigures figures(long now) {
    double tokens = cell.of(Amount.TOKENS) - tokensBefore;
    long nanos = now - snapshotNanos;
    return new LiveFigures(
        Pooled.soFar(cell, Math.max(0, now - startNanos)).figures(null),
        cell.share(Amount.MET, Amount.ATTEMPTED),
        cell.count(Amount.HELD_BACK),
        nanos <= 0 ? null : (Double) (tokens / (nanos / 1e9)),
        null,
        null);
  }

  /**
   * Figures of the requests that have ended. Of a load level that is over: those of its measure
   * window, as in the report.
   *
   * @param sloShare share of attempted requests that met every objective, 0 to 1; null without SLO
   * @param heldBack requests that waited for a limit of the client
   * @param tokensPerSecondNow output tokens of the requests that ended since the previous snapshot,
   *     per second
   */
  public record LiveFigures(
      Figures figures,
      @Nullable Double sloShare,
      long heldBack,
      @Nullable Double tokensPerSecondNow,
      @Nullable Long inFlight,
      @Nullable Progress progress) {

    private static final List<String> REPEATED =
        List.of("requests_per_s", "ttft.p50", "ttft.p99", "itl.p50", "itl.p99");

    public @Nullable Double number(Metric metric) {
      return figures.number(metric);
    }

    /** By the names that the setting {@code repeats} knows; without those that have no value. */
    public Map<String, Double> byName() {
      Map<String, Double> all = new HashMap<>();
      all.put("throughput", figures.delivered());
      REPEATED.forEach(name -> all.put(name, Figure.parse(name).of(figures)));
      all.values().removeIf(Objects::isNull);
      return all;
    }

    /** The same with what only the run knows. */
    public LiveFigures with(
        @Nullable Double share, @Nullable Long requests, @Nullable Progress where) {
      return new LiveFigures(figures, share, heldBack, tokensPerSecondNow, requests, where);
    }
  }

  public record Progress(
      String stage, @Nullable Phase phase, @Nullable Double share, @Nullable Long leftNanos) {}
}
