package io.github.gatlingllm.stats;

import io.github.gatlingllm.enginestats.EngineFigures;
import io.github.gatlingllm.metric.Metric;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What charts need beside the {@link Summary}: figures over time and shapes of distributions. Of
 * bounded size whatever the run's length; not part of {@code summary.json}.
 *
 * @param bucketS width of a bucket of {@code overTime} in seconds: 1, 2, 4 … so that there are at
 *     most 600
 * @param overTime one entry per bucket from the start of the run to its end, empty buckets
 *     included; requests of every phase
 * @param heat TTFT from schedule over time by first token, and of ok requests TPOT, E2E from
 *     schedule and jitter by their end; a metric without values is missing
 * @param shapes distribution shapes of {@code TTFT_MS}, {@code ITL_MS}, {@code TPOT_MS} and {@code
 *     E2E_MS}: ok requests scheduled in measure; a metric without values is missing
 * @param requestSamples what single requests show
 * @param generator how the load generator itself fared, over time; empty where it did not say
 * @param engines what the servers' own metrics say, by target over time; empty where not read
 */
public record Series(
    double bucketS,
    List<Bucket> overTime,
    Map<Metric, HeatMap> heat,
    Map<Metric, Shape> shapes,
    RequestSamples requestSamples,
    List<GeneratorBucket> generator,
    List<EngineFigures.OverTime> engines) {

  /** The most buckets over time. */
  public static final int MAX_BUCKETS = 600;

  /**
   * One interval of time. Percentiles have 2 significant digits (error ≤ 1 %).
   *
   * @param startS its start since the start of the run
   * @param ttftP50Ms TTFT of requests whose first token came in the bucket
   * @param itlP50Ms gaps that ended in the bucket
   * @param outputTokensPerS tokens that arrived in the bucket ÷ its width
   * @param sloTokensPerS of those, tokens of requests that met the SLO; null without SLO
   * @param started requests that started in it
   * @param ended requests that ended in it by themselves
   * @param failed of those, how many failed
   * @param failures of these, how many of each kind: keys of statuses, and {@value
   *     OverTime#CHECK_FAILED}
   * @param rateLimited of those, how many a rate limit of the server turned away
   * @param quotaLeft by quota of the server, the lowest share of it that an answer said is left, 0
   *     to 1; empty where answers do not say
   * @param inFlight requests in flight, time-weighted mean over the bucket
   * @param tokensInFlight tokens of the requests in flight at its end: their prompts and what had
   *     come of their answers
   * @param plannedArrivals requests with a planned arrival for which it was planned in the bucket
   * @param realisedArrivals of requests with a planned arrival, those that started in the bucket
   */
  public record Bucket(
      double startS,
      @Nullable Double ttftP50Ms,
      @Nullable Double ttftP95Ms,
      @Nullable Double ttftP99Ms,
      @Nullable Double itlP50Ms,
      @Nullable Double itlP99Ms,
      double outputTokensPerS,
      @Nullable Double sloTokensPerS,
      long started,
      long ended,
      long failed,
      Map<String, Long> failures,
      long rateLimited,
      Map<String, Double> quotaLeft,
      double inFlight,
      double tokensInFlight,
      long plannedArrivals,
      long realisedArrivals) {}

  /**
   * How the load generator fared in one interval of time.
   *
   * @param startS its start since the start of the run
   * @param lagP99Ms of the event loop and second where it was largest
   * @param lagMaxMs the same
   * @param ownCpu share of the machine's processors that its process used; null where unknown
   * @param busyCpu share of them that was not idle; null where unknown
   * @param stolenCpu share of them that the hypervisor took; null where unknown
   * @param compilerMs per second
   * @param pausesMs of garbage collection, per second
   * @param heapMb in use, 10⁶ bytes
   * @param directMb outside the heap
   */
  public record GeneratorBucket(
      double startS,
      double lagP99Ms,
      double lagMaxMs,
      @Nullable Double ownCpu,
      @Nullable Double busyCpu,
      @Nullable Double stolenCpu,
      double compilerMs,
      double pausesMs,
      double heapMb,
      double directMb,
      double inFlight,
      double openFiles) {}

  /**
   * Counts over time and value.
   *
   * @param edges n + 1 edges of n value rows, ascending, logarithmic, in the unit of the metric
   * @param cells cells with at least one value
   */
  public record HeatMap(List<Double> edges, List<Cell> cells) {}

  /** {@code count} values in time bucket {@code bucket} and value row {@code row}, from 0. */
  public record Cell(int bucket, int row, long count) {}

  /**
   * The shape of one distribution.
   *
   * @param bars a histogram of at most 60 bars of equal width, up to the largest value; the last
   *     bar is wider where a long tail would squeeze the rest; bars of equal ratio where TTFT
   *     differs much
   * @param quantiles the percentile curve on a scale of nines, ascending
   */
  public record Shape(List<Bar> bars, List<Quantile> quantiles) {}

  /** {@code count} values in [{@code from}, {@code to}). */
  public record Bar(double from, double to, long count) {}

  /**
   * The value below or at which {@code percent} % of the values lie.
   *
   * @param percent 0 to 100, e.g. 99.9
   */
  public record Quantile(double percent, double value) {}
}
