package io.github.gatlingllm.record;

import static io.github.gatlingllm.record.FieldType.FLAG;
import static io.github.gatlingllm.record.FieldType.INTEGER;
import static io.github.gatlingllm.record.FieldType.INTEGERS;
import static io.github.gatlingllm.record.FieldType.JSON;
import static io.github.gatlingllm.record.FieldType.LONG;
import static io.github.gatlingllm.record.FieldType.NUMBERS;
import static io.github.gatlingllm.record.FieldType.SECONDS;
import static io.github.gatlingllm.record.FieldType.TEXT;
import static io.github.gatlingllm.record.FieldType.TEXTS;
import static io.github.gatlingllm.record.FieldType.TOKENS;
import static io.github.gatlingllm.record.FieldType.constant;

import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestRecord.Text;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The catalogue of the fields of {@code requests.jsonl}, {@code requests.csv} and {@code
 * docs/records.md}, in their order: type, unit, the component of {@link RequestRecord} that holds
 * the value, and the meaning in Markdown; the key is the name in lower case. A new field is an
 * entry here, and a component for its value.
 */
@SuppressWarnings("ImmutableEnumChecker") // types and functions have no state
enum RecordField implements FieldTable.Field {
  // Identity.
  REQUEST_ID(
      TEXT,
      r -> r.identity().requestId(),
      "unique; also sent as header `X-Request-Id`, warm-ups too"),
  RUN_ID(TEXT, r -> r.identity().runId(), "the same in all records of a run"),
  INJECTOR(TEXT, r -> r.identity().injector(), "the load generator that sent it"),
  TRIAL(INTEGER, r -> r.identity().trial(), "of a batch, from 1; null outside batch mode"),
  REQUEST_INDEX(
      LONG,
      r -> r.identity().requestIndex(),
      "position among the requests of this run and injector, from 0, by start"),
  SCENARIO(TEXT, r -> r.identity().scenario(), "the user's name of the scenario"),
  NAME(TEXT, r -> r.identity().name(), "the request name"),
  GROUPS(TEXTS, r -> r.identity().groups(), "groups around the request, outermost first"),
  USER_ID(LONG, r -> r.identity().userId(), "Gatling's id of the virtual user"),
  TURN(INTEGER, r -> r.identity().turn(), "of a conversation or agent, from 1; null outside one"),
  SESSION(
      TEXT,
      r -> SessionTurn.of(r, SessionTurn::id),
      "`c<n>`, the n-th conversation of the load generator, as `conversationHeader` ends;"
          + " `c<n>/<recorded session>` of a replay, `c<n>/<recorded session>/<agent>` of"
          + " sub-agents"),
  TARGET(TEXT, r -> r.identity().target(), "label of the server under test"),
  ENDPOINT(TEXT, r -> r.identity().endpoint(), "URL of the request, without credentials"),
  MODEL(TEXT, r -> r.identity().model(), "the requested model"),
  API(
      TEXT,
      r -> r.identity().api(),
      "`chat`, `completions`, `responses`, `messages`, `embeddings` or `rerank`"),
  STAGE(
      TEXT,
      r -> r.identity().stage(),
      "label of the load level: `c=8`, `r=16`; of its second repeat `c=8#2`"),
  PHASE(constant(Phase.class), r -> r.identity().phase(), "in which it was scheduled"),

