package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.figures.metric.Amount.WindowFact;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.TokenGaps;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The catalogue of metrics: name, unit, direction, formula, population and summary of each, in the
 * order of tables. Statistics, {@code summary.json}, tables, assertions, comparisons and {@code
 * docs/metrics.md} are generated from it. An entry is made by the method of its kind, which has
 * what those of a kind have in common.
 *
 * <p>N is the number of streamed output tokens. Time stamps (admitted, first token …) are defined
 * in {@code docs/metrics.md}.
 */
public enum Metric {
  TTFT_MS(timeToFirst("TTFT", "first token − admitted", r -> r.timing().ttftNanos()).compared()),
  TTFT_FROM_SCHEDULE_MS(
      timeToFirst(
              "TTFT from schedule",
              "first token − scheduled",
              r -> r.timing().ttftFromScheduleNanos())
          .compared()),
  TTFO_MS(
      timeToFirst(
              "TTFO",
              "first output token that is not reasoning − admitted",
              r -> r.timing().ttfoNanos())
          .compared()),
  TTFO_FROM_SCHEDULE_MS(
      timeToFirst(
          "TTFO from schedule",
          "first output token that is not reasoning − scheduled",
          r -> r.timing().ttfoFromScheduleNanos())),
  TTST_MS(
      time(
          "TTST",
          "time to second token: second token-bearing event − first",
          r -> r.events().secondEventNanos())),
  ITL_MS(gap("ITL", "gap ÷ tokens in the chunk that ended it, once per token").compared()),
  ICL_MS(gap("ICL", "gap between consecutive token-bearing events")),
  TPOT_MS(
      time(
              "TPOT",
              "(last token − first token) ÷ (N − k − t); k: tokens of the first event, estimated as"
                  + " N ÷ events if not reported; t: tokens counted after the last event",
              r -> r.timing().tpotNanos())
          .compared()),
  E2E_MS(time("E2E", "last token − admitted", r -> r.timing().latencyNanos()).compared()),
  E2E_FROM_SCHEDULE_MS(
      time(
              "E2E from schedule",
              "last token − scheduled",
              r -> r.timing().latencyFromScheduleNanos())
          .compared()),
  FAILED_E2E_MS(
      time(
          Kind.PER_FAILED_REQUEST,
          "E2E of failed requests",
          "closed − admitted",
          r -> r.timing().stayNanos())),
  E2E_PER_TOKEN_MS(
      time("E2E per token", "E2E ÷ N", r -> r.timing().latencyNanos())
          .of(r -> over(r.timing().latencyNanos(), r.tokens().n()))),
  QUEUE_WAIT_MS(
      time("Queue wait", "admitted − scheduled", r -> r.timing().queueWaitNanos()).compared()),
  CONNECT_MS(
      time("Connection wait", "written − admitted", r -> r.timing().connectNanos()).compared()),
  ROUND_TRIP_MS(
      time(
          "Network round trip",
          "TCP handshake of the request's connection; part of TTFT, never subtracted from it;"
              + " min is that of the network",
          r -> r.timing().roundTripNanos())),
  STALL_MS(
      time("Longest stall", "largest gap of a request", r -> r.events().longestGapNanos())
          .compared()),
  READER_STALL_MS(
      timeOfReader(
              "Reader stall",
              "total wait for late tokens of a reader at readingSpeed who starts with the first"
                  + " token; a start delayed by that time would never wait: max over tokens i of"
                  + " (tᵢ − t₁ − (i − 1) ÷ speed)",
              TokenGaps::stallNanos)
          .compared()),
  SESSION_MS(
      time(
          "Session",
          "end of the last answer − start of a replayed session",
          r -> SessionTurn.of(r, SessionTurn::nanos))),
  SESSION_TOOLS_MS(
      time(
          "Session waiting for tools",
          "part of a session in which none of its requests is in flight",
          r -> SessionTurn.of(r, SessionTurn::toolNanos))),
  SESSION_SERVER_MS(
      time(
          "Session waiting for the server",
          "part of a session in which one of its requests, or several, are in flight",
          r -> SessionTurn.of(r, SessionTurn::serverNanos))),
  PROMPT_TOKENS(length("Prompt tokens", "prompt tokens of a request", r -> r.tokens().prompt())),
  OUTPUT_TOKENS(
      length(
          "Output tokens",
          "output tokens of a request, reasoning included",
          r -> r.tokens().outputTokens())),

