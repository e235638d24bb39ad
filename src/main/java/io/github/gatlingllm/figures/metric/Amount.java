package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestStatus;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The sums over requests and tokens that rates and shares are made of. A row states when a request
 * adds to the sum, which decides in which window it counts, and how much.
 */
public enum Amount {
  ARRIVED(CountedWhen.SCHEDULED, r -> 1),
  STARTED(CountedWhen.START, r -> 1),
  /** Requests that ended by themselves. */
  ENDED(CountedWhen.OUTCOME, r -> r.outcome().status().isCut() ? 0 : 1),
  OK(CountedWhen.OUTCOME, r -> r.outcome().ok() ? 1 : 0),
  FAILED(CountedWhen.OUTCOME, r -> r.outcome().hasFailed() ? 1 : 0),
  /** Requests that the server rejected with status 429. */
  RATE_LIMITED(
      CountedWhen.OUTCOME, r -> r.outcome().status() == RequestStatus.RATE_LIMITED ? 1 : 0),
  ABANDONED(CountedWhen.OUTCOME, r -> r.outcome().status() == RequestStatus.ABANDONED ? 1 : 0),
  ATTEMPTED(CountedWhen.REQUEST, (r, met, stalls) -> met == null ? 0 : 1),
  MET(CountedWhen.REQUEST, (r, met, stalls) -> Boolean.TRUE.equals(met) ? 1 : 0),
  COMPLETED(CountedWhen.END, r -> r.outcome().ok() ? 1 : 0),
  /** Requests that met the SLO. */
  COMPLETED_IN_SLO(CountedWhen.END, (r, met, stalls) -> isInSlo(r, met) ? 1 : 0),
  TOKENS(CountedWhen.TOKEN, r -> 1),
  TOKENS_IN_SLO(CountedWhen.TOKEN, (r, met, stalls) -> isInSlo(r, met) ? 1 : 0),
  PROMPTS(CountedWhen.ANSWER, r -> answeredPrompt(r) == null ? 0 : 1),
  PROMPT_TOKENS(CountedWhen.ANSWER, r -> orZero(answeredPrompt(r))),
  /** Requests whose prompt tokens are known, whether or not they were answered. */
  KNOWN_PROMPTS(CountedWhen.REQUEST, r -> r.tokens().prompt() == null ? 0 : 1),
  KNOWN_PROMPT_TOKENS(CountedWhen.REQUEST, r -> orZero(r.tokens().prompt())),
  /** Prompt tokens of requests whose usage has cached tokens. */
  LOOKED_UP_TOKENS(CountedWhen.REQUEST, r -> isLookedUp(r) ? orZero(r.tokens().prompt()) : 0),
  CACHED_TOKENS(CountedWhen.REQUEST, r -> isLookedUp(r) ? orZero(r.tokens().cachedTokens()) : 0),
  SESSION_REQUESTS(CountedWhen.REQUEST, r -> isReplayed(r) ? 1 : 0),
  SESSIONS_COMPLETED(CountedWhen.REQUEST, r -> endsSession(r) && r.outcome().ok() ? 1 : 0),
  SESSIONS_OUT_OF_CONTEXT(CountedWhen.REQUEST, r -> endsSession(r) && exceedsContext(r) ? 1 : 0),
  SESSIONS_FAILED(
      CountedWhen.REQUEST,
      r -> endsSession(r) && r.outcome().hasFailedOrWasLimited() && !exceedsContext(r) ? 1 : 0),
  /** Prompt tokens of answered requests of which it is known how many were sent before. */
  COMPARED_TOKENS(
      CountedWhen.REQUEST, r -> isComparedWithSent(r) ? orZero(r.tokens().prompt()) : 0),
  IDEAL_CACHED_TOKENS(
      CountedWhen.REQUEST, r -> isComparedWithSent(r) ? orZero(r.tokens().idealCachedTokens()) : 0),
  EMBEDDINGS(CountedWhen.END, r -> r.tokens().inputs() == null ? 0 : 1),
  /** Vectors of embeddings; a failed request has none. */
  INPUTS(CountedWhen.END, r -> r.outcome().ok() ? orZero(r.tokens().inputs()) : 0),
  BILLED(CountedWhen.ANSWER, r -> isBilled(r) ? 1 : 0),
  /** Tokens that were billed and not sent; they count at the first token that was sent. */
  HIDDEN_TOKENS(CountedWhen.ANSWER, r -> isBilled(r) ? r.tokens().hidden() : 0),
  CLOSED(CountedWhen.END, r -> 1),
  STAY_NANOS(CountedWhen.END, r -> orZero(r.timing().stayNanos())),
  IN_FLIGHT_NANOS(CountedWhen.IN_FLIGHT, r -> 1),
  RECEIVING_NANOS(CountedWhen.RECEIVING, r -> 1),
  /** Tokens of closed requests, wherever they arrived. */
  CLOSED_TOKENS(CountedWhen.REQUEST, r -> isClosed(r) ? orZero(r.tokens().n()) : 0),
  STREAMED_TOKENS(CountedWhen.REQUEST, r -> isStream(r) ? streamedTokens(r) : 0),
  EVENTS(CountedWhen.REQUEST, r -> isStream(r) ? r.events().count() : 0),
  /** Requests that waited for a limit of the client. */
  HELD_BACK(CountedWhen.REQUEST, r -> orZero(r.timing().pacingWaitNanos()) > 0 ? 1 : 0),
  /** Gaps of more than 100 ms. */
  STALLS(CountedWhen.REQUEST, (r, met, stalls) -> r.outcome().ok() ? stalls : 0);