  // Times.
  START_UNIX_NS(
      LONG.in("ns since 1970"),
      r -> r.timing().startUnixNanos(),
      "`start`, on the run's nanosecond anchor, never a millisecond clock"),
  SCHEDULED_OFFSET_S(
      SECONDS,
      r -> r.timing().scheduledOffsetNanos(),
      "planned arrival since the start of its stage's schedule; null in closed loops"),
  QUEUE_WAIT_S(
      SECONDS,
      r -> r.timing().queueWaitNanos(),
      "`start_lag_s` + `gate_wait_s`; null when never admitted"),
  CONNECT_S(SECONDS, r -> r.timing().connectNanos(), "request written − admitted"),
  ROUND_TRIP_S(
      SECONDS,
      r -> r.timing().roundTripNanos(),
      "TCP handshake of its connection, by the kernel (`TCP_INFO`): the round trip to the server or"
          + " its proxy; null where that is not Linux"),
  TTFB_S(SECONDS, r -> r.timing().headersNanos(), "response headers − admitted"),
  FIRST_EVENT_S(SECONDS, r -> r.timing().firstEventNanos(), "first data event − admitted"),
  TTFT_S(SECONDS, r -> r.timing().ttftNanos(), "first token − admitted"),
  TTFT_FROM_SCHEDULE_S(
      SECONDS, r -> r.timing().ttftFromScheduleNanos(), "`ttft_s` + `queue_wait_s`; not read back"),
  TTFO_S(SECONDS, r -> r.timing().ttfoNanos(), "first token that is not reasoning − admitted"),
  LATENCY_S(
      SECONDS,
      r -> r.timing().latencyNanos(),
      "last token − admitted; not streamed: last byte of the body − admitted"),
  LATENCY_FROM_SCHEDULE_S(
      SECONDS,
      r -> r.timing().latencyFromScheduleNanos(),
      "`latency_s` + `queue_wait_s`; not read back"),
  CLOSED_S(
      SECONDS,
      r -> r.timing().closedNanos(),
      "end − admitted; − start of a request that was never admitted"),
  SESSION_S(
      SECONDS,
      r -> SessionTurn.of(r, SessionTurn::nanos),
      "end − start of a replayed session, in its last record; null in others, and if a turn"
          + " failed"),
  SESSION_TOOLS_S(
      SECONDS,
      r -> SessionTurn.of(r, SessionTurn::toolNanos),
      "the part of `session_s` in which it had no request in flight: it waited for tools"),
  TPOT_S(
      SECONDS,
      r -> roundedTpot(r.timing()),
      "(last token − first token) ÷ (`streamed_tokens` − tokens of the first event −"
          + " `tail_tokens`), see [metrics](metrics.md); null under 2 tokens or events"),

  // Events and tokens.
  EVENT_OFFSETS_US(
      INTEGERS.in("µs"),
      r -> r.events().offsetsMicros(),
      "each token-bearing event − admitted; `[]` without `recordTokens`"),
  EVENT_TOKENS(
      INTEGERS.in("tokens"),
      r -> r.events().tokens(),
      "tokens in each event, where known, in sum `streamed_tokens`; else `[]`"),
  PROMPT_CHARS(INTEGER.in("characters"), r -> r.tokens().promptChars(), "of all prompt texts"),
  PROMPT_TOKENS(TOKENS, r -> r.tokens().promptTokens(), "by the server's usage"),
  PROMPT_TOKENS_LOCAL(
      TOKENS,
      r -> r.tokens().promptTokensLocal(),
      "by our tokenizer: each text of the prompt counted by itself and summed, without what"
          + " chat template, special tokens, images and tools add; of a sample like that of"
          + " output_tokens_local once the server reports prompt tokens; null if there is no text,"
          + " or no time was left to count it"),
  CACHED_TOKENS(
      TOKENS,
      r -> r.tokens().cachedTokens(),
      "of the prompt, that the server took from its prefix cache"),
  MAX_TOKENS(TOKENS, r -> r.tokens().maxTokens(), "the requested limit"),
  OUTPUT_TOKENS(
      TOKENS,
      r -> r.tokens().outputTokens(),
      "by the server's usage, reasoning included; else as `token_source` says"),
  OUTPUT_TOKENS_LOCAL(
      TOKENS,
      r -> r.tokens().outputTokensLocal(),
      "by our tokenizer: all text of the answer that was received. Answers with usage are"
          + " sampled: the first 200 requests and then one in 16, as long as there is time to"
          + " count; otherwise null"),
  REASONING_TOKENS(TOKENS, r -> r.tokens().reasoningTokens(), "by the server's usage"),
  ESTIMATED(FLAG, r -> r.tokens().estimated(), "whether `output_tokens` is an estimate"),
  TOKEN_SOURCE(
      constant(TokenSource.class),
      r -> r.tokens().source(),
      "where `output_tokens` comes from: the server's usage, our tokenizer, or one token per"
          + " token-bearing event"),