  USER_TOKENS_PER_S(
      speed("User tok/s", "N ÷ E2E").of(r -> perSecond(r.tokens().n(), r.timing().latencyNanos()))),
  DECODE_TOKENS_PER_S(
      speed("Decode tok/s", "1 ÷ TPOT").of(r -> perSecond(1, r.timing().tpotNanos()))),
  PREFILL_TOKENS_PER_S(
      speed("Prefill tok/s", "uncached prompt tokens ÷ TTFT, queueing included")
          .of(r -> perSecond(uncached(r.tokens()), r.timing().ttftNanos()))),

  JITTER(
      jitter("Jitter")
          .formula("pooled ITL p99 ÷ p50; 1 ideal, above 3 visible pauses")
          .key("jitter.itl_p99_over_p50")
          .by(
              s ->
                  ratio(
                      s.values(Metric.ITL_MS).percentile(99),
                      s.values(Metric.ITL_MS).percentile(50)))
          .compared()),
  JITTER_PER_REQUEST(
      jitter("Jitter of the median request")
          .formula("median over requests of ITL p99 ÷ ITL p50")
          .words("median jitter of requests")
          .key("jitter.per_request_p50")
          .by(Metric::medianJitter)),
  STALLS_PER_1K_TOKENS(
      jitter("Stalls")
          .formula("gaps over 100 ms per 1,000 output tokens")
          .words("stalls per 1000 tokens")
          .by(
              s ->
                  s.values(Metric.ITL_MS).isEmpty()
                      ? null
                      : (Double) (s.of(Amount.STALLS) * 1e3 / s.of(Amount.STREAMED_TOKENS)))),
  BATCH_RATIO(
      jitter("Batch ratio")
          .formula("output tokens ÷ events with tokens; above 1.2 interpret ITL with care")
          .words("tokens per event")
          .better(Better.NEITHER)
          .by(s -> ratio(s.of(Amount.STREAMED_TOKENS), s.of(Amount.EVENTS)))),

  SESSIONS_COMPLETED(
      single("Sessions completed", Unit.NUMBER, Better.NEITHER)
          .formula("replayed sessions whose last answer was scheduled in measure, all answers ok")
          .by(s -> ofSessions(s, Amount.SESSIONS_COMPLETED))),
  SESSIONS_FAILED(
      single("Sessions failed", Unit.NUMBER, Better.LOWER)
          .formula(
              "replayed sessions that a failed request scheduled in measure ended, other than by"
                  + " the context length")
          .by(s -> ofSessions(s, Amount.SESSIONS_FAILED))),
  SESSIONS_OUT_OF_CONTEXT(
      single("Sessions out of context", Unit.NUMBER, Better.LOWER)
          .formula("replayed sessions that ended where a prompt exceeded the context length")
          .by(s -> ofSessions(s, Amount.SESSIONS_OUT_OF_CONTEXT))),
  CACHED_PERCENT(
      single("From prefix cache", Unit.PERCENT, Better.NEITHER)
          .formula(
              "cached ÷ all prompt tokens of requests scheduled in measure, by usage; where it has"
                  + " none, by the engine's counters of the window")
          .words("percentage of prompt tokens from the prefix cache")
          .name("cached.percent")
          .key("throughput.cached_percent")
          .by(Metric::cachedPercent)),
  IDEAL_CACHED_PERCENT(
      single("From an ideal prefix cache", Unit.PERCENT, Better.NEITHER)
          .formula(
              "prompt tokens that a prefix cache without limit would have ÷ all prompt tokens of"
                  + " answered requests scheduled in measure: those of the longest beginning that"
                  + " an earlier prompt of the run, or one with its answer, had too, to the same"
                  + " target and model, in steps of 64 bytes, after 16 KiB of a text of 256")
          .words("percentage of prompt tokens that an ideal prefix cache would have")
          .name("cached.ideal_percent")
          .key("throughput.ideal_cached_percent")
          .by(Metric::idealCachedPercent)),
  CACHE_GAP_PERCENT(
      single("Prefix cache, ideal − server", Unit.PERCENT, Better.LOWER)
          .formula(
              "cached.ideal_percent − cached.percent, in percentage points; below 0 where the"
                  + " server's blocks are finer than those steps, or it has prompts from before"
                  + " the run")
          .words("percentage of prompt tokens that an ideal prefix cache would have in addition")
          .name("cached.gap_percent")
          .key("throughput.cache_gap_percent")
          .by(
              s -> {
                Double ideal = idealCachedPercent(s);
                Double cached = cachedPercent(s);
                return ideal == null || cached == null ? null : (Double) (ideal - cached);
              })),

