package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Identity;
import io.github.gatlingllm.record.RequestRecord.Outcome;
import io.github.gatlingllm.record.RequestRecord.Text;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.RunFiles.JsonLines;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Converts a {@link RequestRecord} to one line of {@code llm/requests.jsonl} and back: the fields
 * of {@link RecordField} in their order. Characters that end a line are escaped as by {@link
 * JsonLines}. An instance holds the values of a line that is being read.
 */
final class RecordCodec {

  private static final int[] NO_EVENTS = {};

  private static final Map<String, RecordField<?>> BY_KEY =
      RecordField.ALL.stream()
          .collect(Collectors.toUnmodifiableMap(RecordField::toString, field -> field));

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.CHARSET_DETECTION)
          .enable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .build();

  private final @Nullable Object[] values = new @Nullable Object[RecordField.ALL.size()];
  private boolean hasText;

  /** The field whose value is being read, which an exception names. */
  private @Nullable RecordField<?> reading;

  private RecordCodec() {}

  /** The record as one line of UTF-8, with its line feed. */
  static byte[] write(RequestRecord record) {
    ByteArrayOutputStream line = new ByteArrayOutputStream(2_048);
    append(record, line);
    return line.toByteArray();
  }

  static void append(RequestRecord record, OutputStream lines) {
    try (JsonGenerator json = JsonLines.generator(JSON, lines)) {
      json.writeStartObject();
      for (RecordField<?> field : RecordField.ALL) {
        if (field.isIn(record)) {
          write(field, record, json);
        }
      }
      json.writeEndObject();
      json.writeRaw('\n');
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  private static <T> void write(RecordField<T> field, RequestRecord record, JsonGenerator json)
      throws IOException {
    json.writeFieldName(field.key());
    field.type().write(json, field.get(record));
  }

  /**
   * Parses a line. Keys may be in any order; unknown keys are skipped.
   *
   * @param line holds the line as UTF-8, without its line feed
   * @throws IOException with a one-line message, if the line is not a record
   */
  static RequestRecord read(byte[] line, int offset, int length) throws IOException {
    RecordCodec values = new RecordCodec();
    try (JsonParser json = JSON.createParser(line, offset, length)) {
      values.read(json);
      return values.record();
    } catch (JsonProcessingException e) {
      String in = values.reading == null ? "" : " in " + values.reading;
      throw new IOException(oneLine("not valid JSON" + in + ": " + e.getOriginalMessage()), e);
    } catch (IllegalArgumentException | ArithmeticException e) {
      String in = values.reading == null ? "" : values.reading + " ";
      throw new IOException(oneLine(in + e.getMessage()), e);
    }
  }

  private void read(JsonParser json) throws IOException {
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw new IllegalArgumentException("not a JSON object");
    }
    int likely = 0;
    while (true) {
      RecordField<?> field = RecordField.ALL.get(likely);
      if (!json.nextFieldName(field.key())) {
        if (json.currentToken() != JsonToken.FIELD_NAME) {
          break;
        }
        field = BY_KEY.get(json.currentName());
      }
      json.nextToken();
      if (field == null) {
        json.skipChildren();
      } else {
        reading = field;
        values[field.index()] = field.type().read(json);
        reading = null;
        hasText |= field.isText();
        likely = (field.index() + 1) % RecordField.ALL.size();
      }
    }
    if (json.nextToken() != null) {
      throw new IllegalArgumentException("more than one JSON object");
    }
  }

  @SuppressWarnings("unchecked") // a value is read by the type of its field
  private <T> @Nullable T get(RecordField<T> field) {
    return (T) values[field.index()];
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

  private RequestRecord record() {
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
        hasText
            ? new Text(
                get(RecordField.MESSAGES),
                get(RecordField.PROMPT),
                get(RecordField.ANSWER),
                get(RecordField.REASONING))
            : null);
  }

  private Timing timing() {
    Long tpot = get(RecordField.TPOT);
    return new Timing(
        required(RecordField.START),
        get(RecordField.SCHEDULED_OFFSET),
        get(RecordField.START_LAG, 0L),
        get(RecordField.GATE_WAIT),
        get(RecordField.CONNECT),
        get(RecordField.HEADERS),
        get(RecordField.FIRST_EVENT),
        get(RecordField.TTFT),
        get(RecordField.TTFO),
        get(RecordField.LATENCY),
        get(RecordField.CLOSED),
        tpot == null ? null : (Double) (double) tpot,
        get(RecordField.PACING_WAIT));
  }

  private Events events() {
    int[] offsets = get(RecordField.EVENT_OFFSETS, NO_EVENTS);
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
    int[] each = get(field, NO_EVENTS);
    if (each.length > 0 && each.length != events) {
      throw new IllegalArgumentException(
          "%s has %s values for %s events".formatted(field, each.length, events));
    }
    return each;
  }

  static String oneLine(String message) {
    String flat = message.replaceAll("\\s+", " ");
    return flat.length() <= 160 ? flat : flat.substring(0, 160) + "…";
  }
}
