package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.record.RequestStatus;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one set of requests: a whole run, a load level, a target or a request name.
 *
 * <p>Latency distributions are of ok requests scheduled in a measure window, requests/s of ok
 * requests that ended in one, output tok/s of the tokens of all requests that arrived in one.
 *
 * @param metrics a distribution for each metric that has one; none is missing
 * @param numbers the metrics that are a single number, such as rates and concurrency; null if not
 *     known. Energy and cost are absent for a part of the requests of a load level, and for levels
 *     that share their server with others at the same time
 * @param windowS total length of the measure windows in seconds; overlapping windows count once
 * @param trials null outside batch mode
 * @param goodput null without SLO
 * @param reader stalls of a reader of streamed answers
 * @param errors requests scheduled in a measure window that are not ok, by cause, most frequent
 *     first
 * @param finishReasons ok requests scheduled in a measure window by finish reason; key {@code none}
 *     if the server reported none
 * @param counts requests scheduled in a measure window
 * @param server timings that the server reported for ok requests scheduled in a measure window, by
 *     key of {@code ServerReport.Timing}: times in seconds, counts in tokens
 * @param rateLimits null if no limit applied and the server reports none
 */
public record Figures(
    Map<Metric, Distribution> metrics,
    Map<Metric, @Nullable Double> numbers,
    @Nullable Double windowS,
    @Nullable Trials trials,
    @Nullable Goodput goodput,
    Reader reader,
    List<ErrorCount> errors,
    Map<String, Long> finishReasons,
    Counts counts,
    Map<String, Distribution> server,
    @Nullable RateLimits rateLimits) {

  public Figures {
    metrics = Collections.unmodifiableMap(new EnumMap<>(metrics));
    numbers = Collections.unmodifiableMap(numbers);
    errors = List.copyOf(errors);
  }

  /** The distribution of a metric; empty, never null. */
  public Distribution metric(Metric metric) {
    return metrics.getOrDefault(metric, Distribution.EMPTY);
  }

  /** The value of a metric that is a single number; null if not known. */
  public @Nullable Double number(Metric metric) {
    return metric.number(this);
  }

  /** Ok requests that ended in the window, per minute. */
  public @Nullable Double requestsPerMin() {
    Double perS = number(Metric.REQUESTS_PER_S);
    return perS == null ? null : (Double) (perS * 60);
  }

  /** Population standard deviation of pooled ITL. */
  public @Nullable Double itlStdMs() {
    return metric(Metric.ITL_MS).std();
  }

  /** Whether texts were embedded and nothing was generated. */
  public boolean embeds() {
    return number(Metric.OUTPUT_TOKENS_PER_S) == null && number(Metric.INPUTS_PER_S) != null;
  }

  /** Throughput: output tokens per second, or inputs per second for embeddings. */
  public @Nullable Double delivered() {
    return number(embeds() ? Metric.INPUTS_PER_S : Metric.OUTPUT_TOKENS_PER_S);
  }

  /** The unit of {@link #delivered}. */
  public String deliveredUnit() {
    return embeds() ? "inputs/s" : "tok/s";
  }

  /**
   * Throughput of batch trials: Σ tokens of a trial ÷ its wall time.
   *
   * @param count number of trials
   * @param aggregateTokensPerS Σ tokens of all trials ÷ Σ of their wall times
   * @param stdTokensPerS standard deviation over the trials
   * @param rows the first trials of a load level; empty for several levels together, as each
   *     numbers its trials from 1
   * @param rowsLeftOut number of trials without a row
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

    public Trials {
      rows = List.copyOf(rows);
    }
  }

  /**
   * One batch trial.
   *
   * @param trial its number, from 1
   * @param requests scheduled in it
   * @param ok number of those that were complete and passed their checks
   * @param outputTokens of all its requests, failed ones included
   * @param wallS last close − first schedule, seconds; null if 0
   * @param outputTokensPerS output tokens ÷ wall time
   */
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
   * @param slo the objectives, with their clock
   * @param share met ÷ attempted, 0 to 1; null if nothing was attempted, or if more than 1 % of
   *     attempted and excluded requests were excluded
   * @param shareCi95 its 95 % confidence interval, adjusted for autocorrelated requests; null for
   *     too few requests, for several load levels together, and for a part of the requests of a
   *     level
   * @param requestsPerS requests that met every objective and ended in the window ÷ window
   * @param tokensPerS tokens of requests that met every objective that arrived in the window ÷
   *     window
   * @param attempted requests scheduled in measure, failed ones included, excluded ones not
   * @param met number of those that met every objective
   * @param excluded requests that were cancelled or never admitted, and could not be judged
   * @param holds whether a load level holds the SLO by its rule; null if undecided, and for other
   *     sets of requests
   * @param max the highest load that holds the SLO; null if none does or loads are not known
   * @param missed number of requests that missed each objective; key {@code failed} for requests
   *     that were not ok
   * @param objectives results of the single objectives
   */
  public record Goodput(
      String slo,
      @Nullable Double share,
      @Nullable Interval shareCi95,
      @Nullable Double requestsPerS,
      @Nullable Double tokensPerS,
      long attempted,
      long met,
      long excluded,
      @Nullable Boolean holds,
      @Nullable MaxGoodput max,
      Map<String, Long> missed,
      List<Objective> objectives) {

    public Goodput {
      objectives = List.copyOf(objectives);
    }

    /**
     * The result of one objective.
     *
     * @param objective as in settings, preceded by target and request name if they have objectives
     *     of their own
     * @param attempted requests to which it applies, failed ones included
     * @param met number of those that met it
     * @param excluded requests that were cancelled and could not be judged
     * @param share met ÷ attempted; null if more than 1 % of attempted and excluded requests were
     *     excluded
     */
    public record Objective(
        String objective, long attempted, long met, long excluded, @Nullable Double share) {

      /** Why the share is absent; null if it is present, or if nothing was attempted. */
      public @Nullable String undefined() {
        return share != null ? null : cancelled(excluded, attempted);
      }
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
              + " requests were cancelled before they could be judged";
    }
  }

  /**
   * The highest offered load that holds the SLO by its rule.
   *
   * @param stage label of the load level
   * @param target of the level
   * @param scenario of the level; null if scenarios are not separated
   * @param offered load of the level, in its unit
   */
  public record MaxGoodput(
      String stage,
      String target,
      @Nullable String scenario,
      @Nullable Double offered,
      @Nullable Double requestsPerS,
      @Nullable Double outputTokensPerS) {}

  /**
   * Stalls of readers of streamed ok answers; their lengths are in {@link Metric#READER_STALL_MS}.
   *
   * @param tokensPerS reading speed
   * @param requests number of answers
   * @param stalled number of those with a token that arrived later than its reader needed it
   * @param stalledShare stalled ÷ requests, 0 to 1; null without requests
   */
  public record Reader(
      double tokensPerS, long requests, long stalled, @Nullable Double stalledShare) {}

  /**
   * Planned and actual arrivals in measure windows of open loops.
   *
   * @param count number of planned arrivals; without a plan, of sent requests
   * @param plannedPerS planned arrivals in the window ÷ window; null without a plan. For several
   *     windows the sum of their arrivals ÷ their total time, overlaps counted once. For Gatling's
   *     own injection the time from its first users to its last
   * @param realisedPerS actual starts in the window ÷ the same time
   * @param plannedDispersion index of dispersion (variance ÷ mean of arrivals per second) of the
   *     plan; 1 for Poisson, 0 for constant; null for windows of fewer than 2 s
   * @param realisedDispersion the same of actual starts
   * @param lagP50Ms start − scheduled, median
   */
  public record ArrivalFigures(
      long count,
      @Nullable Double plannedPerS,
      @Nullable Double realisedPerS,
      @Nullable Double plannedDispersion,
      @Nullable Double realisedDispersion,
      @Nullable Double lagP50Ms,
      @Nullable Double lagP99Ms,
      @Nullable Double lagMaxMs) {}

  /**
   * Requests that failed with the same error.
   *
   * @param verdict key of the status, e.g. {@code http_error}
   * @param message the error, constant per cause
   */
  public record ErrorCount(String verdict, String message, long count) {}

  /**
   * Failures of a target over the whole run.
   *
   * @param ended requests of all phases that ended by themselves
   * @param failed number of those that failed at the server, rate-limited ones (429) excluded
   * @param meanTimeBetweenS time from the first request to the last ÷ failed; null if none failed
   * @param outages failing spans that count as outages: of a second or more, with three requests or
   *     more, and longer than expected by chance from that many failures
   * @param awayS total length of the outages
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

  /**
   * A time span in which requests failed and no successful request was in flight.
   *
   * @param fromS start in seconds since the start of the run
   * @param toS end in seconds since the start of the run: the end of the last failing request, or
   *     of the observed time
   * @param requests failing requests in flight in it
   * @param sent number of those that were sent in it
   * @param backAtS when the next successful request was sent; null if none was
   */
  public record FailingSpan(
      double fromS, double toS, long requests, long sent, @Nullable Double backAtS) {

    /** How long it was. */
    public double seconds() {
      return toS - fromS;
    }
  }

  /**
   * Numbers of requests.
   *
   * @param planned number in the load plan; null if the plan has none, or if its users send several
   *     requests each
   * @param started scheduled in a measure window and started
   * @param ended number of those that ended by themselves, successfully or not
   * @param ok number of those that were complete and passed their checks
   * @param cancelled started requests that the client ended
   * @param verdicts started requests by key of their status; only those that occurred
   */
  public record Counts(
      @Nullable Long planned,
      long started,
      long ended,
      long ok,
      long cancelled,
      Map<String, Long> verdicts) {

    public Counts {
      verdicts = Collections.unmodifiableMap(new LinkedHashMap<>(verdicts));
    }

    /** Requests that ended by themselves, were not ok, and were not rejected with status 429. */
    public long failed() {
      return ended - ok - rateLimited();
    }

    /** Requests that the server rejected with status 429. */
    public long rateLimited() {
      return of(RequestStatus.RATE_LIMITED);
    }

    public long of(RequestStatus status) {
      return verdicts.getOrDefault(status.key(), 0L);
    }
  }

  /**
   * Limits of the request rate, by the server (status 429) and by the client's settings, for
   * requests scheduled in a measure window.
   *
   * @param requests that the server rejected with status 429
   * @param share of the requests that ended, 0 to 1; null if none ended
   * @param retryAfterS wait that the server requested, in seconds; users do not wait for it
   * @param quotas the server's quotas by name, e.g. {@code requests}
   * @param pacing null without a limit in the settings
   */
  public record RateLimits(
      long requests,
      @Nullable Double share,
      Distribution retryAfterS,
      Map<String, Quota> quotas,
      @Nullable Pacing pacing) {

    /** Lowest remaining amounts of the quotas, in words; empty if the server reports none. */
    public String left() {
      return quotas.entrySet().stream()
          .filter(quota -> quota.getValue().lowestRemaining() != null)
          .map(quota -> quota.getKey().replace('_', ' ') + " " + quota.getValue().left())
          .collect(Collectors.joining(", "));
    }
  }

  /**
   * A quota of the server.
   *
   * @param limit last reported limit; null if not reported
   * @param lowestRemaining lowest reported remaining amount; null if not reported
   * @param lowestShare lowest ratio of remaining amount and limit of one answer, 0 to 1; null if
   *     not both are reported
   */
  public record Quota(
      @Nullable Double limit, @Nullable Double lowestRemaining, @Nullable Double lowestShare) {

    /** Lowest remaining amount, e.g. {@code 0 of 60}. */
    String left() {
      return NumberText.number(lowestRemaining)
          + (limit == null ? "" : " of " + NumberText.number(limit));
    }
  }

  /**
   * Effect of {@code maxRequestsPerMinute} and {@code maxTokensPerMinute}.
   *
   * @param requests subject to the limits
   * @param heldBack number of those that had to wait
   * @param neverSent number of those that ended while they waited
   * @param meanWaitS mean wait of those held back; null if none was
   * @param maxWaitS longest wait of those held back; null if none was
   */
  public record Pacing(
      long requests,
      long heldBack,
      long neverSent,
      @Nullable Double meanWaitS,
      @Nullable Double maxWaitS) {

    /** The effect in words, to follow the names of the settings. */
    public String words() {
      return heldBack == 0
          ? "held no request back"
          : "held back %s of %s requests, %s s on average and at most %s s%s"
              .formatted(
                  NumberText.count(heldBack),
                  NumberText.count(requests),
                  NumberText.number(meanWaitS),
                  NumberText.number(maxWaitS),
                  neverSent == 0
                      ? ""
                      : " (" + NumberText.count(neverSent) + " of them were never sent)");
    }
  }
}