  OUTPUT_TOKENS_PER_S(
      rate("Output", Unit.TOKENS_PER_S, Amount.TOKENS)
          .formula("tokens that arrived in the window ÷ window, hidden reasoning excluded")
          .words("mean output tokens per second")
          .by(s -> s.generatedPerS(s.of(Amount.TOKENS)))),
  BILLED_OUTPUT_TOKENS_PER_S(
      single("Billed output", Unit.TOKENS_PER_S, Better.HIGHER)
          .formula(
              "output tok/s plus reasoning that was billed but not streamed, counted at the"
                  + " request's first token or end")
          .words("mean billed output tokens per second")
          .by(
              s ->
                  s.of(Amount.BILLED) > 0
                      ? s.perS(s.of(Amount.TOKENS) + s.of(Amount.HIDDEN_TOKENS))
                      : null)),
  PEAK_OUTPUT_TOKENS_PER_S(
      single("Peak output", Unit.TOKENS_PER_S, Better.HIGHER)
          .formula("tokens of the best complete second in the window")
          .words("output tokens of the best second")
          .by(s -> s.generates() ? s.fact(WindowFact.PEAK_TOKENS_PER_S) : null)),
  OUTPUT_TOKENS_PER_S_PER_GPU(
      single("Output per GPU", Unit.TOKENS_PER_S, Better.HIGHER)
          .formula("output tok/s ÷ GPUs of the target (setting gpus)")
          .words("mean output tokens per second and GPU")
          .by(s -> s.generatedPerS(ratio(s.of(Amount.TOKENS), s.fact(WindowFact.GPUS))))),
  BATCHING_GAIN(
      single("Batching gain", Unit.NUMBER, Better.HIGHER)
          .formula(
              "output tok/s of a load level ÷ tok/s (N ÷ E2E) of the warm-up's last request, which"
                  + " is sent alone")
          .words("batching gain")
          .by(
              s ->
                  s.generatedPerS(
                      ratio(s.of(Amount.TOKENS), s.fact(WindowFact.TOKENS_PER_S_ALONE))))),
  POWER_W(
      single("Power of the GPUs", Unit.WATTS, Better.LOWER)
          .formula("energy used in the window, by the server's metrics ÷ window")
          .words("mean power of the GPUs")
          .efficiency(s -> ratio(s.fact(WindowFact.JOULES), s.windowS()))),
  OUTPUT_TOKENS_PER_JOULE(
      single("Output per joule", Unit.TOKENS_PER_J, Better.HIGHER)
          .formula("output tok/s ÷ power of the GPUs")
          .words("output tokens per joule")
          .efficiency(s -> ratio(s.of(Amount.TOKENS), s.fact(WindowFact.JOULES)))),
  COST_PER_MILLION_OUTPUT_TOKENS(
      single("Cost per million output tokens", Unit.NUMBER, Better.LOWER)
          .formula("gpus × costPerHour ÷ (output tok/s × 3,600) × 1,000,000")
          .compared(null, Amount.TOKENS)
          .efficiency(s -> ratio(s.cost(), s.of(Amount.TOKENS) / 1e6))),
  COST_PER_MILLION_SLO_TOKENS(
      single("Cost per million tokens in SLO", Unit.NUMBER, Better.LOWER)
          .formula("gpus × costPerHour ÷ (tok/s of requests in SLO × 3,600) × 1,000,000")
          .compared(null, Amount.TOKENS_IN_SLO)
          .efficiency(s -> ratio(s.cost(), s.of(Amount.TOKENS_IN_SLO) / 1e6))),
  INPUT_TOKENS_PER_S(
      single("Input", Unit.TOKENS_PER_S, Better.HIGHER)
          .formula("prompt tokens of requests whose first token arrived in the window ÷ window")
          .words("mean input tokens per second")
          .by(s -> hasPrompts(s) ? s.perS(s.of(Amount.PROMPT_TOKENS)) : null)),
  TOTAL_TOKENS_PER_S(
      single("Output and prompt", Unit.TOKENS_PER_S, Better.HIGHER)
          .formula("output tok/s + input tok/s")
          .words("mean total tokens per second")
          .by(
              s ->
                  hasPrompts(s)
                      ? s.generatedPerS(s.of(Amount.TOKENS) + s.of(Amount.PROMPT_TOKENS))
                      : null)),
  WALL_OUTPUT_TOKENS_PER_S(
      single("Output, wall clock", Unit.TOKENS_PER_S, Better.HIGHER)
          .formula("tokens that arrived ÷ (last close − first schedule)")
          .words("mean output tokens per second of wall time")
          .by(
              s ->
                  s.generates()
                      ? ratio(s.of(Amount.CLOSED_TOKENS), s.fact(WindowFact.WALL_S))
                      : null)),
  REQUESTS_PER_S(
      rate("Requests", Unit.REQUESTS_PER_S, Amount.COMPLETED)
          .formula("ok requests that ended in the window ÷ window")
          .words("mean requests per second")),

