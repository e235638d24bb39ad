package io.github.gatlingllm.figures.metric;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.record.LevelInfo;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one load level of one scenario at one target, for the checks, the verdict, the
 * report and the comparison of runs. Times are in seconds since the start of the run.
 *
 * @param info its description in {@code run.json}; {@code offered} is null where the load has no
 *     single number, {@code scenario} where scenarios are not told apart
 * @param arrivedPerS requests whose scheduled instant lies in the measure window ÷ window; in
 *     closed loops that is when they started
 * @param missing requests of its plan that did not start; below 0 if more did
 * @param law null without a measure window or without counted requests in flight
 * @param silence null without a measure window, and if most answers were not streamed
 * @param steadiness null if the load changes by plan
 */
@JsonPropertyOrder({"info", "unit", "duration_s", "mean_in_flight", "completed_per_s"})
public record LevelFigures(
    @JsonUnwrapped
        @JsonIgnoreProperties({"unit", "phases", "planned", "planned_start_unix_ns", "in_flight"})
        LevelInfo info,
    @JsonIgnore String place,
    @Nullable Double startS,
    List<PhaseSpan> phases,
    @Nullable Double arrivedPerS,
    @Nullable Queue queue,
    List<ObjectiveRow> objectives,
    @Nullable ArrivalFigures arrivals,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable EngineFigures serverMetrics,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<InjectorFigures> injectors,
    @JsonUnwrapped Figures figures,
    @JsonIgnore boolean isCutShort,
    @JsonIgnore long missing,
    @JsonIgnore @Nullable LittlesLaw law,
    @JsonIgnore @Nullable Silence silence,
    @JsonIgnore @Nullable Steadiness steadiness,
    @JsonIgnore List<GeneratorHealth> generators) {

  @JsonProperty
  public @Nullable Double durationS() {
    return figures.windowS();
  }

  @JsonProperty
  public @Nullable Double meanInFlight() {
    return figures.number(Metric.EFFECTIVE_CONCURRENCY);
  }

  public String label() {
    return info.label();
  }

  public String target() {
    return info.target();
  }

  public @Nullable String scenario() {
    return info.scenario();
  }

  public String kind() {
    return info.kind();
  }

  public @Nullable Double offered() {
    return info.offered();
  }

  @JsonProperty
  public @Nullable String unit() {
    return info.unit().isEmpty() ? null : info.unit();
  }

  /** Whether load was offered, also before the measure window only. */
  public boolean wasTried() {
    Double inFlight = meanInFlight();
    return figures.counts().started() > 0 || (inFlight != null && inFlight > 0);
  }

  public boolean overlaps(LevelFigures other) {
    Double own = durationS();
    Double others = other.durationS();
    return startS != null
        && own != null
        && other.startS != null
        && others != null
        && startS < other.startS + others
        && other.startS < startS + own;
  }

  /** A sentence about it: {@code c=8: p99 is …}; {@code P99 is …} of a run without levels. */
  public String states(String sentence) {
    return place.isEmpty() ? NumberText.capital(sentence) : place + ": " + sentence;
  }

  public boolean isEntireRun() {
    return offered() == null && label().equals(LevelInfo.ENTIRE_RUN);
  }

  /** Its load: {@code 8 concurrent requests}; its label where it has no single number. */
  public String load() {
    Double offered = offered();
    if (offered == null) {
      return isEntireRun() ? "the entire run" : "load level " + label();
    }
    return NumberText.of(
        NumberText.load(offered),
        isConcurrency() ? "concurrent request" + (isOneRequest() ? "" : "s") : info.unit());
  }

  public boolean isOneRequest() {
    Double offered = offered();
    return offered != null && offered == 1 && isConcurrency();
  }

  /** Its load in short: {@code 8 concurrent}. */
  public String shortLoad() {
    Double offered = offered();
    return offered != null && isConcurrency()
        ? NumberText.load(offered) + " concurrent"
        : NumberText.capital(load());
  }

  private boolean isConcurrency() {
    return List.of("", "users", "concurrent").contains(info.unit());
  }

  /** The latency in headlines: TTFT, or E2E without streams. */
  public Metric latency() {
    return figures.metric(Metric.TTFT_MS).isEmpty() ? Metric.E2E_MS : Metric.TTFT_MS;
  }

  @JsonProperty
  public @Nullable Double completedPerS() {
    return figures.number(Metric.REQUESTS_PER_S);
  }

  /** Whether requests arrive faster than they are answered; false in closed loops. */
  public boolean fallsBehind() {
    return queue != null && queue.grows();
  }

  /** Whether it sheds load: more than 5 % of its requests were refused or failed. */
  public boolean sheds() {
    return figures.counts().sheds();
  }

  /** Whether it can be a knee or an operating point: the server keeps up and answers. */
  public boolean isServed() {
    return !fallsBehind() && !sheds();
  }

  /** Whether the queue at the server grew; false if requests queue here before they are sent. */
  public boolean backlogGrows() {
    return queue != null && queue.grows() && !queue.held();
  }

  /** The time to its first answer in seconds, if its server had to start; else null. */
  public @Nullable Double coldStartS() {
    return positive(Metric.COLD_START_S);
  }

  /** The time until it holds the SLO in seconds, where it did not from its start on; else null. */
  public @Nullable Double heldLaterS() {
    return positive(Metric.GOODPUT_HELD_AFTER_S);
  }

  private @Nullable Double positive(Metric metric) {
    Double value = figures.number(metric);
    return value == null || value == 0 ? null : value;
  }

  /** E2E p90 ÷ measure window; null if unknown. */
  public @Nullable Double shareOfWindow() {
    Double e2eMs = figures.metric(Metric.E2E_MS).p90();
    LevelInfo.PhaseWindow window = info.measured().orElse(null);
    Long end = window == null ? null : window.endUnixNanos();
    return e2eMs == null || end == null || kind().equals(LevelInfo.BATCH)
        ? null
        : (Double) (e2eMs * 1e6 / (end - window.startUnixNanos()));
  }

  /** Whether the setting {@code duration} determines its measure time. */
  public boolean hasDuration() {
    return kind().equals(LevelInfo.OPEN_LOOP) || (isClosedLoop() && info.planned() == null);
  }

  /** Whether it is in the plan, and not only in the records. */
  public boolean isPlanned() {
    return !kind().equals(LevelInfo.UNPLANNED);
  }

  /** Whether its users come from Gatling's own injection, without a load plan. */
  public boolean isInjected() {
    return kind().equals(LevelInfo.INJECTION);
  }

  public boolean isClosedLoop() {
    return kind().equals(LevelInfo.CLOSED_LOOP);
  }

  public record PhaseSpan(String phase, double startS, double durationS) {}

  /**
   * One objective, at one level or over all levels.
   *
   * @param actualMs the measure at the SLO's percentile, by nearest rank, over attempted requests.
   *     Failed requests, and those that should have the measure and lack it, rank above all values.
   *     Requests to which it does not apply (TPOT of one token) are left out. Null where the rank
   *     is that of a request without a value, or the share is undefined
   * @param metShare attempted requests that met it ÷ attempted, 0 to 1; null where nothing was
   *     attempted, and where more than 1 % were cancelled before they could be judged
   */
  public record ObjectiveRow(
      String measure,
      double limitMs,
      @Nullable Double actualMs,
      @Nullable String noValue,
      @Nullable Double marginMs,
      @Nullable Double metShare,
      @Nullable Boolean ok,
      double percentile) {}

  /** The figures and the health of one injector of several, at one load level or at all pooled. */
  public record InjectorFigures(
      String name,
      @Nullable Long planned,
      long started,
      long ended,
      long ok,
      long failed,
      @Nullable Double requestsPerS,
      @Nullable Double outputTokensPerS,
      Distribution ttftMs,
      Distribution startLagMs,
      @Nullable Double loopLagMaxMs,
      @Nullable Double ownCpu,
      @Nullable Double idleCpu,
      Figures.@Nullable CheckLevel generator) {}

  /**
   * Both sides of Little's law, L = λW, which holds exactly within a window: requests in flight,
   * counted during the run, and the records' rate × their mean time in the system.
   */
  public record LittlesLaw(double mean, double rateTimesStay, double stayMs) {

    /** Clock difference per request between the two ways of counting. */
    private static final double STAMP_MS = 0.1;

    public double residual() {
      double larger = Math.max(mean, rateTimesStay);
      return larger == 0 ? 0 : Math.abs(mean - rateTimesStay) / larger;
    }

    public double excess() {
      return residual() - tolerance();
    }

    /** 5 %, and more for requests of a few milliseconds. */
    public double tolerance() {
      return 0.05 + (stayMs == 0 ? 0 : STAMP_MS / stayMs);
    }
  }

  /**
   * Spans of a measure window in which requests were in flight and no streamed request of the
   * target received a byte: the longest above the bound, else the longest of all.
   */
  public record Silence(
      double longestS, double fromS, int inFlight, double boundS, int spans, double allS) {}

  /**
   * Tests of TTFT, E2E and output tok/s for a trend and for a transient at the start.
   *
   * @param isJudged false if the window is too short, or has too few requests
   */
  public record Steadiness(boolean isJudged, @Nullable Drift likeliest) {}

  /**
   * A change over a measure window, of any size: of the means of the first and last quarter ÷ their
   * mean, or before and after the end of a transient.
   *
   * @param chance p-value: probability that a steady level shows such a change, 0 to 1
   * @param steadyFromS end of the transient, seconds from the start of the window; null for a trend
   */
  public record Drift(
      String what,
      double change,
      String from,
      String to,
      boolean up,
      double chance,
      @Nullable Double steadyFromS) {

    /** Significance level: share of steady runs that are called unsteady. */
    public static final double SIGNIFICANT = 0.05;
  }
}
