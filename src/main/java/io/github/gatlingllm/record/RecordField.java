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
import static io.github.gatlingllm.record.FieldType.constant;

import com.fasterxml.jackson.core.io.SerializedString;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord.Identity;
import io.github.gatlingllm.record.RequestRecord.Text;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The catalogue of the fields of a record: key, type, unit, the component of {@link RequestRecord}
 * that holds the value, and the meaning. {@code requests.jsonl}, {@code requests.csv} and {@code
 * docs/records.md} have these fields in this order.
 *
 * <p>A new field is an entry here, and a component of {@link RequestRecord} for its value. Every
 * line has every field, with null or {@code []} if it does not apply, except the texts. Meanings
 * are Markdown.
 *
 * @param index position in {@link #ALL}
 * @param condition when a text is in a line; texts exist only with the setting {@code recordText};
 *     null for all other fields
 */
record RecordField<T>(
    int index,
    SerializedString key,
    FieldType<T> type,
    Function<RequestRecord, @Nullable T> getter,
    String meaning,
    @Nullable Predicate<Text> condition) {

  private static final FieldType<Integer> EVENTS = INTEGER.in("events");

  private static final List<RecordField<?>> CATALOGUE = new ArrayList<>();

  // Identity.

  static final RecordField<String> REQUEST_ID =
      name(
          "request_id",
          Identity::requestId,
          "unique; also sent as header `X-Request-Id`, warm-ups too");
  static final RecordField<String> RUN_ID =
      name("run_id", Identity::runId, "the same in all records of a run");
  static final RecordField<String> INJECTOR =
      name("injector", Identity::injector, "the load generator that sent it");
  static final RecordField<Integer> TRIAL =
      field(
          "trial",
          INTEGER,
          r -> r.identity().trial(),
          "of a batch, from 1; null outside batch mode");
  static final RecordField<Long> REQUEST_INDEX =
      field(
          "request_index",
          LONG,
          r -> r.identity().requestIndex(),
          "position among the requests of this run and injector, from 0, by start");
  static final RecordField<String> SCENARIO =
      name("scenario", Identity::scenario, "the user's name of the scenario");
  static final RecordField<String> NAME = name("name", Identity::name, "the request name");
  static final RecordField<List<String>> GROUPS =
      field(
          "groups",
          TEXTS,
          r -> r.identity().groups(),
          "groups around the request, outermost first");
  static final RecordField<Long> USER_ID =
      field("user_id", LONG, r -> r.identity().userId(), "Gatling's id of the virtual user");
  static final RecordField<Integer> TURN =
      field(
          "turn", INTEGER, r -> r.identity().turn(), "of a conversation, from 1; null outside one");
  static final RecordField<String> TARGET =
      name("target", Identity::target, "label of the server under test");
  static final RecordField<String> ENDPOINT =
      name("endpoint", Identity::endpoint, "URL of the request, without credentials");
  static final RecordField<String> MODEL = name("model", Identity::model, "the requested model");
  static final RecordField<String> API =
      name("api", Identity::api, "`chat`, `completions`, `responses`, `messages` or `embeddings`");
  static final RecordField<String> STAGE =
      name("stage", Identity::stage, "label of the load level: `c=8`, `r=16`");
  static final RecordField<Phase> PHASE =
      field("phase", constant(Phase.class), r -> r.identity().phase(), "in which it was scheduled");

  // Times.

  static final RecordField<Long> START =
      field(
          "start_unix_ns",
          LONG.in("ns since 1970"),
          r -> r.timing().startUnixNanos(),
          "`start`, when the virtual user reached the request, on the run's nanosecond anchor,"
              + " never a millisecond clock");
  static final RecordField<Long> SCHEDULED_OFFSET =
      time(
          "scheduled_offset_s",
          Timing::scheduledOffsetNanos,
          "planned arrival since the start of its stage's schedule; null in closed loops");
  static final RecordField<Long> QUEUE_WAIT =
      time(
          "queue_wait_s",
          Timing::queueWaitNanos,
          "`start_lag_s` + `gate_wait_s`; null when never admitted");
  static final RecordField<Long> CONNECT =
      time("connect_s", Timing::connectNanos, "request written − admitted");
  static final RecordField<Long> HEADERS =
      time("ttfb_s", Timing::headersNanos, "response headers − admitted");
  static final RecordField<Long> FIRST_EVENT =
      time("first_event_s", Timing::firstEventNanos, "first data event − admitted");
  static final RecordField<Long> TTFT = time("ttft_s", Timing::ttftNanos, "first token − admitted");
  static final RecordField<Long> TTFT_FROM_SCHEDULE =
      time(
          "ttft_from_schedule_s",
          Timing::ttftFromScheduleNanos,
          "`ttft_s` + `queue_wait_s`; not read back");
  static final RecordField<Long> TTFO =
      time("ttfo_s", Timing::ttfoNanos, "first token that is not reasoning − admitted");
  static final RecordField<Long> LATENCY =
      time(
          "latency_s",
          Timing::latencyNanos,
          "last token − admitted; not streamed: last byte of the body − admitted");
  static final RecordField<Long> LATENCY_FROM_SCHEDULE =
      time(
          "latency_from_schedule_s",
          Timing::latencyFromScheduleNanos,
          "`latency_s` + `queue_wait_s`; not read back");
  static final RecordField<Long> CLOSED =
      time(
          "closed_s",
          Timing::closedNanos,
          "end − admitted; − start of a request that was never admitted");
  static final RecordField<Long> TPOT =
      field(
          "tpot_s",
          SECONDS,
          r -> roundedTpot(r.timing()),
          "(last token − first token) ÷ (`streamed_tokens` − tokens of the first event), see"
              + " [metrics](metrics.md); null under 2 tokens or events");

  // Events and tokens.

  static final RecordField<int[]> EVENT_OFFSETS =
      field(
          "event_offsets_us",
          INTEGERS.in("µs"),
          r -> r.events().offsetsMicros(),
          "each token-bearing event − admitted; `[]` without `recordTokens`");
  static final RecordField<int[]> EVENT_TOKENS =
      field(
          "event_tokens",
          INTEGERS.in("tokens"),
          r -> r.events().tokens(),
          "tokens in each event, where known; else `[]`");
  static final RecordField<Integer> PROMPT_CHARS =
      field(
          "prompt_chars",
          INTEGER.in("characters"),
          r -> r.tokens().promptChars(),
          "of all prompt texts");
  static final RecordField<Integer> PROMPT_TOKENS =
      tokens("prompt_tokens", Tokens::promptTokens, "by the server's usage");
  static final RecordField<Integer> PROMPT_TOKENS_LOCAL =
      tokens(
          "prompt_tokens_local",
          Tokens::promptTokensLocal,
          "by our tokenizer: each text of the prompt counted by itself and summed, without what"
              + " chat template, special tokens, images and tools add; null if there is no text, or"
              + " no time was left to count it");
  static final RecordField<Integer> CACHED_TOKENS =
      tokens(
          "cached_tokens",
          Tokens::cachedTokens,
          "of the prompt, that the server took from its prefix cache");
  static final RecordField<Integer> MAX_TOKENS =
      tokens("max_tokens", Tokens::maxTokens, "the requested limit");
  static final RecordField<Integer> OUTPUT_TOKENS =
      tokens(
          "output_tokens",
          Tokens::outputTokens,
          "by the server's usage, reasoning included; else as `token_source` says");
  static final RecordField<Integer> OUTPUT_TOKENS_LOCAL =
      tokens(
          "output_tokens_local",
          Tokens::outputTokensLocal,
          "by our tokenizer: all text of the answer that was received. Answers with usage are"
              + " sampled: the first 200 requests and then one in 16, as long as there is time to"
              + " count; otherwise null");
  static final RecordField<Integer> REASONING_TOKENS =
      tokens("reasoning_tokens", Tokens::reasoningTokens, "by the server's usage");
  static final RecordField<Boolean> ESTIMATED =
      field(
          "estimated", FLAG, r -> r.tokens().estimated(), "whether `output_tokens` is an estimate");
  static final RecordField<TokenSource> TOKEN_SOURCE =
      field(
          "token_source",
          constant(TokenSource.class),
          r -> r.tokens().source(),
          "where `output_tokens` comes from: the server's usage, our tokenizer, or one token per"
              + " token-bearing event");

  // Outcome.

  static final RecordField<String> FINISH_REASON =
      field(
          "finish_reason",
          TEXT,
          r -> r.outcome().finishReason(),
          "of the first choice, as the server reports it: `finish_reason`, `stop_reason`, `status`"
              + " or the reason of an incomplete response");
  static final RecordField<Integer> HTTP_STATUS =
      field(
          "status", INTEGER, r -> r.outcome().httpStatus(), "of HTTP; null when no response came");
  static final RecordField<Boolean> OK =
      field("ok", FLAG, r -> r.outcome().ok(), "complete, and every check passed");
  static final RecordField<RequestStatus> STATUS =
      field("verdict", constant(RequestStatus.class), r -> r.outcome().status(), "how it ended");
  static final RecordField<String> ERROR =
      field("error", TEXT, r -> r.outcome().error(), "constant per cause, at most 200 characters");
  static final RecordField<Boolean> SLO_OK =
      field(
          "slo_ok",
          FLAG,
          r -> r.outcome().sloOk(),
          "whether it met the SLO; null without one, and if it was cancelled before that was"
              + " known");
  static final RecordField<List<String>> SLO_MISSED =
      field("slo_missed", TEXTS, r -> r.outcome().sloMissed(), "names of the objectives it missed");
  static final RecordField<Map<String, Double>> SERVER =
      field(
          "server",
          NUMBERS,
          r -> r.server().timings(),
          "timings that the server reported, in seconds: `queue_s`, `prefill_s`, `decode_s`,"
              + " `inference_s`, `validation_s`, `time_per_token_s`, `total_s`, `processing_s`,"
              + " `upstream_s`, and other timings of `Server-Timing` by their own names;"
              + " counts `prompt_n`, `cache_n`, `predicted_n` in tokens");

  // Added so that statistics need no second source.

  static final RecordField<Boolean> STREAMED =
      field("streamed", FLAG, r -> r.identity().streamed(), "whether a stream was requested");
  static final RecordField<Long> START_LAG =
      time("start_lag_s", Timing::startLagNanos, "start − scheduled");
  static final RecordField<Long> GATE_WAIT =
      time("gate_wait_s", Timing::gateWaitNanos, "admitted − start; null when never admitted");
  static final RecordField<Integer> STREAMED_TOKENS =
      tokens(
          "streamed_tokens",
          Tokens::streamedTokens,
          "N of the metrics: output tokens without reasoning that was never streamed");
  static final RecordField<int[]> EVENT_CHOICES =
      field(
          "event_choices",
          INTEGERS,
          r -> r.events().choices(),
          "choice index of each event; `[]` where there is one choice");
  static final RecordField<Integer> EVENT_COUNT =
      field(
          "events",
          EVENTS,
          r -> r.events().count(),
          "how many token-bearing events came, also without `recordTokens`");
  static final RecordField<Integer> COALESCED_EVENTS =
      field(
          "coalesced_events",
          EVENTS,
          r -> r.events().coalesced(),
          "came in the same read as the one before of their choice");
  static final RecordField<Integer> LATE_EVENTS =
      field("late_events", EVENTS, r -> r.events().late(), "data after the announced end");
  static final RecordField<Boolean> DONE =
      field(
          "done",
          FLAG,
          r -> r.events().done(),
          "whether `[DONE]`, or the last typed event of the stream, came");
  static final RecordField<Integer> FIRST_EVENT_TOKENS =
      field(
          "first_event_tokens",
          INTEGER.in("tokens"),
          r -> r.events().firstEventTokens(),
          "in the first event, where known");
  static final RecordField<Long> STALL =
      field(
          "stall_s",
          SECONDS,
          r -> r.events().longestGapNanos(),
          "longest gap between events of one choice; null under 2 events");
  static final RecordField<Boolean> TPOT_ESTIMATED =
      field(
          "tpot_estimated",
          FLAG,
          RequestRecord::isTpotEstimated,
          "whether `tpot_s` takes `streamed_tokens` ÷ `events` for the tokens of the first event,"
              + " because the server did not report them; not read back");
  static final RecordField<Boolean> RESENT =
      field(
          "resent",
          FLAG,
          r -> r.outcome().resent(),
          "whether it was sent once more, on a new connection: the server closed the kept-alive one"
              + " before a byte of an answer came; times count from the one admission");

  static final RecordField<List<String>> REFUSED_COUNTS =
      field(
          "refused_counts",
          TEXTS,
          r -> r.tokens().refused(),
          "names of impossible counts in the server's usage (below 0, or above 16,777,216), which"
              + " are ignored");
  static final RecordField<List<String>> SERVER_NAMES =
      field(
          "server_names",
          TEXTS,
          r -> r.server().names(),
          "the server's names of its timings: `usage.queue_time`, `timings.prompt_ms`,"
              + " `x-queue-time`, `server-timing.db`");
  static final RecordField<Map<String, Double>> RATE_LIMITS =
      field(
          "rate_limits",
          NUMBERS,
          r -> r.server().rateLimits(),
          "quotas in response headers (`x-ratelimit-…`, `anthropic-ratelimit-…`,"
              + " `ratelimit-…`): `requests_limit`, `requests_remaining`, `requests_reset_s`,"
              + " `tokens_limit`, and so on for every quota that is named; `reset_s` counts from"
              + " the answer");
  static final RecordField<Long> RETRY_AFTER =
      field(
          "retry_after_s",
          SECONDS,
          r -> r.server().retryAfterNanos(),
          "the wait that the server asks for (`Retry-After`, `retry-after-ms`); no request waits"
              + " for it");
  static final RecordField<Long> PACING_WAIT =
      time(
          "pacing_wait_s",
          Timing::pacingWaitNanos,
          "of `gate_wait_s`, how long `maxRequestsPerMinute` or `maxTokensPerMinute` held it back;"
              + " of a request that was never admitted, until its end; null if neither is set");

  static final RecordField<Integer> INPUTS =
      field(
          "inputs", INTEGER, r -> r.tokens().inputs(), "texts to embed; null with the other APIs");

  // Texts, only with the setting recordText.

  static final RecordField<String> MESSAGES =
      text(
          "messages",
          JSON,
          Text::messages,
          "the messages or input items as they were sent",
          text -> text.messages() != null);
  static final RecordField<String> PROMPT =
      text(
          "prompt",
          TEXT,
          Text::prompt,
          "completions: the prompt as it was sent; embeddings: the text, or a JSON array of them",
          text -> text.messages() == null || text.prompt() != null);
  static final RecordField<String> ANSWER =
      text("answer", TEXT, Text::answer, "the answer", text -> true);
  static final RecordField<String> REASONING =
      text("reasoning", TEXT, Text::reasoning, "reasoning that was streamed", text -> true);

  /** All fields, in the order of files. */
  static final List<RecordField<?>> ALL = Collections.unmodifiableList(CATALOGUE);

  private static RecordField<String> name(
      String key, Function<Identity, @Nullable String> of, String meaning) {
    return field(key, TEXT, record -> of.apply(record.identity()), meaning);
  }

  private static RecordField<Long> time(
      String key, Function<Timing, @Nullable Long> of, String meaning) {
    return field(key, SECONDS, record -> of.apply(record.timing()), meaning);
  }

  private static RecordField<Integer> tokens(
      String key, Function<Tokens, @Nullable Integer> of, String meaning) {
    return field(key, INTEGER.in("tokens"), record -> of.apply(record.tokens()), meaning);
  }

  private static <T> RecordField<T> field(
      String key, FieldType<T> type, Function<RequestRecord, @Nullable T> of, String meaning) {
    return field(key, type, of, meaning, null);
  }

  private static <T> RecordField<T> field(
      String key,
      FieldType<T> type,
      Function<RequestRecord, @Nullable T> of,
      String meaning,
      @Nullable Predicate<Text> condition) {
    RecordField<T> field =
        new RecordField<>(
            CATALOGUE.size(), new SerializedString(key), type, of, meaning, condition);
    CATALOGUE.add(field);
    return field;
  }

  private static <T> RecordField<T> text(
      String key,
      FieldType<T> type,
      Function<Text, @Nullable T> of,
      String meaning,
      Predicate<Text> condition) {
    return field(
        key,
        type,
        record -> record.text() == null ? null : of.apply(record.text()),
        meaning,
        condition);
  }

  /** Files have whole nanoseconds; this is the only value that they round. */
  private static @Nullable Long roundedTpot(Timing timing) {
    Double nanos = timing.tpotNanos();
    return nanos == null ? null : (Long) Math.round(nanos);
  }

  /** Whether the field exists only with the setting {@code recordText}. */
  boolean isText() {
    return condition != null;
  }

  /** Whether the line of that record has the field. */
  boolean isIn(RequestRecord record) {
    return condition == null || (record.text() != null && condition.test(record.text()));
  }

  /** Whether it is a column of {@code requests.csv}: a single value, in every line. */
  boolean isColumn() {
    return condition == null && type.hasCell();
  }

  @Nullable T get(RequestRecord record) {
    return getter.apply(record);
  }

  @Override
  public String toString() {
    return key.getValue();
  }
}