  // Outcome.
  FINISH_REASON(
      TEXT,
      r -> r.outcome().finishReason(),
      "of the first choice, as the server reports it: `finish_reason`, `stop_reason`, `status`"
          + " or the reason of an incomplete response"),
  STATUS(INTEGER, r -> r.outcome().httpStatus(), "of HTTP; null when no response came"),
  OK(FLAG, r -> r.outcome().ok(), "complete, and every check passed"),
  VERDICT(constant(RequestStatus.class), r -> r.outcome().status(), "how it ended"),
  ERROR(TEXT, r -> r.outcome().error(), "constant per cause, at most 200 characters"),
  SLO_OK(
      FLAG,
      r -> r.outcome().sloOk(),
      "whether it met the SLO; null without one, and if it was cut before that was known"),
  SLO_MISSED(TEXTS, r -> r.outcome().sloMissed(), "names of the objectives it missed"),
  SERVER(
      NUMBERS,
      r -> r.server().timings(),
      "timings that the server reported, in seconds: `queue_s`, `prefill_s`, `decode_s`,"
          + " `inference_s`, `validation_s`, `time_per_token_s`, `total_s`, `processing_s`,"
          + " `upstream_s`, and other timings of `Server-Timing` by their own names;"
          + " counts `prompt_n`, `cache_n`, `predicted_n` in tokens"),

  // Added so that statistics need no second source.
  STREAMED(FLAG, r -> r.identity().streamed(), "whether a stream was requested"),
  START_LAG_S(SECONDS, r -> r.timing().startLagNanos(), "start − scheduled"),
  GATE_WAIT_S(
      SECONDS, r -> r.timing().gateWaitNanos(), "admitted − start; null when never admitted"),
  STREAMED_TOKENS(
      TOKENS,
      r -> r.tokens().streamedTokens(),
      "N of the metrics: output tokens without reasoning that was never streamed"),
  EVENT_CHOICES(
      INTEGERS,
      r -> r.events().choices(),
      "choice index of each event; `[]` where there is one choice"),
  EVENTS(
      INTEGER.in("events"),
      r -> r.events().count(),
      "how many token-bearing events came, also without `recordTokens`"),
  COALESCED_EVENTS(
      INTEGER.in("events"),
      r -> r.events().coalesced(),
      "came in the same read as the one before of their choice"),
  LATE_EVENTS(INTEGER.in("events"), r -> r.events().late(), "data after the announced end"),
  DONE(
      FLAG,
      r -> r.events().done(),
      "whether `[DONE]`, or the last typed event of the stream, came"),
  FIRST_EVENT_TOKENS(TOKENS, r -> r.events().firstEventTokens(), "in the first event, where known"),
  STALL_S(
      SECONDS,
      r -> r.events().longestGapNanos(),
      "longest gap between events of one choice; null under 2 events"),
  TPOT_ESTIMATED(
      FLAG,
      RequestRecord::isTpotEstimated,
      "whether `tpot_s` takes `streamed_tokens` ÷ `events` for the tokens of the first event,"
          + " because the server did not report them; not read back"),
  RESENT(
      FLAG,
      r -> r.outcome().resent(),
      "whether it was sent once more: the server closed the kept-alive connection before a byte of"
          + " an answer came"),
  LEFT_OPEN(
      FLAG,
      r -> r.outcome().leftOpen(),
      "whether the answer was complete, and the server did not end its body"),
  REFUSED_COUNTS(
      TEXTS,
      r -> r.tokens().refused(),
      "names of impossible counts in the server's usage, which are ignored: below 0, above"
          + " 16,777,216, or of output above 10 × `max_tokens` and above the bytes of the answer"),
  SERVER_NAMES(
      TEXTS,
      r -> r.server().names(),
      "the server's names of its timings: `usage.queue_time`, `timings.prompt_ms`,"
          + " `x-queue-time`, `server-timing.db`"),
  RATE_LIMITS(
      NUMBERS,
      r -> r.server().rateLimits(),
      "quotas in response headers (`x-ratelimit-…`, `anthropic-ratelimit-…`,"
          + " `ratelimit-…`): `requests_limit`, `requests_remaining`, `requests_reset_s`,"
          + " `tokens_limit`, and so on; `reset_s` counts from the answer"),
  RETRY_AFTER_S(
      SECONDS,
      r -> r.server().retryAfterNanos(),
      "the wait that the server asks for (`Retry-After`, `retry-after-ms`); no request waits"
          + " for it"),
  REPLICA(
      TEXT,
      r -> r.server().replica(),
      "who answered behind the endpoint, by response header: `x-inference-pod`, `target-pod`,"
          + " `x-litellm-model-id` or `x-served-by`"),
  PACING_WAIT_S(
      SECONDS,
      r -> r.timing().pacingWaitNanos(),
      "of `gate_wait_s`, how long `maxRequestsPerMinute` or `maxTokensPerMinute` held it back;"
          + " of a request that was never admitted, until its end; null if neither is set"),
  INPUTS(
      INTEGER,
      r -> r.tokens().inputs(),
      "texts to embed, documents to rerank; null with other APIs"),
  HAS_TOOLS(FLAG, r -> r.identity().hasTools(), "whether the request offered tools to the model"),