  INPUTS_PER_S(
      single("Inputs", Unit.INPUTS_PER_S, Better.HIGHER)
          .formula("texts or documents of ok requests that ended in the window ÷ window")
          .words("mean inputs per second")
          .by(s -> s.of(Amount.EMBEDDINGS) > 0 ? s.perS(s.of(Amount.INPUTS)) : null)),

  EFFECTIVE_CONCURRENCY(
      load("Effective concurrency")
          .formula("requests in flight, mean over the window")
          .words("mean requests in flight")
          .by(s -> s.perS(s.of(Amount.IN_FLIGHT_NANOS) / 1e9))),
  ACTIVE_CONCURRENCY(
      load("Active concurrency")
          .formula("requests between their first and last token, mean over the window")
          .words("mean requests that receive tokens")
          .by(s -> s.generatedPerS(s.of(Amount.RECEIVING_NANOS) / 1e9))),
  PEAK_IN_FLIGHT(
      load("Peak in flight")
          .formula("maximum of the requests in flight, sampled 100 times a second over the window")
          .words("maximum of the requests in flight")
          .by(s -> s.fact(WindowFact.PEAK_IN_FLIGHT))),
  COLD_START_S(
      single("Cold start", Unit.SECONDS, Better.LOWER)
          .formula(
              "first token of an answer − first planned instant of a load level, its fill and"
                  + " failed requests included; 0 below 1 s, and if no request whose prompt is as"
                  + " long (or half as long) has a tenth of that time as TTFT")
          .words("time to the first answer of a server that had to start")
          .name("cold_start")
          .by(s -> s.fact(WindowFact.COLD_START_S))),

  GOODPUT_REQUESTS_PER_S(
      rate("Goodput", Unit.REQUESTS_PER_S, Amount.COMPLETED_IN_SLO)
          .formula("requests that met every objective ÷ window")
          .words("mean requests in SLO per second")
          .in("")
          .from(f -> ifJudged(f, g -> g.requestsPerS()))),
  GOODPUT_TOKENS_PER_S(
      rate("Goodput", Unit.TOKENS_PER_S, Amount.TOKENS_IN_SLO)
          .formula("tokens of requests that met every objective ÷ window")
          .words("mean tokens in SLO per second")
          .in("")
          .from(f -> ifJudged(f, g -> g.tokensPerS()))),
  GOODPUT_PERCENT(
      new Entry(Kind.SHARE, "In SLO", Unit.PERCENT, Better.HIGHER)
          .formula("requests that met every objective ÷ attempted requests")
          .words("percentage of requests in SLO")
          .compared(Amount.MET, Amount.ATTEMPTED)
          .key("goodput.share")
          .from(f -> ifJudged(f, g -> g.share() == null ? null : percent(g.met(), g.attempted())))),
  GOODPUT_MAX_REQUESTS_PER_S(
      single("Max goodput", Unit.REQUESTS_PER_S, Better.HIGHER)
          .formula("goodput at the highest load level that holds the SLO")
          .words("mean requests per second of the highest level that holds the SLO")
          .key("goodput.max.requests_per_s")
          .from(f -> ifJudged(f, g -> g.max() == null ? null : g.max().requestsPerS()))),
  GOODPUT_HELD_AFTER_S(
      single("SLO held after", Unit.SECONDS, Better.LOWER)
          .formula(
              "first planned instant of a load level to the start of the first slice from which"
                  + " every slice holds the SLO, by planned instants; slices are 1, 2, 4 … s, at"
                  + " most 64 of a level, joined to those after them until one request that misses"
                  + " does not decide")
          .words("time until a load level holds the SLO")
          .name("goodput.held_after")
          .key("goodput.held_after_s")
          .from(f -> ifJudged(f, g -> g.heldAfterS()))),

