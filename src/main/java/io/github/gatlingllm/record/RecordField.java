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

import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord.AnswerFault;
import io.github.gatlingllm.record.RequestRecord.AnswerPass;
import io.github.gatlingllm.record.RequestRecord.CheckedAnswer;
import io.github.gatlingllm.record.RequestRecord.RecordedText;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The catalogue of the fields of {@code requests.jsonl} and {@code requests.csv}, in their order:
 * type, and the component of {@link RequestRecord} that has the value. The key is the name in lower
 * case, its ending the unit, and {@code docs/records.md} has the meaning. A new field is a row
 * here, a component and a line of {@link RecordFile} for its value, and its meaning.
 */
@SuppressWarnings("ImmutableEnumChecker") // types and functions have no state
enum RecordField implements RunInfo.Keyed {
  // Identity.
  REQUEST_ID(TEXT, r -> r.identity().requestId()),
  RUN_ID(TEXT, r -> r.identity().runId()),
  INJECTOR(TEXT, r -> r.identity().injector()),
  TRIAL(INTEGER, r -> r.identity().trial()),
  REQUEST_INDEX(LONG, r -> r.identity().requestIndex()),
  SCENARIO(TEXT, r -> r.identity().scenario()),
  NAME(TEXT, r -> r.identity().name()),
  GROUPS(TEXTS, r -> r.identity().groups()),
  USER_ID(LONG, r -> r.identity().userId()),
  TURN(INTEGER, r -> r.identity().turn()),
  SESSION(TEXT, r -> SessionTurn.of(r, SessionTurn::id)),
  TARGET(TEXT, r -> r.identity().target()),
  ENDPOINT(TEXT, r -> r.identity().endpoint()),
  MODEL(TEXT, r -> r.identity().model()),
  API(TEXT, r -> r.identity().api()),
  STAGE(TEXT, r -> r.identity().stage()),
  PHASE(constant(Phase.class), r -> r.identity().phase()),

  // Times.
  START_UNIX_NS(LONG, r -> r.timing().startUnixNanos()),
  SCHEDULED_OFFSET_S(SECONDS, r -> r.timing().scheduledOffsetNanos()),
  QUEUE_WAIT_S(SECONDS, r -> r.timing().queueWaitNanos()),
  CONNECT_S(SECONDS, r -> r.timing().connectNanos()),
  ROUND_TRIP_S(SECONDS, r -> r.timing().roundTripNanos()),
  TTFB_S(SECONDS, r -> r.timing().headersNanos()),
  FIRST_EVENT_S(SECONDS, r -> r.timing().firstEventNanos()),
  TTFT_S(SECONDS, r -> r.timing().ttftNanos()),
  TTFT_FROM_SCHEDULE_S(SECONDS, r -> r.timing().ttftFromScheduleNanos()),
  TTFO_S(SECONDS, r -> r.timing().ttfoNanos()),
  LATENCY_S(SECONDS, r -> r.timing().latencyNanos()),
  LATENCY_FROM_SCHEDULE_S(SECONDS, r -> r.timing().latencyFromScheduleNanos()),
  CLOSED_S(SECONDS, r -> r.timing().closedNanos()),
  SESSION_S(SECONDS, r -> SessionTurn.of(r, SessionTurn::nanos)),
  SESSION_TOOLS_S(SECONDS, r -> SessionTurn.of(r, SessionTurn::toolNanos)),
  SESSION_GAP_S(SECONDS, r -> SessionTurn.of(r, SessionTurn::gapNanos)),
  SESSION_LATE_S(SECONDS, r -> SessionTurn.of(r, SessionTurn::lateNanos)),
  SESSION_END(FLAG, r -> SessionTurn.of(r, SessionTurn::isEnd)),
  TPOT_S(SECONDS, r -> roundedTpot(r.timing())),

  // Events and tokens.
  EVENT_OFFSETS_US(INTEGERS, r -> r.events().offsetsMicros()),
  EVENT_TOKENS(INTEGERS, r -> r.events().tokens()),
  PROMPT_CHARS(INTEGER, r -> r.tokens().promptChars()),
  PROMPT_TOKENS(INTEGER, r -> r.tokens().promptTokens()),
  PROMPT_TOKENS_LOCAL(INTEGER, r -> r.tokens().promptTokensLocal()),
  CACHED_TOKENS(INTEGER, r -> r.tokens().cachedTokens()),
  IDEAL_CACHED_TOKENS(INTEGER, r -> r.tokens().idealCachedTokens()),
  MAX_TOKENS(INTEGER, r -> r.tokens().maxTokens()),
  OUTPUT_TOKENS(INTEGER, r -> r.tokens().outputTokens()),
  OUTPUT_TOKENS_LOCAL(INTEGER, r -> r.tokens().outputTokensLocal()),
  REASONING_TOKENS(INTEGER, r -> r.tokens().reasoningTokens()),
  ESTIMATED(FLAG, r -> r.tokens().estimated()),
  TOKEN_SOURCE(constant(TokenSource.class), r -> r.tokens().source()),

