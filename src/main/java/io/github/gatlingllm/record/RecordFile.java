package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.github.gatlingllm.record.RequestRecord.AnswerPass;
import io.github.gatlingllm.record.RequestRecord.CheckedAnswer;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Identity;
import io.github.gatlingllm.record.RequestRecord.RecordedText;
import io.github.gatlingllm.record.RequestRecord.RequestOutcome;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code llm/requests.jsonl} as a stream, and writes its lines. Memory is bounded by the
 * longest line, not by the length of the file. A last line without line feed is read if it is
 * complete.
 */
@SuppressWarnings("EnumOrdinal") // an array of values, one per field
public final class RecordFile {

  private static final int[] NO_EVENTS = {};

  private static final RecordField[] ALL = RecordField.values();
  private static final FieldTable<RecordField> FIELDS =
      new FieldTable<>(
          ALL,
          RecordField::type,
          Map.of("verdict", RecordField.STATUS, "status", RecordField.HTTP_STATUS));

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.CHARSET_DETECTION)
          .enable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .build();

  private static final int MAX_NAMED_BAD_LINES = 5;
  private static final int MAX_LINE_BYTES = 64 << 20;

  private final BiConsumer<RequestRecord, ByteBuffer> sink;
  private final int longestLine;
  private final SortedMap<Long, String> firstBadLines = new TreeMap<>();
  private long records;
  private long badLines;
  private long lines;
  private long cutTailBytes;

  /**
   * The number of records in a file, lines that are none and were skipped, the numbers, from 1, of
   * the first five with the reason of each on one line, and the bytes of a last line that was cut
   * off, as after a crash.
   */
  public record ReadReport(
      long records, long cutTailBytes, long badLines, SortedMap<Long, String> firstBadLines) {

    public ReadReport {
      firstBadLines = Collections.unmodifiableSortedMap(new TreeMap<>(firstBadLines));
    }

    /** Of a file without damage. */
    public static ReadReport of(long records) {
      return new ReadReport(records, 0, 0, Collections.emptySortedMap());
    }
  }

  private RecordFile(BiConsumer<RequestRecord, ByteBuffer> sink, int longestLine) {
    this.sink = sink;
    this.longestLine = longestLine;
  }

  /** The record as one line of UTF-8, with its line feed. */
  public static byte[] line(RequestRecord record) {
    ByteArrayOutputStream line = new ByteArrayOutputStream(2_048);
    try (JsonGenerator json = JsonLines.generator(JSON, line)) {
      json.writeStartObject();
      for (RecordField field : ALL) {
        if (field.isIn(record)) {
          FIELDS.write(field, field.get(record), json);
        }
      }
      json.writeEndObject();
      json.writeRaw('\n');
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
    return line.toByteArray();
  }

  /** The record of a line without its line feed; the message of an exception is one line. */
  public static RequestRecord record(byte[] line) throws IOException {
    return record(line, 0, line.length);
  }

  private static RequestRecord record(byte[] line, int offset, int length) throws IOException {
    try (JsonParser json = JSON.createParser(line, offset, length)) {
      json.nextToken();
      ReadFields fields = new ReadFields();
      int last = FIELDS.read(json, fields.values);
      if (json.nextToken() != null) {
        throw new IllegalArgumentException("more than one JSON object");
      }
      return fields.record(last >= RecordField.MESSAGES.ordinal());
    } catch (JsonProcessingException e) {
      throw new IOException(oneLine("not valid JSON: " + e.getOriginalMessage()), e);
    } catch (IllegalArgumentException e) {
      throw new IOException(oneLine(String.valueOf(e.getMessage())), e);
    }
  }

  /**
   * Passes every record of the file to {@code sink}, in the order of the file. A record for which
   * the sink throws is reported like a damaged line, unless it throws an {@link
   * UncheckedIOException}: it cannot write.
   */
  public static ReadReport read(Path requestsJsonl, Consumer<RequestRecord> sink)
      throws IOException {
    return readLines(requestsJsonl, (record, line) -> sink.accept(record));
  }

  /** As {@link #read(Path, Consumer)}, of the first mebibyte; nothing if there is no file. */
  public static void readFirst(Path requestsJsonl, Consumer<RequestRecord> sink)
      throws IOException {
    if (Files.isRegularFile(requestsJsonl)) {
      try (InputStream in = Files.newInputStream(requestsJsonl)) {
        read(new ByteArrayInputStream(in.readNBytes(1 << 20)), 1 << 18, MAX_LINE_BYTES, sink);
      }
    }
  }

  /**
   * As {@link #read(Path, Consumer)}, with the line of each record, which is valid only during the
   * call.
   */
  public static ReadReport readLines(Path requestsJsonl, BiConsumer<RequestRecord, ByteBuffer> sink)
      throws IOException {
    if (!Files.isRegularFile(requestsJsonl)) {
      throw new NoSuchFileException(
          requestsJsonl.toString(), null, "no such file; expected the requests.jsonl of a run");
    }
    try (InputStream in = Files.newInputStream(requestsJsonl)) {
      return read(in, 1 << 18, MAX_LINE_BYTES, sink);
    }
  }

  /** Reads with a buffer of initially {@code size} bytes. */
  static ReadReport read(InputStream in, int size, int longestLine, Consumer<RequestRecord> sink)
      throws IOException {
    return read(in, size, longestLine, (record, line) -> sink.accept(record));
  }

  private static ReadReport read(
      InputStream in, int size, int longestLine, BiConsumer<RequestRecord, ByteBuffer> sink)
      throws IOException {
    RecordFile file = new RecordFile(sink, longestLine);
    JsonLines.read(in, size, longestLine, file::line);
    return new ReadReport(file.records, file.cutTailBytes, file.badLines, file.firstBadLines);
  }

  private void line(byte[] buffer, int from, int length, long skipped, boolean isLast) {
    lines++;
    if (skipped > 0 && !isLast) {
      bad("a line of " + (skipped + length) + " bytes; expected at most " + longestLine);
    }
    if (skipped > 0 || isBlank(buffer, from, length)) {
      cutTailBytes = isLast ? skipped + length : 0;
      return;
    }
    RequestRecord record;
    try {
      record = record(buffer, from, length);
    } catch (IOException e) {
      if (isLast) {
        cutTailBytes = length;
      } else {
        bad(String.valueOf(e.getMessage()));
      }
      return;
    }
    try {
      sink.accept(record, ByteBuffer.wrap(buffer, from, length));
      records++;
    } catch (UncheckedIOException e) {
      throw e;
    } catch (RuntimeException e) {
      bad(oneLine(String.valueOf(e.getMessage())));
    }
  }

  private void bad(String reason) {
    badLines++;
    if (firstBadLines.size() < MAX_NAMED_BAD_LINES) {
      firstBadLines.put(lines, reason);
    }
  }

  private static boolean isBlank(byte[] buffer, int start, int length) {
    for (int i = start; i < start + length; i++) {
      if (buffer[i] > ' ' || buffer[i] < 0) {
        return false;
      }
    }
    return true;
  }

  private static String oneLine(String message) {
    String flat = message.replaceAll("\\s+", " ");
    return flat.length() <= 160 ? flat : flat.substring(0, 160) + "…";
  }

  /** The values of a line, by the position of their field. */
  private static final class ReadFields {
    private final @Nullable Object[] values = new @Nullable Object[ALL.length];

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // of the type of its field
    private <T> @Nullable T get(RecordField field) {
      return (T) values[field.ordinal()];
    }

    private <T> T get(RecordField field, T absent) {
      T value = get(field);
      return value == null ? absent : value;
    }

    @SuppressWarnings("TypeParameterUnusedInFormals")
    private <T> T required(RecordField field) {
      T value = get(field);
      if (value == null) {
        throw new IllegalArgumentException("no " + field.key());
      }
      return value;
    }

    private RequestRecord record(boolean hasText) {
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
              session(),
              required(RecordField.TARGET),
              required(RecordField.ENDPOINT),
              get(RecordField.MODEL),
              required(RecordField.API),
              get(RecordField.STREAMED, true),
              get(RecordField.HAS_TOOLS, false),
              required(RecordField.STAGE),
              required(RecordField.PHASE),
              get(RecordField.TRACE_ID)),
          timing(),
          events(),
          new Tokens(
              get(RecordField.PROMPT_CHARS),
              get(RecordField.PROMPT_TOKENS),
              get(RecordField.PROMPT_TOKENS_LOCAL),
              get(RecordField.CACHED_TOKENS),
              get(RecordField.IDEAL_CACHED_TOKENS),
              get(RecordField.MAX_TOKENS),
              get(RecordField.OUTPUT_TOKENS),
              get(RecordField.OUTPUT_TOKENS_LOCAL),
              get(RecordField.REASONING_TOKENS),
              get(RecordField.STREAMED_TOKENS),
              get(RecordField.ESTIMATED, false),
              get(RecordField.TOKEN_SOURCE),
              get(RecordField.REFUSED_COUNTS, List.of()),
              get(RecordField.INPUTS)),
          new RequestOutcome(
              get(RecordField.FINISH_REASON),
              get(RecordField.HTTP_STATUS),
              status,
              get(RecordField.OK, status == RequestStatus.COMPLETE),
              get(RecordField.ERROR),
              get(RecordField.SLO_OK),
              get(RecordField.SLO_MISSED, List.of()),
              get(RecordField.RESENT, false),
              get(RecordField.LEFT_OPEN, false)),
          new ServerReport(
              get(RecordField.SERVER, Map.of()),
              get(RecordField.SERVER_NAMES, List.of()),
              get(RecordField.RATE_LIMITS, Map.of()),
              get(RecordField.RETRY_AFTER_S),
              get(RecordField.REPLICA),
              get(RecordField.ANSWER_ID)),
          checked(),
          hasText
              ? new RecordedText(
                  get(RecordField.MESSAGES),
                  get(RecordField.PROMPT),
                  get(RecordField.ANSWER),
                  get(RecordField.REASONING))
              : null);
    }

    private @Nullable SessionTurn session() {
      String id = get(RecordField.SESSION);
      return id == null
          ? null
          : new SessionTurn(
              id,
              get(RecordField.SESSION_S),
              get(RecordField.SESSION_TOOLS_S),
              get(RecordField.SESSION_GAP_S),
              get(RecordField.SESSION_LATE_S),
              get(RecordField.SESSION_END, false));
    }

    private @Nullable CheckedAnswer checked() {
      AnswerPass pass = get(RecordField.ANSWER_PASS);
      return pass == null
          ? null
          : new CheckedAnswer(
              pass,
              required(RecordField.ANSWER_PROMPT),
              get(RecordField.ANSWER_SAME),
              get(RecordField.ANSWER_DIFFERS_AT),
              get(RecordField.ANSWER_FAULT),
              get(RecordField.ANSWER_RIGHT));
    }

    private Timing timing() {
      Long tpot = get(RecordField.TPOT_S);
      return new Timing(
          required(RecordField.START_UNIX_NS),
          get(RecordField.SCHEDULED_OFFSET_S),
          get(RecordField.START_LAG_S, 0L),
          get(RecordField.GATE_WAIT_S),
          get(RecordField.CONNECT_S),
          get(RecordField.TTFB_S),
          get(RecordField.FIRST_EVENT_S),
          get(RecordField.TTFT_S),
          get(RecordField.TTFO_S),
          get(RecordField.LATENCY_S),
          get(RecordField.CLOSED_S),
          tpot == null ? null : (Double) (double) tpot,
          get(RecordField.PACING_WAIT_S),
          get(RecordField.ROUND_TRIP_S));
    }

    private Events events() {
      int[] offsets = get(RecordField.EVENT_OFFSETS_US, NO_EVENTS);
      return new Events(
          offsets,
          perEvent(RecordField.EVENT_TOKENS, offsets.length),
          perEvent(RecordField.EVENT_CHOICES, offsets.length),
          get(RecordField.EVENTS, offsets.length),
          get(RecordField.COALESCED_EVENTS, 0),
          get(RecordField.LATE_EVENTS, 0),
          get(RecordField.DONE, false),
          get(RecordField.STALL_S),
          get(RecordField.FIRST_EVENT_TOKENS),
          get(RecordField.TAIL_TOKENS, 0),
          get(RecordField.UNKNOWN_FIELDS, List.of()));
    }

    private int[] perEvent(RecordField field, int events) {
      int[] each = get(field, NO_EVENTS);
      if (each.length > 0 && each.length != events) {
        throw new IllegalArgumentException(
            "%s has %s values for %s events".formatted(field.key(), each.length, events));
      }
      return each;
    }
  }
}