  /** The instant, or the time, at which a request adds to a sum. */
  public enum CountedWhen {
    /** Its planned instant, whatever its phase. */
    SCHEDULED,
    /** Its start; in the figures of a load level once, if it was scheduled in measure. */
    START,
    /** Its end; in the figures of a load level once, if it was scheduled in measure. */
    OUTCOME,
    /** Once, if it was scheduled in measure. */
    REQUEST,
    /** The arrival of each token. */
    TOKEN,
    /** Its first token; without tokens the end of its answer, or of the request. */
    ANSWER,
    /** Its end, whatever its phase. */
    END,
    /** Each nanosecond from admission to end. */
    IN_FLIGHT,
    /** Each nanosecond from the first token to the last. */
    RECEIVING
  }

  /** What numbers need besides sums: what is known of the windows. */
  public enum WindowFact {
    /** Length of the measure windows in seconds; time in which they overlap counts once. */
    WINDOW_S,
    /** Time from the first planned instant to the last end in seconds, overlaps once. */
    WALL_S,
    PEAK_TOKENS_PER_S,
    PEAK_IN_FLIGHT,
    GPUS,
    COST_PER_HOUR,
    /** Energy of the GPUs, of these requests alone. */
    JOULES,
    /** Tokens per second of a request that was sent alone. */
    TOKENS_PER_S_ALONE,
    /** Share of prompt tokens from the prefix cache, by the engine's own counters. */
    CACHED_BY_ENGINE,
    /** Of one load level, from its first planned instant to its first answer; 0 for no start. */
    COLD_START_S,
    /** Of one load level, from its first planned instant on; null for never. */
    SLO_HELD_AFTER_S
  }

  /** The sums of a set of requests, and what is known of its measure windows. */
  public interface Sums {
    double of(Amount amount);

    ValueRecorder values(Metric metric);

    /** Null where it is not known. */
    @Nullable Double fact(WindowFact fact);

    /** Whether cost and energy of the target belong to these requests alone. */
    boolean isEntireTarget();

    /** False for embeddings, which generate no tokens: their token figures are absent, not 0. */
    default boolean generates() {
      return of(EMBEDDINGS) == 0 || of(TOKENS) > 0;
    }