  STARTED(requests("all requests", "scheduled in the measure window", c -> c.started())),
  ENDED(requests("ended requests", "started requests that ended by themselves", c -> c.ended())),
  OK(
      requests("successful requests", "complete, and every check passed", c -> c.ok())
          .outOf(c -> c.ended())),
  ERRORS(
      requests(
              "failed requests",
              "ended by themselves, not ok, and not rate limited",
              c -> c.failed())
          .outOf(c -> c.ended())
          .better(Better.LOWER)
          .key("errors")
          .compared(Amount.FAILED, Amount.ENDED)),
  COMPLETE(requests(RequestStatus.COMPLETE)),
  CHECK_FAILED(requests(RequestStatus.CHECK_FAILED)),
  TRUNCATED(requests(RequestStatus.TRUNCATED)),
  IN_STREAM_ERROR(requests(RequestStatus.IN_STREAM_ERROR)),
  HTTP_ERROR(requests(RequestStatus.HTTP_ERROR)),
  RATE_LIMITED(
      requests(RequestStatus.RATE_LIMITED)
          .formula(
              "status rate_limited (HTTP 429): not a failure; the SLO counts it as attempted and"
                  + " missed")
          .better(Better.LOWER)
          .compared(Amount.RATE_LIMITED, Amount.ENDED)),
  CONTEXT_EXCEEDED(requests(RequestStatus.CONTEXT_EXCEEDED)),
  TIMEOUT(requests(RequestStatus.TIMEOUT)),
  STALLED(requests(RequestStatus.STALLED)),
  CONNECTION_ERROR(requests(RequestStatus.CONNECTION_ERROR)),
  INVALID_RESPONSE(requests(RequestStatus.INVALID_RESPONSE)),
  CANCELLED(requests(RequestStatus.CANCELLED)),
  ABANDONED(requests(RequestStatus.ABANDONED)),
  EMPTY(requests(RequestStatus.EMPTY)),
  NOT_BUILT(requests(RequestStatus.NOT_BUILT)),
  INVALID_CHECKS(
      single("Invalid checks", Unit.NUMBER, Better.LOWER)
          .formula("checks that call the run invalid")
          .words("count of checks that call the run invalid")
          .name("invalid_checks.count")
          .key("checks"));

  public enum Unit {
    MILLIS("ms", ValueRecorder.MICROS),
    SECONDS("s", ValueRecorder.THOUSANDTHS),
    PERCENT("%", ValueRecorder.THOUSANDTHS),
    REQUESTS_PER_S("requests/s", ValueRecorder.THOUSANDTHS),
    INPUTS_PER_S("inputs/s", ValueRecorder.THOUSANDTHS),
    TOKENS_PER_S("tok/s", ValueRecorder.THOUSANDTHS),
    TOKENS("tokens", ValueRecorder.INTEGERS),
    WATTS("W", ValueRecorder.THOUSANDTHS),
    TOKENS_PER_J("tok/J", ValueRecorder.THOUSANDTHS),
    NUMBER("", ValueRecorder.THOUSANDTHS);

    private final String sign;
    private final double steps;

    Unit(String sign, double steps) {
      this.sign = sign;
      this.steps = steps;
    }

    public String sign() {
      return sign;
    }

    double steps() {
      return steps;
    }
  }

  public enum Better {
    LOWER,
    HIGHER,
    NEITHER
  }

  /** How the values of a set of requests are summarised, and which requests have one. */
  private enum Kind {
    PER_REQUEST("distribution, a value per request", "ok requests scheduled in measure"),
    /** The same for times to the first token, which a later timeout does not change. */
    FIRST_TOKEN(
        "distribution, a value per request",
        "requests scheduled in measure that were ok, or ended by requestTimeout"),
    PER_FAILED_REQUEST("distribution, a value per request", "failed requests scheduled in measure"),
    /** Many values per request, pooled; they are not independent. */
    POOLED("distribution of the gaps of all requests", "ok requests scheduled in measure"),
    /** A sum over the measure window ÷ its length. */
    RATE("Σ ÷ window", "events in the measure window, whenever their request was scheduled"),
    SHARE("share", "requests scheduled in measure"),
    REQUESTS("count, share", "requests scheduled in measure"),
    SINGLE("number", "as in its formula");

    private final String summarised;
    private final String population;

    Kind(String summarised, String population) {
      this.summarised = summarised;
      this.population = population;
    }
  }

  private static final double NANOS_PER_MS = 1e6;

  private static final List<Metric> DISTRIBUTIONS =
      Arrays.stream(values()).filter(Metric::isDistribution).toList();