  // Outcome.
  FINISH_REASON(TEXT, r -> r.outcome().finishReason()),
  HTTP_STATUS(INTEGER, r -> r.outcome().httpStatus()),
  OK(FLAG, r -> r.outcome().ok()),
  STATUS(constant(RequestStatus.class), r -> r.outcome().status()),
  ERROR(TEXT, r -> r.outcome().error()),
  SLO_OK(FLAG, r -> r.outcome().sloOk()),
  SLO_MISSED(TEXTS, r -> r.outcome().sloMissed()),
  SERVER(NUMBERS, r -> r.server().timings()),

  // Added so that statistics need no second source.
  STREAMED(FLAG, r -> r.identity().streamed()),
  START_LAG_S(SECONDS, r -> r.timing().startLagNanos()),
  GATE_WAIT_S(SECONDS, r -> r.timing().gateWaitNanos()),
  STREAMED_TOKENS(INTEGER, r -> r.tokens().streamedTokens()),
  EVENT_CHOICES(INTEGERS, r -> r.events().choices()),
  EVENTS(INTEGER, r -> r.events().count()),
  COALESCED_EVENTS(INTEGER, r -> r.events().coalesced()),
  LATE_EVENTS(INTEGER, r -> r.events().late()),
  DONE(FLAG, r -> r.events().done()),
  FIRST_EVENT_TOKENS(INTEGER, r -> r.events().firstEventTokens()),
  STALL_S(SECONDS, r -> r.events().longestGapNanos()),
  TPOT_ESTIMATED(FLAG, RequestRecord::isTpotEstimated),
  RESENT(FLAG, r -> r.outcome().resent()),
  LEFT_OPEN(FLAG, r -> r.outcome().leftOpen()),
  REFUSED_COUNTS(TEXTS, r -> r.tokens().refused()),
  SERVER_NAMES(TEXTS, r -> r.server().names()),
  RATE_LIMITS(NUMBERS, r -> r.server().rateLimits()),
  RETRY_AFTER_S(SECONDS, r -> r.server().retryAfterNanos()),
  REPLICA(TEXT, r -> r.server().replica()),
  PACING_WAIT_S(SECONDS, r -> r.timing().pacingWaitNanos()),
  INPUTS(INTEGER, r -> r.tokens().inputs()),
  HAS_TOOLS(FLAG, r -> r.identity().hasTools()),
  TAIL_TOKENS(INTEGER, r -> r.events().tail()),
  UNKNOWN_FIELDS(TEXTS, r -> r.events().unknownFields()),
  TRACE_ID(TEXT, r -> r.identity().traceId()),
  ANSWER_ID(TEXT, r -> r.server().answerId()),

  // Only of requests of the setting answers.
  ANSWER_PASS(constant(AnswerPass.class), r -> checked(r, CheckedAnswer::pass)),
  ANSWER_PROMPT(INTEGER, r -> checked(r, CheckedAnswer::prompt)),
  ANSWER_SAME(FLAG, r -> checked(r, CheckedAnswer::same)),
  ANSWER_DIFFERS_AT(INTEGER, r -> checked(r, CheckedAnswer::differsAt)),
  ANSWER_FAULT(constant(AnswerFault.class), r -> checked(r, CheckedAnswer::fault)),
  ANSWER_RIGHT(FLAG, r -> checked(r, CheckedAnswer::right)),

  // Texts, only with the setting recordText.
  MESSAGES(JSON, RecordedText::messages, text -> text.messages() != null),
  PROMPT(TEXT, RecordedText::prompt, text -> text.messages() == null || text.prompt() != null),
  ANSWER(TEXT, RecordedText::answer, text -> true),
  REASONING(TEXT, RecordedText::reasoning, text -> true);

  private final FieldType<?> type;
  private final Function<RequestRecord, ?> getter;

  /** When a text is in a line; null for fields that are in every line. */
  private final @Nullable Predicate<RecordedText> condition;

  <T> RecordField(FieldType<T> type, Function<RequestRecord, @Nullable T> getter) {
    this.type = type;
    this.getter = getter;
    this.condition = null;
  }

  /** A text, which exists only with the setting {@code recordText}. */
  RecordField(
      FieldType<String> type,
      Function<RecordedText, @Nullable String> getter,
      Predicate<RecordedText> condition) {
    this.type = type;
    this.getter = record -> record.text() == null ? null : getter.apply(record.text());
    this.condition = condition;
  }

  private static <T> @Nullable T checked(
      RequestRecord record, Function<CheckedAnswer, @Nullable T> value) {
    return record.checked() == null ? null : value.apply(record.checked());
  }

  /** Files have integer nanoseconds; this is the only value that they round. */
  private static @Nullable Long roundedTpot(Timing timing) {
    Double nanos = timing.tpotNanos();
    return nanos == null ? null : (Long) Math.round(nanos);
  }

  FieldType<?> type() {
    return type;
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