    default double windowS() {
      return orZero(fact(WindowFact.WINDOW_S));
    }

    default @Nullable Double perS(double amount) {
      return ratio(amount, windowS());
    }

    /** Null where the amount is not known, or nothing is generated. */
    default @Nullable Double generatedPerS(@Nullable Double tokens) {
      return tokens != null && generates() ? perS(tokens) : null;
    }

    /** Cost of the GPUs in the windows. */
    default @Nullable Double cost() {
      Double perHour = fact(WindowFact.COST_PER_HOUR);
      return perHour == null ? null : (Double) (perHour * windowS() / 3_600);
    }

    /** Whether energy or cost is known, for these requests alone. */
    default boolean hasEfficiency() {
      return isEntireTarget()
          && windowS() != 0
          && (fact(WindowFact.JOULES) != null || fact(WindowFact.COST_PER_HOUR) != null);
    }
  }

  private final CountedWhen when;

  @SuppressWarnings("ImmutableEnumChecker") // its functions have no state
  private final OfRequest ofRequest;

  private interface OfRequest {
    double of(RequestRecord record, @Nullable Boolean met, int stalls);
  }

  Amount(CountedWhen when, ToDoubleFunction<RequestRecord> ofRecord) {
    this(when, (record, met, stalls) -> ofRecord.applyAsDouble(record));
  }

  Amount(CountedWhen when, OfRequest ofRequest) {
    this.when = when;
    this.ofRequest = ofRequest;
  }

  public CountedWhen when() {
    return when;
  }

  /**
   * What a request adds: once, per token or per nanosecond.
   *
   * @param met whether it met every objective; null if it was not judged
   * @param stalls its gaps of more than 100 ms
   */
  public double of(RequestRecord request, @Nullable Boolean met, int stalls) {
    return ofRequest.of(request, met, stalls);
  }

  private static boolean isInSlo(RequestRecord request, @Nullable Boolean met) {
    return request.outcome().ok() && Boolean.TRUE.equals(met);
  }

  private static boolean isClosed(RequestRecord request) {
    return request.timing().closedUnixNanos() != null;
  }

  private static boolean isStream(RequestRecord request) {
    return request.outcome().ok() && !request.isOneBody();
  }

  private static double streamedTokens(RequestRecord request) {
    Integer n = request.tokens().n();
    return n == null ? request.events().count() : n;
  }

  private static @Nullable Integer answeredPrompt(RequestRecord request) {
    RequestRecord.Timing timing = request.timing();
    return timing.ttftNanos() == null && timing.latencyNanos() == null
        ? null
        : request.tokens().prompt();
  }

  private static boolean isLookedUp(RequestRecord request) {
    return request.tokens().prompt() != null && request.tokens().cachedTokens() != null;
  }

  private static boolean isReplayed(RequestRecord request) {
    return SessionTurn.of(request, SessionTurn::gapNanos) != null;
  }

  private static boolean exceedsContext(RequestRecord request) {
    return request.outcome().status() == RequestStatus.CONTEXT_EXCEEDED;
  }

  private static boolean endsSession(RequestRecord request) {
    return Boolean.TRUE.equals(SessionTurn.of(request, SessionTurn::isEnd));
  }

  private static boolean isComparedWithSent(RequestRecord request) {
    return answeredPrompt(request) != null && request.tokens().idealCachedTokens() != null;
  }

  private static boolean isBilled(RequestRecord request) {
    return isClosed(request) && request.tokens().source() == RequestRecord.TokenSource.USAGE;
  }

  /** Null where the part is not known or the total is 0. */
  static @Nullable Double ratio(@Nullable Double part, double total) {
    return part == null || total == 0 ? null : (Double) (part / total);
  }

  private static double orZero(@Nullable Number value) {
    return value == null ? 0 : value.doubleValue();
  }
}