  private static final List<Metric> OF_REQUESTS =
      DISTRIBUTIONS.stream()
          .filter(
              metric ->
                  metric.entry.kind == Kind.PER_REQUEST || metric.entry.kind == Kind.FIRST_TOKEN)
          .toList();

  @SuppressWarnings("ImmutableEnumChecker") // its functions have no state
  private final Entry entry;

  private final String name;
  private final String key;

  Metric(Entry entry) {
    this.entry = entry;
    String plain = name().toLowerCase(Locale.ROOT).replaceFirst("^goodput_", "goodput.");
    name = entry.name == null ? plain.replaceAll("_ms$", "") : entry.name;
    key = entry.key == null ? entry.section + plain : entry.key;
  }

  public static List<Metric> ofRequests() {
    return OF_REQUESTS;
  }

  public static List<Metric> distributions() {
    return DISTRIBUTIONS;
  }

  /** The name in assertions, settings and comparisons: {@code ttft}, {@code goodput.percent}. */
  public String figure() {
    return name;
  }

  /** The name in {@code summary.json}, unit at its end: {@code ttft_ms}. */
  public String key() {
    return key;
  }

  public String title() {
    return entry.title;
  }

  public String words() {
    String words = entry.words == null ? entry.title : entry.words;
    boolean abbreviation = !Character.isLowerCase(words.charAt(1));
    return abbreviation ? words : Character.toLowerCase(words.charAt(0)) + words.substring(1);
  }

  public String formula() {
    return entry.formula;
  }

  /** The variant from {@code scheduled} instead of {@code admitted}, else itself. */
  public Metric fromSchedule() {
    return switch (this) {
      case TTFT_MS -> TTFT_FROM_SCHEDULE_MS;
      case TTFO_MS -> TTFO_FROM_SCHEDULE_MS;
      case E2E_MS -> E2E_FROM_SCHEDULE_MS;
      default -> this;
    };
  }

  public Unit unit() {
    return entry.unit;
  }

  public Better better() {
    return entry.better;
  }

  String summarised() {
    return entry.kind.summarised;
  }

  String population() {
    return entry.kind.population;
  }

  public boolean isDistribution() {
    return switch (entry.kind) {
      case PER_REQUEST, FIRST_TOKEN, PER_FAILED_REQUEST, POOLED -> true;
      case RATE, SHARE, REQUESTS, SINGLE -> false;
    };
  }

  public boolean isTime() {
    return entry.unit == Unit.MILLIS;
  }

  public boolean isPooled() {
    return entry.kind == Kind.POOLED;
  }

  public boolean isCompared() {
    return entry.compared;
  }

  /** Whether a rate or a share is compared, as {@link #part} ÷ {@link #whole}. */
  public boolean isRatio() {
    return entry.part != null || entry.total != null;
  }

  /** Of a compared rate or share, of costs what they are inverse to; null for the window. */
  public @Nullable Amount part() {
    return entry.part;
  }

  public @Nullable Amount whole() {
    return entry.total;
  }

  /**
   * Its value for a request and its reader's tokens/s; NaN if it has none or several, and for a
   * request that is not of its population.
   */
  public double of(RequestRecord record, double readingSpeed) {
    return entry.perRecord == null || !covers(record.outcome())
        ? Double.NaN
        : entry.perRecord.of(record, readingSpeed);
  }

  private boolean covers(RequestRecord.RequestOutcome outcome) {
    return switch (entry.kind) {
      case FIRST_TOKEN -> outcome.hasFirstToken();
      case PER_FAILED_REQUEST -> outcome.hasFailed();
      default -> outcome.ok();
    };
  }

  public ValueRecorder recorder() {
    return new ValueRecorder(entry.unit.steps(), entry.better == Better.HIGHER);
  }

  /** The single numbers of some requests; those about cost and energy only where one is known. */
  public static Map<Metric, @Nullable Double> numbers(Amount.Sums sums) {
    Map<Metric, @Nullable Double> all = new EnumMap<>(Metric.class);
    for (Metric metric : values()) {
      if (metric.entry.ofSums != null && (!metric.entry.isEfficiency || sums.hasEfficiency())) {
        all.put(metric, metric.entry.ofSums.apply(sums));
      }
    }
    return all;
  }

  private static @Nullable Double medianJitter(Amount.Sums sums) {
    return sums.values(JITTER_PER_REQUEST).percentile(50);
  }

  private static boolean hasPrompts(Amount.Sums sums) {
    return sums.of(Amount.PROMPTS) > 0;
  }

