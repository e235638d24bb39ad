package io.github.gatlingllm.client;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decodes bytes of a response into server-sent events, by the rules of the <a
 * href="https://html.spec.whatwg.org/multipage/server-sent-events.html">WHATWG standard</a>, in
 * linear time; an event with one data line that is complete within one read is delivered in place.
 *
 * <p>It measures instead of rendering: {@link #endOfStream()} delivers a last event without its
 * blank line if its data is complete JSON, as its tokens were received; {@code event: error}
 * without data is delivered, as it is still an error; the beginning of what is not an event is
 * stored, to be quoted or read ({@link #ignored}); a line, or the data of an event, longer than
 * {@link #MAX_EVENT_BYTES} throws {@link AnswerMemory.TooLarge}.
 */
final class SseDecoder {

  /** Maximum length of a line, and of the data of one event: 8 MiB. */
  static final int MAX_EVENT_BYTES = 8 * 1024 * 1024;

  /** Maximum number of bytes that are stored of lines which are not part of an event: 64 KiB. */
  private static final int MAX_IGNORED = 64 * 1024;

  private static final int MAX_QUOTED = 160;

  private static final byte[] NONE = {};
  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};
  private static final byte[] DATA = {'d', 'a', 't', 'a'};
  private static final byte[] EVENT = {'e', 'v', 'e', 'n', 't'};

  /** Fields, and comments, that are not part of the answer. */
  private static final List<String> STANDARD = List.of(":", "id:", "retry:", "event:", "data:");

  private final ChunkParser parser;
  private final AnswerBytes line;
  private final AnswerBytes joined;

  /** Lines that are neither comments nor fields of the standard, as far as they are stored. */
  private final AnswerBytes ignored;

  private boolean firstLine = true;
  private boolean afterCarriageReturn;

  private @Nullable String type;

  /** The last type and its text, reused because most events of a stream have the same type. */
  private byte[] lastType = NONE;

  private String lastTypeText = "";
  private boolean hasData;

  /** The buffer with the only data line so far; null where the data is in {@link #joined}. */
  private byte @Nullable [] inPlace;

  private int dataFrom;
  private int dataTo;

  SseDecoder(ChunkParser parser, AnswerMemory memory) {
    this.parser = parser;
    this.line = new AnswerBytes("event", MAX_EVENT_BYTES, memory);
    this.joined = new AnswerBytes("event", MAX_EVENT_BYTES, memory);
    this.ignored = new AnswerBytes("event", MAX_EVENT_BYTES, memory);
  }

  /** Decodes the next bytes, which it does not retain. */
  void feed(byte[] bytes, int offset, int length) {
    int at = offset;
    int end = offset + length;
    if (afterCarriageReturn && at < end) {
      afterCarriageReturn = false;
      if (bytes[at] == '\n') {
        at++;
      }
    }
    while (at < end) {
      int lineEnd = lineEnd(bytes, at, end);
      if (lineEnd == end) {
        copyData();
        line.append(bytes, at, end - at);
        return;
      }
      if (line.isEmpty()) {
        line(bytes, at, lineEnd);
      } else {
        line.append(bytes, at, lineEnd - at);
        byte[] complete = line.array();
        int completeTo = line.length();
        line.clear();
        line(complete, 0, completeTo);
      }
      at = lineEnd + 1;
      if (bytes[lineEnd] == '\r') {
        if (at == end) {
          afterCarriageReturn = true;
        } else if (bytes[at] == '\n') {
          at++;
        }
      }
    }
    copyData();
  }

  /** The response has ended: delivers a pending event if its data is a complete object or array. */
  void endOfStream() {
    byte[] rest = line.array();
    int from = firstLine ? afterByteOrderMark(rest, 0, line.length()) : 0;
    if (startsWithData(rest, from, line.length())) {
      line(rest, 0, line.length());
    } else {
      ignore(rest, from, line.length());
    }
    line.clear();
    copyData();
    byte[] data = joined.array();
    int length = joined.length();
    if (hasData
        && (ChunkParser.isDone(data, 0, length)
            || ChunkParser.isComplete(data, length)
            || ChunkParser.isSeveral(data, length))) {
      dispatch();
    }
  }

  /** The beginning of what was not an event, in one line; null for nothing. */
  @Nullable String ignored() {
    String text =
        new String(
            ignored.array(), 0, Math.min(MAX_QUOTED, ignored.length()), StandardCharsets.UTF_8);
    return text.isBlank() ? null : Secrets.oneLine(text).strip();
  }

  /** Whether there may be such JSON, also in a line that has not ended yet. */
  boolean hasIgnored() {
    int length = line.length();
    return length == 0
        ? !ignored.isEmpty()
        : length <= MAX_IGNORED
            && line.array()[length - 1] == '}'
            && (!ignored.isEmpty() || line.array()[0] == '{');
  }

  /**
   * The JSON object in what was not an event, also behind the name of an unknown field; else empty.
   */
  byte[] ignoredJson() {
    byte[] begun = line.array();
    byte[] all = Arrays.copyOf(ignored.array(), ignored.length() + line.length());
    System.arraycopy(begun, 0, all, ignored.length(), line.length());
    int from = 0;
    while (from < all.length && all[from] != '{') {
      from++;
    }
    byte[] json = Arrays.copyOfRange(all, from, all.length);
    return ChunkParser.isComplete(json, json.length) ? json : NONE;
  }

  private static int lineEnd(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to && bytes[at] != '\n' && bytes[at] != '\r') {
      at++;
    }
    return at;
  }

  private void line(byte[] bytes, int from, int to) {
    int at = from;
    if (firstLine) {
      firstLine = false;
      at = afterByteOrderMark(bytes, from, to);
    }
    if (at == to) {
      dispatch();
    } else if (startsWithData(bytes, at, to)) {
      data(bytes, afterSpace(bytes, at + 5, to), to);
    } else if (bytes[at] != ':') {
      otherField(bytes, at, to);
    }
  }

  private static int afterByteOrderMark(byte[] bytes, int from, int to) {
    int end = from + BYTE_ORDER_MARK.length;
    return end <= to && Arrays.equals(bytes, from, end, BYTE_ORDER_MARK, 0, BYTE_ORDER_MARK.length)
        ? end
        : from;
  }

  private static boolean startsWithData(byte[] bytes, int from, int to) {
    return to - from >= 5
        && bytes[from] == 'd'
        && bytes[from + 1] == 'a'
        && bytes[from + 2] == 't'
        && bytes[from + 3] == 'a'
        && bytes[from + 4] == ':';
  }

  private static int afterSpace(byte[] bytes, int from, int to) {
    return from < to && bytes[from] == ' ' ? from + 1 : from;
  }

  private void otherField(byte[] bytes, int from, int to) {
    int colon = from;
    while (colon < to && bytes[colon] != ':') {
      colon++;
    }
    if (Arrays.equals(bytes, from, to, DATA, 0, DATA.length)) {
      data(bytes, to, to);
    } else if (Arrays.equals(bytes, from, colon, EVENT, 0, EVENT.length)) {
      int value = colon == to ? to : afterSpace(bytes, colon + 1, to);
      if (!Arrays.equals(bytes, value, to, lastType, 0, lastType.length)) {
        lastType = Arrays.copyOfRange(bytes, value, to);
        lastTypeText = new String(lastType, StandardCharsets.UTF_8);
      }
      type = lastTypeText.isEmpty() ? null : lastTypeText;
    } else {
      ignore(bytes, from, to);
    }
  }

  /** Stores a line that the standard ignores, unless it is one of its fields. */
  private void ignore(byte[] bytes, int from, int to) {
    String name = new String(bytes, from, Math.min(to - from, 6), StandardCharsets.ISO_8859_1);
    int stored = Math.min(to - from, MAX_IGNORED - ignored.length());
    if (stored > 0 && STANDARD.stream().noneMatch(f -> name.startsWith(f) || f.startsWith(name))) {
      ignored.append(bytes, from, stored);
      ignored.append((byte) '\n');
    }
  }

  private void data(byte[] bytes, int from, int to) {
    if (!hasData) {
      hasData = true;
      inPlace = bytes;
      dataFrom = from;
      dataTo = to;
      return;
    }
    copyData();
    joined.append((byte) '\n');
    joined.append(bytes, from, to - from);
  }

  private void copyData() {
    if (inPlace != null) {
      joined.append(inPlace, dataFrom, dataTo - dataFrom);
      inPlace = null;
    }
  }

  private void dispatch() {
    if (inPlace != null) {
      parser.event(type, inPlace, dataFrom, dataTo - dataFrom);
    } else if (hasData) {
      parser.event(type, joined.array(), 0, joined.length());
      joined.clear();
    } else if ("error".equals(type)) {
      parser.event(type, NONE, 0, 0);
    }
    type = null;
    hasData = false;
    inPlace = null;
  }
}
