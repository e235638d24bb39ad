package io.github.gatlingllm.figures.metric;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one set of requests: an entire run, a load level, a target or a request name.
 *
 * <p>Latency distributions are of ok requests scheduled in a measure window, requests/s of ok
 * requests that ended in one, output tok/s of the tokens of all requests that arrived in one.
 *
 * @param metrics a distribution for each metric that has one; none is missing
 * @param numbers the metrics that are a single number, such as rates and concurrency; null if not
 *     known. Energy and cost are absent for a part of the requests of a load level, and for levels
 *     that share their server with others at the same time
 * @param windowS total length of the measure windows in seconds; overlapping windows count once
 * @param readingSpeed tokens per second of the reader whose stall is a metric
 * @param server timings that the server reported for ok requests scheduled in a measure window, by
 *     key of {@code TimingKey}: times in seconds, counts in tokens
 * @param repeats the figures of each repeat, in order of time; empty unless these are all requests
 *     of repeated load levels
 */
public record Figures(
    @JsonIgnore Map<Metric, Distribution> metrics,
    @JsonIgnore Map<Metric, @Nullable Double> numbers,
    @JsonIgnore @Nullable Double windowS,
    @JsonIgnore @Nullable Trials trials,
    @Nullable Goodput goodput,
    @JsonIgnore double readingSpeed,
    List<ErrorCount> errors,
    Map<String, Long> finishReasons,
    Counts counts,
    Map<String, Distribution> server,
    @Nullable RateLimits rateLimits,
    @JsonIgnore List<Figures> repeats) {

  /** What {@code summary.json} has by the keys of the catalogue, in its sections. */
  @JsonAnyGetter
  Map<String, Map<String, @Nullable Object>> bySection() {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    metrics.forEach(
        (metric, values) -> {
          boolean isRate = metric.unit() == Metric.Unit.TOKENS_PER_S;
          all.put((isRate ? "throughput." : "metrics.") + metric.key(), values);
        });
    all.put("throughput.window_s", windowS);
    all.put("throughput.requests_per_min", requestsPerMin());
    all.put("throughput.trials", trials);
    all.put("jitter.itl_std_ms", metric(Metric.ITL_MS).std());
    all.put("reader.tokens_per_s", readingSpeed);
    numbers.forEach((metric, number) -> all.put(metric.key(), number));
    Map<String, Map<String, @Nullable Object>> sections = new LinkedHashMap<>();
    all.forEach(
        (key, value) -> {
          String[] path = key.split("\\.", 2);
          sections.computeIfAbsent(path[0], name -> new LinkedHashMap<>()).put(path[1], value);
        });
    return sections;
  }

  /** The spread of a figure between repeats, over those that have it; null for fewer than two. */
  public @Nullable Spread spread(Function<Figures, @Nullable Double> figure) {
    Double all = figure.apply(this);
    return all == null
        ? null
        : Spread.of(all, repeats.stream().map(figure).filter(Objects::nonNull).toList());
  }

  /** The compared figures by repeat, by their names; empty without repeats. */
  @JsonProperty
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  private Map<String, Repeated> betweenRepeats() {
    Map<String, Repeated> all = new LinkedHashMap<>();
    for (Figure figure : repeats.isEmpty() ? List.<Figure>of() : Figure.compared()) {
      Spread spread = spread(figure::of);
      if (spread != null) {
        List<@Nullable Double> values = repeats.stream().map(figure::of).toList();
        all.put(figure.name(), new Repeated(values, spread.interval()));
      }
    }
    return all;
  }

  private record Repeated(List<@Nullable Double> values, Interval interval) {}

  /** The interval between repeats as a clause that follows others; empty without. */
  public String betweenRepeats(Metric metric) {
    Spread spread = spread(metric::number);
    return spread == null
        ? ""
        : "; repeats: " + NumberText.interval(spread.interval().low(), spread.interval().high());
  }

  public Distribution metric(Metric metric) {
    return metrics.getOrDefault(metric, Distribution.EMPTY);
  }

  public @Nullable Double number(Metric metric) {
    return metric.number(this);
  }

  public @Nullable Double requestsPerMin() {
    Double perS = number(Metric.REQUESTS_PER_S);
    return perS == null ? null : (Double) (perS * 60);
  }

  public boolean embeds() {
    return number(Metric.OUTPUT_TOKENS_PER_S) == null && number(Metric.INPUTS_PER_S) != null;
  }

  /** Throughput: output tokens per second, or inputs per second for embeddings. */
  public @Nullable Double delivered() {
    return number(embeds() ? Metric.INPUTS_PER_S : Metric.OUTPUT_TOKENS_PER_S);
  }

  public String deliveredUnit() {
    return embeds() ? "inputs/s" : "tok/s";
  }

  /**
   * Throughput of batch trials: Σ tokens of a trial ÷ its wall time; aggregate is Σ ÷ Σ over all
   * trials. Of several levels together {@code rows} is empty, as each numbers its trials from 1.
   */
  public record Trials(
      long count,
      double aggregateTokensPerS,
      double meanTokensPerS,
      double stdTokensPerS,
      double minTokensPerS,
      double maxTokensPerS,
      List<Trial> rows,
      long rowsLeftOut) {

    private static final int MAX_ROWS = 1_000;

    /** With rows only if all are of one level; null where no trial took any time. */
    public static @Nullable Trials of(List<Trial> all, boolean areOfOneLevel) {
      Moments rates = new Moments();
      double tokens = 0;
      double seconds = 0;
      for (Trial trial : all) {
        if (trial.wallS() != null && trial.outputTokensPerS() != null) {
          rates.add(trial.outputTokensPerS(), 1);
          tokens += trial.outputTokens();
          seconds += trial.wallS();
        }
      }
      List<Trial> rows = areOfOneLevel ? all.stream().limit(MAX_ROWS).toList() : List.of();
      return seconds == 0
          ? null
          : new Trials(
              rates.count(),
              tokens / seconds,
              rates.mean(),
              rates.std(),
              rates.min(),
              rates.max(),
              rows,
              all.size() - rows.size());
    }
  }

  /** One batch trial; {@code wallS} is null if last close − first schedule is 0. */
  public record Trial(
      int trial,
      long requests,
      long ok,
      long outputTokens,
      @Nullable Double wallS,
      @Nullable Double outputTokensPerS) {}

  /**
   * Goodput: requests that met all objectives, and their tokens.
   *
   * @param share met ÷ attempted, 0 to 1; null if nothing was attempted, or if more than 1 % of
   *     attempted and excluded requests were excluded
   * @param worth of how many independent requests {@code share} is as certain, ÷ z² of Wilson's
   *     interval, which is at times too wide to be shown as one of 95 %; null for too few requests,
   *     for several load levels together, and for a part of the requests of a level
   * @param excluded requests that were cut or never admitted, and could not be judged
   * @param holds whether a load level holds the SLO by its rule; null if undecided, and for other
   *     sets of requests
   * @param heldAfterS seconds from the first planned instant of a load level until it holds the SLO
   *     to its end; null for never, and for several levels
   */
  public record Goodput(
      String slo,
      @Nullable Double share,
      @JsonIgnore @Nullable Double worth,
      @Nullable Double requestsPerS,
      @Nullable Double tokensPerS,
      long attempted,
      long met,
      long excluded,
      @Nullable Boolean holds,
      @Nullable Double heldAfterS,
      @Nullable GoodputResult max,
      Map<String, Long> missed,
      List<ObjectiveCount> objectives) {

    /** A smaller design effect is within the error of its estimate. */
    private static final double MIN_EFFECT = 1.25;

    /** The interval of {@link #share}; of independent requests where {@link #worth} is null. */
    public @Nullable Interval interval() {
      return share == null ? null : Interval.ofShare(share, worthOfAll(), 1);
    }

    private double worthOfAll() {
      return worth == null ? Interval.independent(attempted) : worth;
    }

    private double worthOf(ObjectiveCount objective) {
      double independent = Interval.independent(attempted);
      double all = worth == null || worth * MIN_EFFECT > independent ? independent : worth;
      return all * objective.attempted() / attempted;
    }

    /** Requests like these that would show the share to be at least that; null for none. */
    public @Nullable Long toShow(double percent) {
      return Interval.toShow(share, attempted, worthOfAll(), percent);
    }

    public @Nullable Long toShow(ObjectiveCount of, double percent) {
      return Interval.toShow(of.share(), of.attempted(), worthOf(of), percent);
    }

    /** The same with intervals of independent requests. */
    public Goodput asIndependent() {
      return new Goodput(
          slo,
          share,
          null,
          requestsPerS,
          tokensPerS,
          attempted,
          met,
          excluded,
          holds,
          heldAfterS,
          max,
          missed,
          objectives);
    }

    /** The interval of the share that met an objective; null if the share is unknown. */
    public @Nullable Interval interval(String objective) {
      return objectives.stream()
          .filter(of -> of.objective().equals(objective) && of.share() != null)
          .map(of -> Interval.ofShare(of.share(), worthOf(of), 1))
          .findFirst()
          .orElse(null);
    }

    /** Why the share is absent; null if it is present, or if nothing was attempted. */
    public @Nullable String undefined() {
      return share != null ? null : cancelled(excluded, attempted);
    }

    private static @Nullable String cancelled(long excluded, long attempted) {
      return excluded == 0
          ? null
          : NumberText.count(excluded)
              + " of "
              + NumberText.count(attempted + excluded)
              + " requests were ended by the client before they could be judged";
    }
  }

  /** The result of one objective; {@code share} is null where that of the goodput would be. */
  public record ObjectiveCount(
      String objective, long attempted, long met, long excluded, @Nullable Double share) {

    public @Nullable String undefined() {
      return share != null ? null : Goodput.cancelled(excluded, attempted);
    }
  }

  public record GoodputResult(
      String stage,
      String target,
      @Nullable String scenario,
      @Nullable Double offered,
      @Nullable Double requestsPerS,
      @Nullable Double outputTokensPerS) {}

  /**
   * Planned and actual arrivals in measure windows of open loops.
   *
   * @param unit {@code users/s} where users arrive who may send several requests, else {@code
   *     requests/s}
   * @param plannedPerS arrivals of {@code arrivals.jsonl} in the window ÷ window; null without that
   *     file. For several windows the sum of their arrivals ÷ their total time, overlaps counted
   *     once. For Gatling's own injection the time from its first users to its last
   * @param plannedDispersion index of dispersion (variance ÷ mean of arrivals per second) of the
   *     plan; 1 for Poisson, 0 for constant; null for windows of fewer than 2 s
   */
  public record ArrivalFigures(
      long count,
      String unit,
      @Nullable Double plannedPerS,
      @Nullable Double realisedPerS,
      @Nullable Double plannedDispersion,
      @Nullable Double realisedDispersion,
      @Nullable Double lagP50Ms,
      @Nullable Double lagP99Ms,
      @Nullable Double lagMaxMs) {}

  public record ErrorCount(String verdict, String message, long count) {}

  /**
   * Failures of a target over the entire run.
   *
   * @param outages failing spans that count as outages: of a second or more, with three requests or
   *     more, and longer than expected by chance from that many failures
   * @param longestSpan the longest outage, without one the longest failing span; null if a
   *     successful request was in flight during every failed one
   */
  public record Failures(
      long ended,
      long failed,
      @Nullable Double meanTimeBetweenS,
      long outages,
      double awayS,
      @Nullable FailingSpan longestSpan) {}

  /** A time span in which requests failed and none succeeded, in seconds since the run's start. */
  public record FailingSpan(
      double fromS, double toS, long requests, long sent, @Nullable Double backAtS) {

    public double seconds() {
      return toS - fromS;
    }
  }

  /** Numbers of requests; {@code planned} is null where the plan cannot say. */
  public record Counts(
      @Nullable Long planned,
      long started,
      long ended,
      long ok,
      long cancelled,
      Map<String, Long> verdicts) {

    /** A level with a larger share of refused or failed requests does not serve its load. */
    private static final double MAX_SHED = 0.05;

    public static boolean sheds(long notOk, long ended) {
      return notOk > MAX_SHED * ended;
    }

    /** Whether more than 5 % of the requests that ended were refused or failed. */
    public boolean sheds() {
      return sheds(ended - ok, ended);
    }

    /** Requests that ended by themselves, were not ok, and were not rejected with status 429. */
    public long failed() {
      return ended - ok - rateLimited();
    }

    public long rateLimited() {
      return of(RequestStatus.RATE_LIMITED);
    }

    public long abandoned() {
      return of(RequestStatus.ABANDONED);
    }

    public long of(RequestStatus status) {
      return verdicts.getOrDefault(status.key(), 0L);
    }
  }

  /** Limits of the request rate, by the server (status 429) and by the client's settings. */
  public record RateLimits(
      long requests,
      @Nullable Double share,
      Distribution retryAfterS,
      Map<String, Quota> quotas,
      @Nullable Pacing pacing) {

    /** Lowest remaining amounts of the quotas, in words; empty if the server reports none. */
    public String remaining() {
      return quotas.entrySet().stream()
          .filter(quota -> quota.getValue().lowestRemaining() != null)
          .map(quota -> quota.getKey().replace('_', ' ') + " " + quota.getValue().remaining())
          .collect(Collectors.joining(", "));
    }
  }

  public record Quota(
      @Nullable Double limit, @Nullable Double lowestRemaining, @Nullable Double lowestShare) {

    /** Those that one answer reported, by name. */
    public static Map<String, Quota> of(Map<String, Double> limits) {
      if (limits.isEmpty()) {
        return Map.of();
      }
      Map<String, Quota> all = new LinkedHashMap<>();
      for (String key : limits.keySet()) {
        String name = key.replaceFirst("_(limit|remaining)$", "");
        if (!name.equals(key)) {
          Double limit = limits.get(name + "_limit");
          Double left = limits.get(name + "_remaining");
          boolean isShare = limit != null && left != null && limit > 0;
          all.put(name, new Quota(limit, left, isShare ? (Double) (left / limit) : null));
        }
      }
      return all;
    }

    /** Lowest remaining amount, e.g. {@code 0 of 60}. */
    String remaining() {
      return NumberText.number(lowestRemaining)
          + (limit == null ? "" : " of " + NumberText.number(limit));
    }
  }

  public record Pacing(
      long requests,
      long heldBack,
      long neverSent,
      @Nullable Double meanWaitS,
      @Nullable Double maxWaitS) {

    /** The effect, to follow the names of the settings. */
    public Sentence effect() {
      return Sentence.of("paced.effect", heldBack, requests, meanWaitS, maxWaitS, neverSent);
    }
  }

  /** The result of one check; the threshold is null if there is none. */
  public record Check(
      String id,
      CheckLevel level,
      @Nullable Double value,
      @Nullable Double threshold,
      List<Sentence> findings,
      String remedy) {

    @JsonProperty
    public String message() {
      return Sentence.text(findings);
    }
  }

  public enum CheckLevel implements RunInfo.Keyed {
    OK,
    NOTE,
    WARNING,
    INVALID
  }
}
