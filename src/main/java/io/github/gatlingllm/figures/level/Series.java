package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Metric;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The data of charts that the {@link Summary} does not have: figures over time and shapes of
 * distributions. Its size is bounded whatever the length of the run. Not part of {@code
 * summary.json}.
 *
 * @param bucketS width of a bucket of {@code overTime} in seconds: 1, 2, 4 … so that there are at
 *     most 600
 * @param overTime one entry per bucket from the start of the run to its end, empty buckets
 *     included; requests of every phase
 * @param heat TTFT from schedule by the time of the first token; TPOT, E2E from schedule and jitter
 *     of ok requests by the time of their end; a metric without values is missing
 * @param shapes distribution shapes of {@code TTFT_MS}, {@code ITL_MS}, {@code TPOT_MS} and {@code
 *     E2E_MS}: ok requests scheduled in measure; a metric without values is missing
 * @param requestSamples data of single requests
 * @param generator health of the load generators over time; empty where it was not recorded
 * @param engines the servers' own metrics by target, over time; empty where not read
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
   * @param ttftP50Ms TTFT from schedule of requests whose first token arrived in the bucket
   * @param itlP50Ms gaps that ended in the bucket
   * @param outputTokensPerS tokens that arrived in the bucket ÷ its width
   * @param sloTokensPerS of those, tokens of requests that met the SLO; null without SLO
   * @param started requests that started in it
   * @param ended requests that ended in it by themselves
   * @param failed number of ended requests that failed
   * @param failures number of failed requests by kind: key of the status, or {@value
   *     OverTime#CHECK_FAILED}
   * @param rateLimited number of ended requests that the server rejected by a rate limit
   * @param quotaLeft by quota of the server, the lowest share that an answer reported as left, 0 to
   *     1; empty where answers report none
   * @param inFlight requests in flight, time-weighted mean over the bucket
   * @param tokensInFlight tokens of the requests in flight at its end: prompts and the answers so
   *     far
   * @param plannedArrivals requests whose arrival was planned in the bucket
   * @param realisedArrivals requests with a planned arrival that started in the bucket
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
   * The health of the load generator in one interval of time.
   *
   * @param startS its start since the start of the run
   * @param lagP99Ms lag of the event loop, of the loop and second where it was largest
   * @param lagMaxMs largest lag of an event loop
   * @param ownCpu share of the machine's processors that its process used; null where unknown
   * @param busyCpu share of them that was not idle; null where unknown
   * @param stolenCpu share of them that the hypervisor took; null where unknown
   * @param compilerMs CPU time of the JIT compiler per second
   * @param pausesMs pauses of garbage collection per second
   * @param heapMb heap in use, 10⁶ bytes
   * @param directMb memory in use outside the heap, 10⁶ bytes
   * @param inFlight requests in flight
   * @param openFiles open file descriptors
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
   * @param bars a histogram of at most 60 bars of equal width, up to the largest value. The last
   *     bar is wider where a long tail would squeeze the others. Bars of TTFT have equal ratios
   *     where its values differ by more than a factor of 8
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
