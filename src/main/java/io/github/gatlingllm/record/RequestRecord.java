package io.github.gatlingllm.record;

import io.github.gatlingllm.record.LevelInfo.Phase;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A measured LLM request: identity, times, token counts and outcome. It is a line of {@code
 * llm/requests.jsonl}.
 *
 * <p>The catalogue {@link RecordField} has the key of each component, {@code docs/records.md} the
 * meaning. An unknown value is {@code null} (or an empty array), never 0. Immutable by convention:
 * the arrays are not copied and must not be modified.
 */
public record RequestRecord(
    Identity identity,
    RequestRecord.Timing timing,
    Events events,
    Tokens tokens,
    RequestOutcome outcome,
    ServerReport server,
    @Nullable CheckedAnswer checked,
    @Nullable RecordedText text) {

  /** Maximum number of tokens of a prompt or an answer; larger than the context of any model. */
  public static final int MAX_TOKENS = 1 << 24;

  public static final int MAX_CHOICES = 1_024;

  /**
   * The same record with the token counts of our own tokenizer.
   *
   * @param sentBefore share of the prompt that an earlier request began with; null if not known
   */
  public RequestRecord withLocalCounts(
      @Nullable Integer prompt, @Nullable Integer output, @Nullable Double sentBefore) {
    Integer all = tokens.promptTokens == null ? prompt : tokens.promptTokens;
    Tokens counted = // not by name: for each request
        new Tokens(
            tokens.promptChars,
            tokens.promptTokens,
            prompt,
            tokens.cachedTokens,
            sentBefore == null || all == null ? null : (Integer) (int) Math.round(sentBefore * all),
            tokens.maxTokens,
            tokens.outputTokens,
            output,
            tokens.reasoningTokens,
            tokens.streamedTokens,
            tokens.estimated,
            tokens.source,
            tokens.refused,
            tokens.inputs);
    return new RequestRecord(identity, timing, events, counted, outcome, server, checked, text);
  }

  /** Whether the answer came as one body: its end has a time, and no token has one. */
  public boolean isOneBody() {
    return timing.latencyNanos != null && timing.ttftNanos == null;
  }

  /** Whether TPOT assumes an even share of N per event, for want of the first one's tokens. */
  boolean isTpotEstimated() {
    return timing.tpotNanos != null
        && events.firstEventTokens == null
        && TokenGaps.share(events.count, tokens.streamedTokens) > 1;
  }

  public RequestRecord in(Phase phase) {
    return Components.with(this, "identity", Components.with(identity, "phase", phase));
  }

  /** The same as a request of the setting {@code answers}, at the load level with that label. */
  public RequestRecord checked(String stage, CheckedAnswer compared) {
    Identity beside = Components.with(identity, "phase", Phase.CHECK, "stage", stage);
    return Components.with(this, "identity", beside, "checked", compared);
  }

  /** Which request it is, its sender and its target. */
  public record Identity(
      String requestId,
      String runId,
      String injector,
      @Nullable Integer trial,
      long requestIndex,
      String scenario,
      String name,
      List<String> groups,
      long userId,
      @Nullable Integer turn,
      @Nullable SessionTurn session,
      String target,
      String endpoint,
      @Nullable String model,
      String api,
      boolean streamed,
      boolean hasTools,
      String stage,
      Phase phase,
      @Nullable String traceId) {}

  /** Times in nanoseconds of one monotonic clock; one anchor per run converts them. */
  public record Timing(
      long startUnixNanos,
      @Nullable Long scheduledOffsetNanos,
      long startLagNanos,
      @Nullable Long gateWaitNanos,
      @Nullable Long connectNanos,
      @Nullable Long headersNanos,
      @Nullable Long firstEventNanos,
      @Nullable Long ttftNanos,
      @Nullable Long ttfoNanos,
      @Nullable Long latencyNanos,
      @Nullable Long closedNanos,
      @Nullable Double tpotNanos,
      @Nullable Long pacingWaitNanos,
      @Nullable Long roundTripNanos) {

    /** admitted − scheduled = start lag + gate wait; null when never admitted. */
    public @Nullable Long queueWaitNanos() {
      return gateWaitNanos == null ? null : startLagNanos + gateWaitNanos;
    }

    public @Nullable Long ttftFromScheduleNanos() {
      return fromSchedule(ttftNanos);
    }

    public @Nullable Long ttfoFromScheduleNanos() {
      return fromSchedule(ttfoNanos);
    }

    public @Nullable Long latencyFromScheduleNanos() {
      return fromSchedule(latencyNanos);
    }

    /** closed − admitted; null when never admitted. */
    public @Nullable Long stayNanos() {
      return gateWaitNanos == null ? null : closedNanos;
    }

    /** Epoch time of the planned arrival. */
    public long scheduledUnixNanos() {
      return startUnixNanos - startLagNanos;
    }

    public @Nullable Long admittedUnixNanos() {
      return gateWaitNanos == null ? null : startUnixNanos + gateWaitNanos;
    }

    public @Nullable Long closedUnixNanos() {
      Long admitted = admittedUnixNanos();
      return admitted == null || closedNanos == null ? null : (Long) (admitted + closedNanos);
    }

    private @Nullable Long fromSchedule(@Nullable Long sinceAdmitted) {
      Long queueWait = queueWaitNanos();
      return sinceAdmitted == null || queueWait == null ? null : (Long) (sinceAdmitted + queueWait);
    }
  }

  /**
   * The token-bearing events, in order; arrays are empty where values are not known or recorded.
   */
  @SuppressWarnings("ArrayRecordComponent") // primitive arrays: 20 million gaps must fit
  public record Events(
      int[] offsetsMicros,
      int[] tokens,
      int[] choices,
      int count,
      int coalesced,
      int late,
      boolean done,
      @Nullable Long longestGapNanos,
      @Nullable Integer firstEventTokens,
      int tail,
      List<String> unknownFields) {

    /** From the first event to the next of its choice, in nanoseconds; null if unknown. */
    public @Nullable Long secondEventNanos() {
      boolean oneChoice = choices.length != offsetsMicros.length;
      for (int i = 1; i < offsetsMicros.length; i++) {
        if (oneChoice || choices[i] == choices[0]) {
          return (offsetsMicros[i] - offsetsMicros[0]) * 1_000L;
        }
      }
      return null;
    }
  }

  /** Sizes of prompt and answer, in tokens but for {@code promptChars}. */
  public record Tokens(
      @Nullable Integer promptChars,
      @Nullable Integer promptTokens,
      @Nullable Integer promptTokensLocal,
      @Nullable Integer cachedTokens,
      @Nullable Integer idealCachedTokens,
      @Nullable Integer maxTokens,
      @Nullable Integer outputTokens,
      @Nullable Integer outputTokensLocal,
      @Nullable Integer reasoningTokens,
      @Nullable Integer streamedTokens,
      boolean estimated,
      @Nullable TokenSource source,
      List<String> refused,
      @Nullable Integer inputs) {

    public static final Tokens NONE =
        new Tokens(
            null, null, null, null, null, null, null, null, null, null, false, null, List.of(),
            null);

    /** N of the metrics: received output tokens, without reasoning that was only billed. */
    public @Nullable Integer n() {
      return streamedTokens != null ? streamedTokens : outputTokens;
    }

    /** Reasoning tokens that were billed and not received; 0 if not known. */
    public int hidden() {
      Integer received = n();
      return outputTokens == null || received == null ? 0 : Math.max(0, outputTokens - received);
    }

    /** Tokens of the prompt, by the server, otherwise by our tokenizer. */
    public @Nullable Integer prompt() {
      return promptTokens != null ? promptTokens : promptTokensLocal;
    }
  }

  /** How the request ended; only {@code COMPLETE} is {@code ok}. */
  public record RequestOutcome(
      @Nullable String finishReason,
      @Nullable Integer httpStatus,
      RequestStatus status,
      boolean ok,
      @Nullable String error,
      @Nullable Boolean sloOk,
      List<String> sloMissed,
      boolean resent,
      boolean leftOpen) {

    /** Whether its TTFT counts: it was ok, or only {@code requestTimeout} ended it. */
    public boolean hasFirstToken() {
      return ok || status == RequestStatus.TIMEOUT;
    }

    /** Whether the request failed. A rate limit is not a fault of the server. */
    public boolean hasFailed() {
      return hasFailedOrWasLimited() && status != RequestStatus.RATE_LIMITED;
    }

    /** Whether the request failed or a rate limit rejected it: a session ends with either. */
    public boolean hasFailedOrWasLimited() {
      return !ok && !status.isCut();
    }
  }

  /**
   * An answer of the setting {@code answers}, compared with the first one to the same prompt.
   *
   * @param prompt its number, from 1
   * @param same whether it is the first answer; null where there are not two answers
   * @param differsAt number of characters before the first that differs; null where none does
   * @param right whether it is as expected; null where nothing is
   */
  public record CheckedAnswer(
      AnswerPass pass,
      int prompt,
      @Nullable Boolean same,
      @Nullable Integer differsAt,
      @Nullable AnswerFault fault,
      @Nullable Boolean right) {}

  /** When the prompts of the setting {@code answers} are sent. */
  public enum AnswerPass implements RunInfo.Keyed {
    /** Before the load: what later answers are compared with. */
    FIRST,
    /** Before the load, once more. */
    AGAIN,
    /** Beside a load level. */
    LOAD,
    /** After the load. */
    AFTER
  }

  public enum AnswerFault implements RunInfo.Keyed {
    /** The first answer was JSON or a valid tool call, and this one is not. */
    INVALID,
    /** The server refused or filtered it. */
    REFUSED,
    /** Neither text nor tool call. */
    EMPTY
  }

  /** Texts, recorded only with {@code recordText}; {@code messages} or {@code prompt} is null. */
  public record RecordedText(
      @Nullable String messages,
      @Nullable String prompt,
      @Nullable String answer,
      @Nullable String reasoning) {}

  /** The source of a token count, most reliable first. */
  public enum TokenSource implements RunInfo.Keyed {
    /** The server's usage. */
    USAGE,
    /** A tokenizer over the generated text. */
    TOKENIZER,
    /** One token per token-bearing event. */
    CHUNKS
  }

  /**
   * Timings and quotas that a server reports with an answer.
   *
   * @param timings by the key of {@link TimingKey}, in seconds; counts in tokens
   * @param names the server's names of the timings, e.g. {@code usage.queue_time}, in any order
   * @param rateLimits quotas: their limits, what remains of them, and when they are reset
   * @param retryAfterNanos the wait that the server requests; null if it does not
   * @param answerId the server's own id of the answer
   */
  public record ServerReport(
      Map<String, Double> timings,
      List<String> names,
      Map<String, Double> rateLimits,
      @Nullable Long retryAfterNanos,
      @Nullable String replica,
      @Nullable String answerId) {

    /** An answer without such a report. */
    public static final ServerReport NONE =
        new ServerReport(Map.of(), List.of(), Map.of(), null, null, null);

    /** Longer times are ignored. */
    static final double MAX_S = 86_400;

    /** That timing, in seconds; null if it is not reported. */
    public @Nullable Double timing(TimingKey timing) {
      return timings.get(timing.key());
    }

    /** That time in nanoseconds, at most a day; 0 if it is not reported or not positive. */
    public long nanos(TimingKey timing) {
      Double seconds = timing(timing);
      return seconds == null || !(seconds > 0) ? 0 : Math.round(Math.min(seconds, MAX_S) * 1e9);
    }
  }

  /**
   * The timings that servers are known to report: key, title, and the names that servers give them,
   * a path in the body or a response header. {@code usage} is of Groq, also under {@code x_groq} of
   * a stream; {@code timings} of llama.cpp; {@code metrics} of vLLM with {@code
   * --enable-per-request-metrics}, whose first token counts from the end of its queue; {@code x-…}
   * of Text Generation Inference and LoRAX, where an answer is not streamed, and of gateways made
   * of Envoy.
   */
  @SuppressWarnings("ImmutableEnumChecker") // its list is a copy
  public enum TimingKey {
    QUEUE("queue_s", "queue", "usage.queue_time", "metrics.queue_time_ms", "x-queue-time"),
    /** From the end of the queue to the first token. */
    PREFILL(
        "prefill_s",
        "prefill",
        "usage.prompt_time",
        "timings.prompt_ms",
        "metrics.time_to_first_token_ms"),
    /** From the first token to the last. */
    DECODE(
        "decode_s",
        "decode",
        "usage.completion_time",
        "timings.predicted_ms",
        "metrics.generation_time_ms"),
    /** Prefill and decode. */
    INFERENCE("inference_s", "inference", "x-inference-time"),
    /** Checking and tokenizing the prompt. */
    VALIDATION("validation_s", "validation", "x-validation-time"),
    TIME_PER_TOKEN(
        "time_per_token_s",
        "time per token",
        "timings.predicted_per_token_ms",
        "metrics.mean_itl_ms",
        "x-time-per-token"),
    TOTAL("total_s", "total", "usage.total_time", "x-total-time"),
    /** Until the API began to answer. */
    PROCESSING("processing_s", "processing", "openai-processing-ms"),
    /** Until the server behind the gateway had answered with headers. */
    UPSTREAM("upstream_s", "behind the gateway", "x-envoy-upstream-service-time"),
    PROMPT_N("prompt_n", "prompt tokens processed", "timings.prompt_n"),
    CACHE_N("cache_n", "prompt tokens in the cache", "timings.cache_n"),
    PREDICTED_N("predicted_n", "answer tokens", "timings.predicted_n");

    /** Prefix of the names in the header {@code Server-Timing}. */
    public static final String SERVER_TIMING = "server-timing.";

    private static final Map<String, TimingKey> BY_NAME = new HashMap<>();

    static {
      for (TimingKey timing : values()) {
        timing.names.forEach(name -> BY_NAME.put(name, timing));
      }
    }

    private final String key;
    private final String title;
    private final List<String> names;

    TimingKey(String key, String title, String... names) {
      this.key = key;
      this.title = title;
      this.names = List.of(names);
    }

    /** Its key in a record, e.g. {@code queue_s}. */
    public String key() {
      return key;
    }

    /** The names in an object of the body, by their last part. */
    public static Map<String, String> namesIn(String object) {
      return BY_NAME.keySet().stream()
          .filter(name -> name.startsWith(object + "."))
          .collect(
              Collectors.toUnmodifiableMap(name -> name.substring(object.length() + 1), n -> n));
    }

    /** Whether the response header of that name, in lower case, has a timing. */
    public static boolean isHeader(String name) {
      return BY_NAME.containsKey(name) && name.indexOf('.') < 0;
    }

    /** The key of one of {@link ServerReport#names}; an unknown name is converted to a key. */
    public static String keyOf(String name) {
      TimingKey known = BY_NAME.get(name);
      return known != null
          ? known.key
          : name.replace(SERVER_TIMING, "").toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_")
              + "_s";
    }

    /** A reported value in seconds, or in tokens; NaN if impossible. */
    public static double value(String name, double reported) {
      boolean isTime = isTime(keyOf(name));
      double perUnit = isTime && !name.startsWith("usage.") ? 1_000 : 1;
      double value = Math.rint(reported * 1e9 / perUnit) / 1e9;
      return value >= 0 && value <= (isTime ? ServerReport.MAX_S : RequestRecord.MAX_TOKENS)
          ? value
          : Double.NaN;
    }

    /** The title of a key; for an unknown one the key without its unit. */
    public static String title(String key) {
      return Arrays.stream(values())
          .filter(timing -> timing.key.equals(key))
          .map(timing -> timing.title)
          .findFirst()
          .orElse(key.replaceAll("_s$", ""));
    }

    /** Whether the value of a key is a time; otherwise it is a number of tokens. */
    public static boolean isTime(String key) {
      return key.endsWith("_s");
    }
  }

  /**
   * The conversation or replayed session of a request.
   *
   * @param nanos time of the entire session; only in the request that ended last, if all were ok
   * @param toolNanos the part of it in which no request was in flight
   * @param gapNanos planned wait of a replay before the request, from the last answer before it
   * @param lateNanos by how much the request was sent after that wait
   * @param isEnd whether the session ended with it: all were ok, or it was the first that was not
   */
  public record SessionTurn(
      String id,
      @Nullable Long nanos,
      @Nullable Long toolNanos,
      @Nullable Long gapNanos,
      @Nullable Long lateNanos,
      boolean isEnd) {

    /** The conversation of a request that is not replayed. */
    public static SessionTurn ofConversation(long number) {
      return new SessionTurn("c" + number, null, null, null, null, false);
    }

    /** The part of the session in which a request, or several, were in flight. */
    public @Nullable Long serverNanos() {
      return nanos == null || toolNanos == null ? null : (Long) (nanos - toolNanos);
    }

    /** A value of the session of a request; null for a request of none. */
    public static <T> @Nullable T of(
        RequestRecord record, Function<SessionTurn, @Nullable T> value) {
      SessionTurn session = record.identity().session();
      return session == null ? null : value.apply(session);
    }
  }
}
