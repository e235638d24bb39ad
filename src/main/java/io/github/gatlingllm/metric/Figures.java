package io.github.gatlingllm.metric;

import io.github.gatlingllm.metric.Distribution.Interval;
import io.github.gatlingllm.record.RequestStatus;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one set of requests: a whole run, a stage, a target or a request name.
 *
 * <p>Latency distributions take ok requests scheduled in a measure window; requests/s takes ok
 * requests that ended in one; output tok/s takes the tokens of all requests that arrived in one.
 *
 * @param metrics a distribution per metric that has one, every such metric present
 * @param numbers the metrics that are one number each: rates, loads, jitter; null for what is not
 *     known. What the tokens took of energy and money is among them where anything of it is known:
 *     not of a part of the requests of a load level, nor of levels that share their server with
 *     others at the same time
 * @param windowS length of the measure windows together, seconds; windows that overlap count once
 * @param trials null outside batch mode
 * @param goodput null when there is no SLO
 * @param reader what somebody who reads answers as they come has to wait
 * @param errors requests scheduled in a measure window that are not ok, by cause, most frequent
 *     first
 * @param finishReasons ok requests scheduled in a measure window by finish reason; key {@code none}
 *     where the server gave none
 * @param counts requests scheduled in a measure window
 * @param server timings that the server reported with ok requests scheduled in a measure window, by
 *     key of {@code ServerReport.Timing}: times in seconds, counts in tokens
 * @param rateLimits null where nothing limited the rate, and the server says nothing of limits
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

  /** A metric that is one number; null where there is none. */
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

  /** What was delivered: output tokens per second, or inputs per second of embeddings. */
  public @Nullable Double delivered() {
    return number(embeds() ? Metric.INPUTS_PER_S : Metric.OUTPUT_TOKENS_PER_S);
  }

  /** The unit of {@link #delivered}. */
  public String deliveredUnit() {
    return embeds() ? "inputs/s" : "tok/s";
  }

  /**
   * Batch mode: Σ tokens of a trial ÷ its wall time.
   *
   * @param count how many trials
   * @param aggregateTokensPerS Σ tokens of all trials ÷ Σ of their wall times
   * @param stdTokensPerS standard deviation over the trials
   * @param rows the first trials of a stage, one by one; empty where several stages are pooled, as
   *     each counts its trials from 1
   * @param rowsLeftOut trials without a row here
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
   * @param ok of those, how many were complete and passed their checks
   * @param outputTokens of all its requests, failed ones included
   * @param wallS last close − first schedule, seconds; null where nothing took time
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
   * What the system delivered within the SLO: requests that met all objectives at once, and theirs.
   *
   * @param slo the objectives, and the clock of those that it matters for
   * @param share met ÷ attempted, 0 to 1; null where nothing was attempted, and where the excluded
   *     are more than 1 % of both
   * @param shareCi95 its 95 % confidence interval, for requests that resemble the one before; null
   *     for too few, and where several load levels or a part of the requests of one are looked at
   * @param requestsPerS requests that met every objective and ended in the window ÷ window
   * @param tokensPerS tokens of requests that met every objective, arrived in the window ÷ window
   * @param attempted requests scheduled in measure, failed ones included, without the excluded
   * @param met of those, how many met every objective
   * @param excluded cancelled or never admitted before it could be told
   * @param holds whether a load level holds the SLO by its rule; null where that cannot be told,
   *     and for what is no load level
   * @param max the highest load that holds the SLO; null where none does or loads are not known
   * @param missed how many requests missed each objective; {@code failed} counts requests that were
   *     not ok
   * @param objectives how each objective was met by itself
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
     * One objective.
     *
     * @param objective as in settings, behind the target and the request name that it is for where
     *     they have their own
     * @param attempted requests to which it applies, failed ones included
     * @param met of those, how many met it
     * @param excluded cancelled before it could be told
     * @param share met ÷ attempted; null where the excluded are more than 1 % of both
     */
    public record Objective(
        String objective, long attempted, long met, long excluded, @Nullable Double share) {

      /** Why there is no share; null where there is one, or nothing was attempted. */
      public @Nullable String undefined() {
        return share != null ? null : cancelled(excluded, attempted);
      }
    }

    /** Why there is no share; null where there is one, or nothing was attempted. */
    public @Nullable String undefined() {
      return share != null ? null : cancelled(excluded, attempted);
    }

    private static @Nullable String cancelled(long excluded, long attempted) {
      return excluded == 0
          ? null
          : NumberText.count(excluded)
              + " of "
              + NumberText.count(attempted + excluded)
              + " requests were cancelled before it could be told";
    }
  }

  /**
   * The highest offered load that holds the SLO by its rule.
   *
   * @param stage its label
   * @param target its target
   * @param scenario its scenario; null where scenarios are not told apart
   * @param offered its offered load, in the stage's unit
   */
  public record MaxGoodput(
      String stage,
      String target,
      @Nullable String scenario,
      @Nullable Double offered,
      @Nullable Double requestsPerS,
      @Nullable Double outputTokensPerS) {}

  /**
   * What readers of streamed ok answers have to wait; how long is in {@link
   * Metric#READER_STALL_MS}.
   *
   * @param tokensPerS how fast they read
   * @param requests how many answers
   * @param stalled of those, how many have a token that comes later than its reader wants it
   * @param stalledShare stalled ÷ requests, 0 to 1; null without requests
   */
  public record Reader(
      double tokensPerS, long requests, long stalled, @Nullable Double stalledShare) {}

  /**
   * Planned against realised arrivals in measure windows of open loops.
   *
   * @param count how many arrivals were planned; where no plan says, how many were sent
   * @param plannedPerS arrivals that the plan has in the window ÷ window; null where none says. Of
   *     several windows all that they have, ÷ the time that they take: what overlaps counts once.
   *     Of Gatling's own injection the time from its first users to its last
   * @param realisedPerS real starts in the window ÷ the same
   * @param plannedDispersion index of dispersion (variance ÷ mean of arrivals per second) of the
   *     plan; 1 for Poisson, 0 for constant; null for windows of fewer than 2 s
   * @param realisedDispersion the same of real starts
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
   * Requests that ended the same wrong way.
   *
   * @param verdict key of the verdict, e.g. {@code http_error}
   * @param message the error, constant per cause
   */
  public record ErrorCount(String verdict, String message, long count) {}

  /**
   * How a target failed over the whole run.
   *
   * @param ended requests of all phases that ended by themselves
   * @param failed of those, how many the server did not answer well; limited ones (429) are none
   * @param meanTimeBetweenS from the first request to the last, ÷ failed; null where none failed
   * @param outages failing spans in which it was away: of a second or more, in three requests or
   *     more, and longer than so many failures would make by chance
   * @param awayS how long they were together
   * @param longestSpan of the outages the longest, else of all failing spans; null where requests
   *     that succeed were under way beside every failed one
   */
  public record Failures(
      long ended,
      long failed,
      @Nullable Double meanTimeBetweenS,
      long outages,
      double awayS,
      @Nullable FailingSpan longestSpan) {}

  /**
   * A time in which requests failed while none that succeeds was under way.
   *
   * @param fromS in seconds since the start of the run
   * @param toS likewise, the end of the last failing request, or of the time
   * @param requests how many failing requests were under way in it
   * @param sent of those, how many were sent in it
   * @param backAtS when the next request was sent that succeeded; null where none did
   */
  public record FailingSpan(
      double fromS, double toS, long requests, long sent, @Nullable Double backAtS) {

    /** How long it was. */
    public double seconds() {
      return toS - fromS;
    }
  }

  /**
   * How many requests.
   *
   * @param planned what the load plan asked for; null where the plan does not say, and where its
   *     users send several requests each
   * @param started scheduled in a measure window and started
   * @param ended of those, how many ended by themselves, well or badly
   * @param ok of those, how many were complete and passed their checks
   * @param cancelled started, and ended by us
   * @param verdicts started, by key of the verdict; those that occurred
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

    /** Ended by themselves, not ok, and not turned away by a rate limit. */
    public long failed() {
      return ended - ok - rateLimited();
    }

    /** Turned away by a rate limit of the server: status 429. */
    public long rateLimited() {
      return of(RequestStatus.RATE_LIMITED);
    }

    /** How many had that verdict. */
    public long of(RequestStatus verdict) {
      return verdicts.getOrDefault(verdict.key(), 0L);
    }
  }

  /**
   * What limited the rate of requests: the server by status 429, and we so that it need not.
   * Requests scheduled in a measure window.
   *
   * @param requests that the server did not serve for that reason
   * @param share of the requests that ended, 0 to 1; null where none ended
   * @param retryAfterS how long it asked to wait, in seconds; nobody waits for it
   * @param quotas what is left of each quota that the server names, e.g. {@code requests}
   * @param pacing null where no limit was set
   */
  public record RateLimits(
      long requests,
      @Nullable Double share,
      Distribution retryAfterS,
      Map<String, Quota> quotas,
      @Nullable Pacing pacing) {

    /**
     * What was left of the quotas when least was, in words; empty where the server does not say.
     */
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
   * @param limit as the server said it last; null where it does not
   * @param lowestRemaining what was left when least was; null where it does not say
   * @param lowestShare lowest remaining ÷ limit of the same answer, 0 to 1; null where it does not
   *     say both
   */
  public record Quota(
      @Nullable Double limit, @Nullable Double lowestRemaining, @Nullable Double lowestShare) {

    /** What was left when least was, e.g. {@code 0 of 60}. */
    public String left() {
      return NumberText.number(lowestRemaining)
          + (limit == null ? "" : " of " + NumberText.number(limit));
    }
  }

  /**
   * What {@code maxRequestsPerMinute} and {@code maxTokensPerMinute} did.
   *
   * @param requests that had to pass them
   * @param heldBack of those, how many had to wait
   * @param neverSent of those, how many were over before it was their turn
   * @param meanWaitS of those held back; null where none was
   * @param maxWaitS the same
   */
  public record Pacing(
      long requests,
      long heldBack,
      long neverSent,
      @Nullable Double meanWaitS,
      @Nullable Double maxWaitS) {

    /** What they did, after their name. */
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
