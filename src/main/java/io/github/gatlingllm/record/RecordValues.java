package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonParser;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Identity;
import io.github.gatlingllm.record.RequestRecord.Outcome;
import io.github.gatlingllm.record.RequestRecord.Text;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values of a line of {@code requests.jsonl}, by field, and the record made of them. */
final class RecordValues {

  private static final int[] NONE = {};

  private static final Object NULL = new Object();

  private final @Nullable Object[] values = new @Nullable Object[RecordField.ALL.size()];

  void read(RecordField<?> field, JsonParser json) throws IOException {
    try {
      set(field.index(), field.type().read(json));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(field + " " + e.getMessage(), e);
    }
  }

  void set(int field, @Nullable Object value) {
    values[field] = value == null ? NULL : value;
  }

  /** Whether the line has that field, with a value or null. */
  private boolean has(RecordField<?> field) {
    return values[field.index()] != null;
  }

  @SuppressWarnings("unchecked") // a value is read by the type of its field
  private <T> @Nullable T get(RecordField<T> field) {
    Object value = values[field.index()];
    return value == NULL ? null : (T) value;
  }

  private <T> T get(RecordField<T> field, T absent) {
    T value = get(field);
    return value == null ? absent : value;
  }

  private <T> T required(RecordField<T> field) {
    T value = get(field);
    if (value == null) {
      throw new IllegalArgumentException("no " + field);
    }
    return value;
  }

  /** The record; values that older files lack are derived from others. */
  RequestRecord record() {
    RequestStatus status = required(RecordField.STATUS);
    return new RequestRecord(
        new Identity(
            required(RecordField.REQUEST_ID),
            required(RecordField.RUN_ID),
            required(RecordField.INJECTOR),
            get(RecordField.TRIAL),
            required(RecordField.REQUEST_INDEX),
            required(RecordField.SCENARIO),
            required(RecordField.NAME),
            get(RecordField.GROUPS, List.of()),
            required(RecordField.USER_ID),
            get(RecordField.TURN),
            required(RecordField.TARGET),
            required(RecordField.ENDPOINT),
            get(RecordField.MODEL),
            required(RecordField.API),
            get(RecordField.STREAMED, true),
            required(RecordField.STAGE),
            required(RecordField.PHASE)),
        timing(),
        events(),
        new Tokens(
            get(RecordField.PROMPT_CHARS),
            get(RecordField.PROMPT_TOKENS),
            get(RecordField.PROMPT_TOKENS_LOCAL),
            get(RecordField.CACHED_TOKENS),
            get(RecordField.MAX_TOKENS),
            get(RecordField.OUTPUT_TOKENS),
            get(RecordField.OUTPUT_TOKENS_LOCAL),
            get(RecordField.REASONING_TOKENS),
            get(RecordField.STREAMED_TOKENS),
            get(RecordField.ESTIMATED, false),
            get(RecordField.TOKEN_SOURCE),
            get(RecordField.REFUSED_COUNTS, List.of()),
            get(RecordField.INPUTS)),
        new Outcome(
            get(RecordField.FINISH_REASON),
            get(RecordField.HTTP_STATUS),
            status,
            get(RecordField.OK, status == RequestStatus.COMPLETE),
            get(RecordField.ERROR),
            get(RecordField.SLO_OK),
            get(RecordField.SLO_MISSED, List.of()),
            get(RecordField.RESENT, false)),
        new ServerReport(
            get(RecordField.SERVER, Map.of()),
            get(RecordField.SERVER_NAMES, List.of()),
            get(RecordField.RATE_LIMITS, Map.of()),
            get(RecordField.RETRY_AFTER)),
        text());
  }

  private Timing timing() {
    long startLag = get(RecordField.START_LAG, 0L);
    Long queueWait = get(RecordField.QUEUE_WAIT);
    Long gateWait = get(RecordField.GATE_WAIT);
    if (!has(RecordField.GATE_WAIT) && queueWait != null) {
      gateWait = queueWait - startLag;
      RecordField.refuseImpossible(RecordField.GATE_WAIT, gateWait);
    }
    Double tpot = tpot();
    if (tpot != null) {
      RecordField.refuseImpossible(RecordField.TPOT, tpot);
    }
    return new Timing(
        required(RecordField.START),
        get(RecordField.SCHEDULED_OFFSET),
        startLag,
        gateWait,
        get(RecordField.CONNECT),
        get(RecordField.HEADERS),
        get(RecordField.FIRST_EVENT),
        get(RecordField.TTFT),
        get(RecordField.TTFO),
        get(RecordField.LATENCY),
        get(RecordField.CLOSED),
        tpot,
        get(RecordField.PACING_WAIT));
  }

  /**
   * Older files, without {@code tpot_estimated}, counted a first event of unknown size as one
   * token; their TPOT is converted.
   */
  private @Nullable Double tpot() {
    Long nanos = get(RecordField.TPOT);
    if (nanos == null) {
      return null;
    }
    double tpot = nanos;
    Integer n = get(RecordField.STREAMED_TOKENS);
    int events = get(RecordField.EVENT_COUNT, get(RecordField.EVENT_OFFSETS, NONE).length);
    if (has(RecordField.TPOT_ESTIMATED)
        || get(RecordField.FIRST_EVENT_TOKENS) != null
        || n == null
        || n <= events) {
      return tpot;
    }
    int[] choices = get(RecordField.EVENT_CHOICES, NONE);
    long firsts = Math.max(1, Arrays.stream(choices).distinct().count());
    return events <= firsts
        ? tpot
        : tpot * (n - firsts) / (n - firsts * TokenGaps.share(events, n));
  }

  private Events events() {
    int[] offsets = get(RecordField.EVENT_OFFSETS, NONE);
    return new Events(
        offsets,
        perEvent(RecordField.EVENT_TOKENS, offsets.length),
        perEvent(RecordField.EVENT_CHOICES, offsets.length),
        get(RecordField.EVENT_COUNT, offsets.length),
        get(RecordField.COALESCED_EVENTS, 0),
        get(RecordField.LATE_EVENTS, 0),
        get(RecordField.DONE, false),
        get(RecordField.STALL),
        get(RecordField.FIRST_EVENT_TOKENS));
  }

  private int[] perEvent(RecordField<int[]> field, int events) {
    int[] values = get(field, NONE);
    if (values.length > 0 && values.length != events) {
      throw new IllegalArgumentException(
          "%s has %s values for %s events".formatted(field, values.length, events));
    }
    return values;
  }

  private @Nullable Text text() {
    boolean isKept =
        has(RecordField.MESSAGES)
            || has(RecordField.PROMPT)
            || has(RecordField.ANSWER)
            || has(RecordField.REASONING);
    return isKept
        ? new Text(
            get(RecordField.MESSAGES),
            get(RecordField.PROMPT),
            get(RecordField.ANSWER),
            get(RecordField.REASONING))
        : null;
  }
}
