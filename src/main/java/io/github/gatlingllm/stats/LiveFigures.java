package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.Phase;
import org.HdrHistogram.AbstractHistogram;
import org.jspecify.annotations.Nullable;

/**
 * What a run looks like while it runs: good enough to watch, made from the requests that have
 * ended. The report's figures are made from the records.
 *
 * @param ok requests that succeeded since the run's start
 * @param failed requests that failed since the run's start; those that we cancelled are no failures
 * @param sloShare share of attempted requests that met every objective, 0 to 1; null without SLO
 * @param ttftMicros TTFT of ok requests since the run's start; null as long as there is none
 * @param itlMicros inter-token gaps of ok requests since the run's start; null as long as there is
 *     none
 * @param tokensPerSecondNow output tokens of the requests that ended since the figures before, per
 *     second
 * @param tokensPerSecondMean output tokens per second since the run's start
 * @param inFlight requests that were sent and have not ended; null when not known
 * @param engineQueue requests that wait in the engine, by its own metrics; null when not scraped
 * @param progress where the run stands; null when not known
 */
public record LiveFigures(
    long ok,
    long failed,
    @Nullable Double sloShare,
    @Nullable Percentiles ttftMicros,
    @Nullable Percentiles itlMicros,
    @Nullable Double tokensPerSecondNow,
    @Nullable Double tokensPerSecondMean,
    @Nullable Long inFlight,
    @Nullable Long engineQueue,
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
    return with(requests, engineQueue, progress);
  }

  public LiveFigures withEngineQueue(@Nullable Long requests) {
    return with(inFlight, requests, progress);
  }

  public LiveFigures withProgress(@Nullable Progress where) {
    return with(inFlight, engineQueue, where);
  }

  private LiveFigures with(
      @Nullable Long requests, @Nullable Long queued, @Nullable Progress where) {
    return new LiveFigures(
        ok,
        failed,
        sloShare,
        ttftMicros,
        itlMicros,
        tokensPerSecondNow,
        tokensPerSecondMean,
        requests,
        queued,
        where);
  }
}