  private static @Nullable Double cachedPercent(Amount.Sums sums) {
    Double share = Amount.ratio(sums.of(Amount.CACHED_TOKENS), sums.of(Amount.LOOKED_UP_TOKENS));
    share = share == null ? sums.fact(WindowFact.CACHED_BY_ENGINE) : share;
    return share == null ? null : (Double) (100 * share);
  }

  private static @Nullable Double ofSessions(Amount.Sums sums, Amount amount) {
    return sums.of(Amount.SESSION_REQUESTS) == 0 ? null : (Double) sums.of(amount);
  }

  private static @Nullable Double idealCachedPercent(Amount.Sums sums) {
    Double share =
        Amount.ratio(sums.of(Amount.IDEAL_CACHED_TOKENS), sums.of(Amount.COMPARED_TOKENS));
    return share == null ? null : (Double) (100 * share);
  }

  private static @Nullable Double ratio(@Nullable Double part, @Nullable Double total) {
    return total == null ? null : Amount.ratio(part, total);
  }

  public @Nullable Double number(Figures figures) {
    return entry.value == null ? figures.numbers().get(this) : entry.value.apply(figures);
  }

  @Nullable ToLongFunction<Figures.Counts> count() {
    return entry.count;
  }

  @Nullable ToLongFunction<Figures.Counts> total() {
    return entry.all;
  }

  /** What an entry of the catalogue states. */
  private static final class Entry {

    private final Kind kind;
    private final String title;
    private final Unit unit;
    private Better better;
    private String formula = "";
    private String section = "";
    private @Nullable String name;
    private @Nullable String key;
    private @Nullable String words;
    private boolean compared;
    private @Nullable Amount part;
    private @Nullable Amount total;
    private @Nullable PerRecord perRecord;
    private @Nullable Function<Amount.Sums, @Nullable Double> ofSums;
    private boolean isEfficiency;
    private @Nullable Function<Figures, @Nullable Double> value;
    private @Nullable ToLongFunction<Counts> count;
    private @Nullable ToLongFunction<Counts> all;

    private Entry(Kind kind, String title, Unit unit, Better better) {
      this.kind = kind;
      this.title = title;
      this.unit = unit;
      this.better = better;
    }

    Entry formula(String formula) {
      this.formula = formula;
      return this;
    }

    /** The name within a sentence, if it differs from the title. */
    Entry words(String words) {
      this.words = words;
      return this;
    }

    /** The name in assertions, if it is not that of the entry in lower case. */
    Entry name(String name) {
      this.name = name;
      return this;
    }

    /** The section of {@code summary.json}, with a dot at its end; the key in it is the name. */
    Entry in(String section) {
      this.section = section;
      return this;
    }

    /** The key in {@code summary.json}, if it is not that of the entry in its section. */
    Entry key(String key) {
      this.key = key;
      return this;
    }

    Entry better(Better better) {
      this.better = better;
      return this;
    }

    /** The value for a request, in the metric's unit; null if the request has none. */
    Entry of(Function<RequestRecord, @Nullable Number> value) {
      this.perRecord = (record, readingSpeed) -> orNaN(value.apply(record));
      return this;
    }

    /** The number of a set of requests, from their sums. */
    Entry by(Function<Amount.Sums, @Nullable Double> sums) {
      ofSums = sums;
      return this;
    }

    /** The same for cost and energy, left out where neither is known. */
    Entry efficiency(Function<Amount.Sums, @Nullable Double> sums) {
      isEfficiency = true;
      return in("efficiency.").by(sums);
    }

    /** The number for a set of requests, if it is not in {@link Figures#numbers}. */
    Entry from(Function<Figures, @Nullable Double> value) {
      this.value = value;
      ofSums = null;
      return this;
    }

    Entry outOf(ToLongFunction<Counts> all) {
      this.all = all;
      return this;
    }

    Entry compared() {
      compared = true;
      return this;
    }

    /** Includes it in comparisons of runs, as part ÷ total; null is the length of the window. */
    Entry compared(@Nullable Amount part, @Nullable Amount total) {
      this.part = part;
      this.total = total;
      return compared();
    }
  }

  /** The value for a request and its reader's tokens/s; NaN if it has none. */
  private interface PerRecord {
    double of(RequestRecord record, double readingSpeed);
  }

  private static Entry time(
      Kind kind, String title, String formula, Function<RequestRecord, @Nullable Number> nanos) {
    Entry entry = new Entry(kind, title, Unit.MILLIS, Better.LOWER).formula(formula);
    entry.perRecord = (record, readingSpeed) -> orNaN(nanos.apply(record)) / NANOS_PER_MS;
    return entry;
  }

