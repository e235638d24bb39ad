package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.ServerReport;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The data of charts about single requests that were scheduled in a measure window. Bounded
 * whatever the length of the run. Not part of {@code summary.json}.
 *
 * @param levels the requests of each load level, by the position of the level; of at most {@value
 *     RequestSampleTally#MAX_LEVELS} levels
 */
public record RequestSamples(
    Map<Integer, LevelSamples> levels,
    List<Breakdown> breakdowns,
    Exemplars exemplars,
    List<ScenarioLoad> scenarios) {

  static final RequestSamples NONE =
      new RequestSamples(
          Map.of(), List.of(), new Exemplars(List.of(), List.of(), List.of()), List.of());

  /**
   * The ok requests of one load level.
   *
   * @param ttftByPrompt TTFT by range of prompt tokens, ascending; a range is a quarter of a
   *     doubling wide
   */
  public record LevelSamples(Map<Metric, List<Quantile>> quantiles, List<Range> ttftByPrompt) {}

  /**
   * The requests with prompts in [{@code from}, {@code to}). Percentiles have 2 significant digits
   * (error ≤ 1 %).
   *
   * @param p95Ms null for fewer than 20 values
   */
  public record Range(
      long from, long to, long count, double p50Ms, @Nullable Double p95Ms, double maxMs) {}

  /**
   * The mean time of the ok requests of one load level by part. The means of all parts add up to
   * the mean E2E from schedule.
   *
   * @param reporting number of requests with parts that the server reported
   * @param meansMs by part, in order of time; parts that never occur are left out
   */
  public record Breakdown(
      String stage,
      String target,
      @Nullable String scenario,
      long count,
      long reporting,
      List<PartMean> meansMs) {

    /** Mean E2E from schedule. */
    public double totalMs() {
      return meansMs.stream().mapToDouble(PartMean::ms).sum();
    }
  }

  /** Σ of that part over all requests ÷ requests. */
  public record PartMean(Part part, double ms) {}

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

  /**
   * The times of one request that the server reported, where they fit into the measured times:
   * queue and prefill between the request's bytes and the first token, decode between first and
   * last token. The server stamps the ends of decode elsewhere: up to 10 % more than measured is
   * cut off. A time that does not fit measures something else, and is 0 here.
   */
  public record ServerParts(long queueNanos, long prefillNanos, long decodeNanos) {

    private static final double DECODE_TOLERANCE = 1.1;

    /** The reported times of a streamed answer; 0 for others. */
    static ServerParts of(RequestRecord record) {
      RequestRecord.Timing t = record.timing();
      Long first = t.ttftNanos();
      Long last = t.latencyNanos();
      if (first == null || last == null) {
        return new ServerParts(0, 0, 0);
      }
      ServerReport report = record.server();
      long queue = report.nanos(ServerReport.Timing.QUEUE);
      long prefill = report.nanos(ServerReport.Timing.PREFILL);
      long decode = report.nanos(ServerReport.Timing.DECODE);
      Long connect = t.connectNanos();
      boolean isBefore = queue + prefill <= first - (connect == null ? 0 : connect);
      return new ServerParts(
          isBefore ? queue : 0,
          isBefore ? prefill : 0,
          decode <= DECODE_TOLERANCE * (last - first) ? Math.min(decode, last - first) : 0);
    }

    boolean isEmpty() {
      return queueNanos + prefillNanos + decodeNanos == 0;
    }
  }

  /**
   * Outliers.
   *
   * @param failed failed requests: the longest of each cause, then the next of each cause; without
   *     cancelled and rate-limited ones
   */
  public record Exemplars(
      List<Exemplar> slowest, List<Exemplar> failed, List<RecordedText> texts) {}

  /**
   * Prompt and answer of a request. Long texts are cut in their middle, secrets are replaced by
   * stars.
   *
   * @param why the reason to show it: {@code Fastest}, {@code Median}, {@code Slowest} by E2E from
   *     schedule, {@code Failed}
   */
  public record RecordedText(
      String why, Exemplar request, String prompt, String reasoning, String answer) {}

  /**
   * One request; times in ms since it was scheduled.
   *
   * @param endMs last token of an ok request, end of any other
   * @param marksMs times of token events; of many a part, with both ends of every long gap
   */
  public record Exemplar(
      String requestId,
      String name,
      String stage,
      String target,
      @Nullable String scenario,
      double startS,
      String verdict,
      @Nullable String error,
      @Nullable Double admittedMs,
      @Nullable Double writtenMs,
      @Nullable Double firstTokenMs,
      double endMs,
      @Nullable Integer outputTokens,
      @Nullable Double longestGapMs,
      @Nullable ServerParts server,
      int events,
      List<Double> marksMs) {}

  /** The requests of one scenario at one load level. Percentiles have 2 significant digits. */
  public record ScenarioLoad(
      String scenario,
      String stage,
      String target,
      long count,
      @Nullable Double ttftP95Ms,
      @Nullable Double e2eP95Ms,
      @Nullable Double sloShare) {}
}
