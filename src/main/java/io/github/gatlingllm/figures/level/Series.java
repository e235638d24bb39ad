package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.LevelInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The data of charts that the {@link Summary} does not have: figures over time, shapes of
 * distributions. Its size is bounded whatever the length of the run. Not part of {@code
 * summary.json}.
 *
 * @param bucketS width of a bucket of {@code overTime} in seconds: 1, 2, 4 … so that there are at
 *     most 600
 * @param overTime one entry per bucket from the start of the run to its end, empty buckets
 *     included; requests of every phase
 * @param quantiles percentile curves of {@code TTFT_MS}, {@code ITL_MS}, {@code TPOT_MS} and {@code
 *     E2E_MS}: ok requests scheduled in measure; a metric without values is missing
 * @param levelQuantiles the same by the position of the load level; of at most {@value #MAX_LEVELS}
 */
public record Series(
    double bucketS,
    List<Bucket> overTime,
    Map<Metric, List<Quantile>> quantiles,
    Map<Integer, Map<Metric, List<Quantile>>> levelQuantiles,
    List<Breakdown> breakdowns,
    List<ScenarioLoad> scenarios,
    List<GeneratorBucket> generator,
    List<EngineFigures.OverTime> engines) {

  /** The most buckets over time. */
  public static final int MAX_BUCKETS = 600;

  static final int MAX_LEVELS = 24;

  /**
   * One interval of time. Percentiles have 2 significant digits (error ≤ 1 %).
   *
   * @param ttftP50Ms TTFT from schedule of requests whose first token arrived in the bucket
   * @param itlP50Ms gaps that ended in the bucket
   * @param sloTokensPerS of those, tokens of requests that met the SLO; null without SLO
   * @param quotaLeft by quota of the server, the lowest share that an answer reported as left, 0 to
   *     1; empty where answers report none
   * @param inFlight requests in flight, time-weighted mean over the bucket
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
      long plannedArrivals) {}

  /**
   * The health of the load generator in one interval of time.
   *
   * @param lagP99Ms lag of the event loop, of the loop and second where it was largest
   * @param stolenCpu share of them that the hypervisor took; null where unknown
   */
  public record GeneratorBucket(
      double startS,
      double lagP99Ms,
      double lagMaxMs,
      @Nullable Double ownCpu,
      @Nullable Double busyCpu,
      @Nullable Double stolenCpu) {}

  /** The value below or at which {@code percent} % of the values lie. */
  public record Quantile(double percent, double value) {

    private static final double[] NINES = {
      1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.995, 99.999
    };

    /** From the least to the largest value, with a percentile where one value lies beyond it. */
    static List<Quantile> curve(ValueRecorder values) {
      List<Quantile> curve = new ArrayList<>();
      curve.add(new Quantile(0, values.moments().min()));
      for (double percent : NINES) {
        if (values.moments().count() * (100 - percent) / 100 >= 1 - 1e-9) {
          curve.add(new Quantile(percent, Objects.requireNonNull(values.percentile(percent))));
        }
      }
      curve.add(new Quantile(100, values.moments().max()));
      return curve;
    }
  }

  /**
   * The mean time of the ok requests of one load level by part. The means of all parts add up to
   * the mean E2E from schedule.
   *
   * @param reporting number of requests with parts that the server reported
   * @param meansMs in order of time; parts that never occur are left out
   */
  public record Breakdown(LevelInfo level, long count, long reporting, Map<Part, Double> meansMs) {

    /** Mean E2E from schedule. */
    public double totalMs() {
      return meansMs.values().stream().mapToDouble(Double::doubleValue).sum();
    }
  }

  /** The parts of a request's time, in order. */
  public enum Part {
    /** start − scheduled. */
    START_LAG,
    /** admitted − start. */
    GATE_WAIT,
    /** written − admitted. */
    CONNECT,
    /** Queue time that the server reported. */
    SERVER_QUEUE,
    /** Prefill time that the server reported. */
    SERVER_PREFILL,
    /** Rest of the time to the first token: network, and time that the server did not report. */
    FIRST_TOKEN,
    /** Decode time that the server reported. */
    SERVER_DECODE,
    /** last token − first token, without the decode time that the server reported. */
    DECODE,
    /** Not streamed: last byte − written. */
    ANSWER
  }

  /** The requests of one scenario at one load level. Percentiles have 2 significant digits. */
  public record ScenarioLoad(
      String scenario,
      LevelInfo level,
      long count,
      @Nullable Double ttftP95Ms,
      @Nullable Double e2eP95Ms,
      @Nullable Double sloShare) {}
}