  /** A time of one request in milliseconds, from nanoseconds; lower is better. */
  private static Entry time(
      String title, String formula, Function<RequestRecord, @Nullable Number> nanos) {
    return time(Kind.PER_REQUEST, title, formula, nanos);
  }

  private static Entry timeToFirst(
      String title, String formula, Function<RequestRecord, @Nullable Number> nanos) {
    return time(Kind.FIRST_TOKEN, title, formula, nanos);
  }

  /** A time of one request that depends on the reading speed (tokens per second). */
  private static Entry timeOfReader(
      String title, String formula, BiFunction<RequestRecord, Double, @Nullable Long> nanos) {
    Entry entry = time(title, formula, record -> null);
    entry.perRecord =
        (record, readingSpeed) -> orNaN(nanos.apply(record, readingSpeed)) / NANOS_PER_MS;
    return entry;
  }

  /** Times between the tokens or events of a stream in milliseconds, pooled; lower is better. */
  private static Entry gap(String title, String formula) {
    return new Entry(Kind.POOLED, title, Unit.MILLIS, Better.LOWER).formula(formula);
  }

  private static Entry length(
      String title, String formula, Function<RequestRecord, @Nullable Number> tokens) {
    return new Entry(Kind.PER_REQUEST, title, Unit.TOKENS, Better.NEITHER)
        .formula(formula)
        .of(tokens);
  }

  private static Entry speed(String title, String formula) {
    return new Entry(Kind.PER_REQUEST, title, Unit.TOKENS_PER_S, Better.HIGHER)
        .formula(formula)
        .words(title.replace("tok/s", "tokens per second"));
  }

  private static Entry rate(String title, Unit unit, Amount amount) {
    return new Entry(Kind.RATE, title, unit, Better.HIGHER)
        .in("throughput.")
        .compared(amount, null)
        .by(sums -> sums.perS(sums.of(amount)));
  }

  private static Entry single(String title, Unit unit, Better better) {
    return new Entry(Kind.SINGLE, title, unit, better).in("throughput.");
  }

  private static Entry load(String title) {
    return single(title, Unit.NUMBER, Better.NEITHER);
  }

  private static Entry jitter(String title) {
    return single(title, Unit.NUMBER, Better.LOWER).in("jitter.");
  }

  private static Entry requests(String title, String formula, ToLongFunction<Counts> count) {
    Entry entry = new Entry(Kind.REQUESTS, title, Unit.NUMBER, Better.NEITHER);
    entry.count = count;
    return entry.in("counts.").formula(formula);
  }

  private static Entry requests(RequestStatus status) {
    String key = status.key();
    return requests(
            key.replace('_', ' ') + " requests", "status " + key, counts -> counts.of(status))
        .in("counts.verdicts.")
        .outOf(status.isCut() ? Counts::started : Counts::ended);
  }

  private static double orNaN(@Nullable Number value) {
    return value == null ? Double.NaN : value.doubleValue();
  }

  /** Milliseconds per token; null if either value is missing or not positive. */
  private static @Nullable Double over(@Nullable Long nanos, @Nullable Integer tokens) {
    return nanos == null || nanos <= 0 || tokens == null || tokens <= 0
        ? null
        : (Double) (nanos / NANOS_PER_MS / tokens);
  }

  /** Tokens per second; null if either value is missing or not positive. */
  private static @Nullable Double perSecond(@Nullable Integer tokens, @Nullable Number nanos) {
    return tokens == null || tokens <= 0 || nanos == null || !(nanos.doubleValue() > 0)
        ? null
        : (Double) (tokens * 1e9 / nanos.doubleValue());
  }

  /** Prompt tokens that were not in the server's cache, as far as it reports them. */
  private static @Nullable Integer uncached(RequestRecord.Tokens tokens) {
    Integer prompt = tokens.prompt();
    Integer cached = tokens.cachedTokens();
    return prompt == null ? null : (Integer) (prompt - (cached == null ? 0 : cached));
  }

  private static @Nullable Double ifJudged(
      Figures figures, Function<Figures.Goodput, @Nullable Double> value) {
    Figures.Goodput goodput = figures.goodput();
    return goodput == null ? null : value.apply(goodput);
  }

  /** A percentage from counts, because 100 × 0.29 is 28.999999999999996. */
  static @Nullable Double percent(long part, long total) {
    return total == 0 ? null : (Double) (part * 100.0 / total);
  }
}