  TAIL_TOKENS(
      TOKENS,
      r -> r.events().tail(),
      "counted by the server after the last token-bearing event; part of `event_tokens` of the last"
          + " one, and of no gap and no TPOT"),
  UNKNOWN_FIELDS(
      TEXTS,
      r -> r.events().unknownFields(),
      "names of fields, or types of events, that carried text and that no API is known to have;"
          + " their text counts as an event"),

  // Texts, only with the setting recordText.
  MESSAGES(
      JSON,
      Text::messages,
      "the messages or input items as they were sent",
      text -> text.messages() != null),
  PROMPT(
      TEXT,
      Text::prompt,
      "completions: the prompt as it was sent; embeddings: the text, or a JSON array of them;"
          + " rerank: query and documents as JSON",
      text -> text.messages() == null || text.prompt() != null),
  ANSWER(TEXT, Text::answer, "the answer", text -> true),
  REASONING(TEXT, Text::reasoning, "reasoning that was streamed", text -> true);

  private final FieldType<?> type;
  private final Function<RequestRecord, ?> getter;
  private final String meaning;

  /** When a text is in a line; null for fields that are in every line. */
  private final @Nullable Predicate<Text> condition;

  <T> RecordField(FieldType<T> type, Function<RequestRecord, @Nullable T> getter, String meaning) {
    this.type = type;
    this.getter = getter;
    this.meaning = meaning;
    this.condition = null;
  }

  /** A text, which exists only with the setting {@code recordText}. */
  RecordField(
      FieldType<String> type,
      Function<Text, @Nullable String> getter,
      String meaning,
      Predicate<Text> condition) {
    this.type = type;
    this.getter = record -> record.text() == null ? null : getter.apply(record.text());
    this.meaning = meaning;
    this.condition = condition;
  }

  /** Files have whole nanoseconds; this is the only value that they round. */
  private static @Nullable Long roundedTpot(Timing timing) {
    Double nanos = timing.tpotNanos();
    return nanos == null ? null : (Long) Math.round(nanos);
  }

  @Override
  public FieldType<?> type() {
    return type;
  }

  String meaning() {
    return meaning;
  }

  boolean isText() {
    return condition != null;
  }

  boolean isIn(RequestRecord record) {
    return condition == null || (record.text() != null && condition.test(record.text()));
  }

  /** Whether it is a column of {@code requests.csv}: a single value, in every line. */
  boolean isColumn() {
    return condition == null && type.cell() != null;
  }

  @Nullable Object get(RequestRecord record) {
    return getter.apply(record);
  }
}
