package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.ServerReport;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/**
 * The data of charts about requests of single load levels that were scheduled in a measure window.
 * Bounded whatever the length of the run. Not part of {@code summary.json}.
 *
 * @param quantiles percentile curves of ok requests by the position of the level; of at most
 *     {@value #MAX_LEVELS} levels
 */
public record RequestSamples(
    Map<Integer, Map<Metric, List<Quantile>>> quantiles,
    List<Breakdown> breakdowns,
    Exemplars exemplars,
    List<ScenarioLoad> scenarios) {

  static final int MAX_LEVELS = 24;

  static final RequestSamples NONE =
      new RequestSamples(
          Map.of(), List.of(), new Exemplars(List.of(), List.of(), List.of()), List.of());

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

  /**
   * The time of the ok requests of one load level by part, as sums, so that means add up exactly.
   *
   * <pre>
   * scheduled ─ start lag ─ gate wait ─ connect ─┬ server queue ┬ server prefill ┬ rest ┬ server decode ┬ rest ┐
   *                                              └──────── TTFT − connect ──────────────┴──── to last token ───┘
   * </pre>
   */
  static final class BreakdownTally {

    private final Map<Part, Long> nanos = new EnumMap<>(Part.class);
    private long count;
    private long reporting;

    void add(RequestRecord record) {
      RequestRecord.Timing t = record.timing();
      Long gate = t.gateWaitNanos();
      Long end = t.latencyNanos();
      if (!record.outcome().ok() || gate == null || end == null) {
        return;
      }
      count++;
      part(Part.START_LAG, t.startLagNanos());
      part(Part.GATE_WAIT, gate);
      Long ttft = t.ttftNanos();
      long connect = Objects.requireNonNullElse(t.connectNanos(), 0L);
      part(Part.CONNECT, connect);
      if (ttft == null) {
        part(Part.ANSWER, end - connect);
        return;
      }
      ServerParts server = ServerParts.of(record);
      reporting += server.isEmpty() ? 0 : 1;
      part(Part.SERVER_QUEUE, server.queueNanos());
      part(Part.SERVER_PREFILL, server.prefillNanos());
      part(Part.FIRST_TOKEN, ttft - connect - server.queueNanos() - server.prefillNanos());
      part(Part.SERVER_DECODE, server.decodeNanos());
      part(Part.DECODE, end - ttft - server.decodeNanos());
    }

    private void part(Part part, long more) {
      if (more > 0) {
        nanos.merge(part, more, Long::sum);
      }
    }

    @Nullable Breakdown breakdown(LevelInfo level) {
      Map<Part, Double> means = new EnumMap<>(Part.class);
      nanos.forEach((part, sum) -> means.put(part, sum / 1e6 / count));
      return count == 0 ? null : new Breakdown(level, count, reporting, means);
    }
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
   * @param why the reason to show it: {@code Fastest}, {@code Slowest} by E2E from schedule, {@code
   *     Failed}
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
      LevelInfo level,
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
      LevelInfo level,
      long count,
      @Nullable Double ttftP95Ms,
      @Nullable Double e2eP95Ms,
      @Nullable Double sloShare) {}

  /** Key figures by scenario and load level; none for a run with one scenario. */
  static final class ScenarioTally {

    private final Map<Key, Cell> cells =
        new TreeMap<>(
            Comparator.comparingInt((Key key) -> key.level.index()).thenComparing(Key::scenario));

    private record Key(String scenario, LevelTally level) {}

    private static final class Cell {
      private final IntCountsHistogram ttft = OverTime.coarse();
      private final IntCountsHistogram e2e = OverTime.coarse();
      private long count;
      private long judged;
      private long met;
    }

    /**
     * Adds a request.
     *
     * @param inSlo whether it met the SLO; null without SLO, or when it was not judged
     */
    void add(RequestRecord record, LevelTally level, @Nullable Boolean inSlo) {
      Key key = new Key(record.identity().scenario(), level);
      Cell cell = cells.computeIfAbsent(key, k -> new Cell());
      cell.count++;
      if (inSlo != null) {
        cell.judged++;
        cell.met += inSlo ? 1 : 0;
      }
      if (record.outcome().ok()) {
        OverTime.add(cell.ttft, record.timing().ttftNanos());
        OverTime.add(cell.e2e, record.timing().latencyNanos());
      }
    }

    /** In order of load levels, then of names; empty for fewer than two scenarios. */
    List<ScenarioLoad> loads() {
      if (cells.keySet().stream().map(Key::scenario).distinct().count() < 2) {
        return List.of();
      }
      return cells.entrySet().stream().map(e -> load(e.getKey(), e.getValue())).toList();
    }

    private static ScenarioLoad load(Key key, Cell cell) {
      return new ScenarioLoad(
          key.scenario,
          key.level.info(),
          cell.count,
          OverTime.percentileMs(cell.ttft, 95),
          OverTime.percentileMs(cell.e2e, 95),
          cell.judged == 0 ? null : (Double) ((double) cell.met / cell.judged));
    }
  }
}
