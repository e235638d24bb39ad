package io.github.gatlingllm.client;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Decoder of server-sent events: bytes as they arrive in, events out, by the rules of the <a
 * href="https://html.spec.whatwg.org/multipage/server-sent-events.html">WHATWG standard</a> (any
 * line end, byte order mark, comments, several data lines, unknown fields).
 *
 * <p>It departs from the standard in three points, because it measures instead of rendering:
 *
 * <ul>
 *   <li>{@link #endOfStream()} delivers a last event whose blank line is missing, when its data is
 *       whole. The tokens did arrive; a browser would drop them. Data that was cut is dropped.
 *   <li>{@code event: error} without data is an event with empty data: an error that says nothing
 *       is still an error.
 *   <li>A line, or the data of an event, longer than {@link #MAX_EVENT_BYTES} is {@link
 *       AnswerMemory.TooLarge}.
 * </ul>
 *
 * <p>An event that lies whole in one read with one data line is delivered in place; only split and
 * multi-line ones are copied. Time is linear in the bytes. Not thread safe; one per response.
 */
final class SseDecoder {

  /** The longest line, and the most data of one event: 8 MiB. */
  public static final int MAX_EVENT_BYTES = 8 * 1024 * 1024;

  /** Receives what was decoded, in order, during {@link #feed} and {@link #endOfStream}. */
  public interface Listener {
    /**
     * One event; its data lines joined by line feeds.
     *
     * @param type null unless the event field was set, e.g. {@code error}
     * @param buffer holds the data; valid during the call only
     * @param length 0 for a bare {@code data} line
     */
    void event(@Nullable String type, byte[] buffer, int offset, int length);

    /** A comment, or a blank line that ends no event: something came, nothing was said. */
    default void heartbeat() {}
  }

  private static final byte[] NONE = {};
  private static final byte[] DATA = {'d', 'a', 't', 'a'};
  private static final byte[] EVENT = {'e', 'v', 'e', 'n', 't'};

  private final Listener listener;

  /** The start of a line whose end has not come yet. */
  private final GrowingBytes line;

  /** Data of the event so far, when it is split over reads or lines. */
  private final GrowingBytes joined;

  private boolean firstLine = true;
  private boolean afterCarriageReturn;

  private @Nullable String type;

  /** The last type that was named, and its text: most events of a stream have the same. */
  private byte[] lastType = NONE;

  private String lastTypeText = "";
  private boolean hasData;

  /**
   * Where the only data line lies while it is still in place; null when it is in {@link #joined}.
   */
  private byte @Nullable [] inPlace;

  private int dataFrom;
  private int dataTo;

  public SseDecoder(Listener listener, AnswerMemory memory) {
    this(listener, memory, MAX_EVENT_BYTES);
  }

  SseDecoder(Listener listener, AnswerMemory memory, int limit) {
    this.listener = listener;
    this.line = new GrowingBytes("event", limit, memory);
    this.joined = new GrowingBytes("event", limit, memory);
  }

  /**
   * Decodes the next bytes of the response; nothing refers to {@code bytes} afterwards.
   *
   * @throws AnswerMemory.TooLarge when an event is; nothing can be decoded after that
   */
  public void feed(byte[] bytes, int offset, int length) {
    int at = offset;
    int end = offset + length;
    if (afterCarriageReturn && at < end) {
      afterCarriageReturn = false;
      if (bytes[at] == '\n') {
        at++;
      }
    }
    while (at < end) {
      int lineEnd = ByteSearch.lineEnd(bytes, at, end);
      if (lineEnd == end) {
        keepData();
        line.append(bytes, at, end);
        return;
      }
      if (line.isEmpty()) {
        line(bytes, at, lineEnd);
      } else {
        line.append(bytes, at, lineEnd);
        byte[] whole = line.array();
        int wholeTo = line.length();
        line.clear();
        line(whole, 0, wholeTo);
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
    keepData();
  }

  /** The response is over: delivers a pending event if its data is a whole object or array. */
  public void endOfStream() {
    byte[] rest = line.array();
    int from = firstLine ? afterByteOrderMark(rest, 0, line.length()) : 0;
    if (startsWithData(rest, from, line.length())) {
      line(rest, 0, line.length());
    }
    line.clear();
    keepData();
    byte[] data = joined.array();
    int length = joined.length();
    if (hasData && (ChunkParser.isDone(data, 0, length) || DocumentReader.isWhole(data, length))) {
      dispatch();
    }
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
    } else if (bytes[at] == ':') {
      listener.heartbeat();
    } else {
      otherField(bytes, at, to);
    }
  }

  private static int afterByteOrderMark(byte[] bytes, int from, int to) {
    boolean marked =
        to - from >= 3
            && bytes[from] == (byte) 0xEF
            && bytes[from + 1] == (byte) 0xBB
            && bytes[from + 2] == (byte) 0xBF;
    return marked ? from + 3 : from;
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

  /** A field other than {@code data:}; those that mean nothing to us are ignored. */
  private void otherField(byte[] bytes, int from, int to) {
    int colon = from;
    while (colon < to && bytes[colon] != ':') {
      colon++;
    }
    if (Arrays.equals(bytes, from, colon, DATA, 0, DATA.length)) {
      data(bytes, to, to);
    } else if (Arrays.equals(bytes, from, colon, EVENT, 0, EVENT.length)) {
      int value = colon == to ? to : afterSpace(bytes, colon + 1, to);
      if (!Arrays.equals(bytes, value, to, lastType, 0, lastType.length)) {
        lastType = Arrays.copyOfRange(bytes, value, to);
        lastTypeText = new String(lastType, StandardCharsets.UTF_8);
      }
      type = lastTypeText.isEmpty() ? null : lastTypeText;
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
    keepData();
    joined.append((byte) '\n');
    joined.append(bytes, from, to);
  }

  private void keepData() {
    if (inPlace != null) {
      joined.append(inPlace, dataFrom, dataTo);
      inPlace = null;
    }
  }

  private void dispatch() {
    if (inPlace != null) {
      listener.event(type, inPlace, dataFrom, dataTo - dataFrom);
    } else if (hasData) {
      listener.event(type, joined.array(), 0, joined.length());
      joined.clear();
    } else if ("error".equals(type)) {
      listener.event(type, NONE, 0, 0);
    } else {
      listener.heartbeat();
    }
    type = null;
    hasData = false;
    inPlace = null;
  }
}
