package io.github.gatlingllm.client;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.github.gatlingllm.client.ChunkListener.Channel;
import io.github.gatlingllm.figures.metric.Sentence;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parses the data of one event, or a complete body that was not streamed, and passes deltas, usage
 * and errors to a listener; subclasses interpret the fields of an API, in any order.
 *
 * <p>Texts are passed as bytes of the buffer: Jackson only provides their positions. Data with
 * bytes above 127 is read as ISO 8859-1, because a server may cut its output within a character,
 * which Jackson's UTF-8 parser rejects. Python servers write {@code NaN}, others leave control
 * characters unescaped.
 *
 * <p>An event that differs from the last one, {@code P + text + S}, only in its text is compared
 * instead of parsed: where the first quote of {@code S} ends the text, the parser would take the
 * same steps again. With 256 paced streams this saves about 2 of 33 µs of CPU per event, and 1.1 KB
 * of garbage.
 */
abstract class ChunkParser {

  /** Longest data that is checked for {@code [DONE]}, with white space around it. */
  private static final int MAX_DONE_BYTES = 64;

  /** A million levels need about 70 MiB; deeper documents are rejected to protect the heap. */
  private static final int MAX_DEPTH = 1 << 20;

  static final JsonFactory JSON =
      new JsonFactoryBuilder()
          .disable(JsonFactory.Feature.CHARSET_DETECTION)
          .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
          .enable(JsonReadFeature.ALLOW_BACKSLASH_ESCAPING_ANY_CHARACTER)
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .enable(JsonReadFeature.ALLOW_LEADING_ZEROS_FOR_NUMBERS)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNameLength(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private static final int MAX_LEARNED_BYTES = 8 * 1024;

  /** Longer numbers are not parsed: the time to parse digits is quadratic. */
  private static final int MAX_DIGITS = 400;

  private static final JsonParser EMPTY = parser(new byte[0], 0, 0);

  /** Of an error event without data; its message may come in the next event. */
  static final String NO_MESSAGE = Sentence.text("server_error", null, null);

  static final TextBytes NOTHING = new TextBytes(Channel.CONTENT, new byte[0], 0, 0, -1, null);

  private final ChunkListener listener;
  private final boolean endsWithDone;

  JsonParser json = EMPTY;
  byte[] buffer = {};
  private int from;
  private int to;

  boolean errorField;
  private boolean hasId;

  int index;

  /** The last event that contained one delta and nothing else; empty for none. */
  private byte[] learned = {};

  private TextBytes learnedText = NOTHING;

  private int learnedIndex;
  private int deltas;
  private boolean onlyDeltas;
  private TextBytes lastDelta = NOTHING;
  private int lastIndex;

  /**
   * Content of a JSON string, by its position.
   *
   * @param call index of the tool call that it is of; −1 where the server states none
   * @param callId the id of that call; null where the server states none
   */
  @SuppressWarnings("ArrayRecordComponent") // a position in a buffer, never compared
  record TextBytes(
      Channel channel, byte[] bytes, int from, int to, int call, @Nullable TextBytes callId) {

    TextBytes with(Channel otherChannel, int otherCall, @Nullable TextBytes otherId) {
      return new TextBytes(otherChannel, bytes, from, to, otherCall, otherId);
    }

    boolean isEmpty() {
      return from >= to;
    }

    String text() {
      return AnswerBytes.unescape(bytes, from, to);
    }
  }

  /** The data is not valid JSON; its message is a case of {@code malformed}. */
  private static final class Malformed extends Exception {
    private static final long serialVersionUID = 1;

    Malformed(String why) {
      super(why, null, false, false);
    }
  }

  ChunkParser(ChunkListener listener, boolean endsWithDone) {
    this.listener = listener;
    this.endsWithDone = endsWithDone;
  }

  abstract void document() throws IOException;

  /** Whether a document may begin with that. */
  boolean begins(@Nullable JsonToken first) {
    return first == JsonToken.START_OBJECT;
  }

  /**
   * Parses one event, whose data lines are joined; of its type only {@code error} counts, as the
   * data repeats it.
   */
  void event(@Nullable String type, byte[] bytes, int offset, int length) {
    if (!listener.eventBegin(bytes, offset, length)) {
      return;
    }
    if ("error".equals(type)) {
      if (isBlank(bytes, offset, length)) {
        listener.error(NO_MESSAGE);
      } else {
        report(new ErrorBody(bytes, offset, length));
      }
    } else {
      int text = learnedTextLength(bytes, offset, length);
      if (text > 0) {
        pass(learnedIndex, learnedText, bytes, offset + learnedText.from(), text);
      } else if (!isBlank(bytes, offset, length)) {
        parse(bytes, offset, length);
      }
    }
    listener.eventEnd();
  }

  /** Length of the text of an event that equals the learned one apart from it; 0 for others. */
  private int learnedTextLength(byte[] bytes, int offset, int length) {
    int text = length - learned.length + learnedText.to() - learnedText.from();
    int start = offset + learnedText.from();
    return learned.length > 0
            && text > 0
            && Arrays.equals(bytes, offset, start, learned, 0, learnedText.from())
            && Arrays.equals(
                bytes, start + text, offset + length, learned, learnedText.to(), learned.length)
            && closingQuote(bytes, start, start + text + 1) == start + text
        ? text
        : 0;
  }

  private void learn() {
    if (deltas == 1
        && onlyDeltas
        && !errorField
        && lastDelta.bytes() == buffer
        && to - from <= MAX_LEARNED_BYTES
        && lastDelta.callId() == null) {
      learned = Arrays.copyOfRange(buffer, from, to);
      learnedText =
          new TextBytes(
              lastDelta.channel(),
              learned,
              lastDelta.from() - from,
              lastDelta.to() - from,
              lastDelta.call(),
              null);
      learnedIndex = lastIndex;
    }
  }

  final void body(byte[] bytes, int offset, int length) {
    parse(bytes, offset, length);
    listener.eventEnd();
  }

  private void parse(byte[] bytes, int offset, int length) {
    if (isDone(bytes, offset, length)) {
      if (endsWithDone) {
        listener.done();
      }
      return;
    }
    try {
      read(bytes, offset, offset + length);
      ErrorBody error = errorField ? new ErrorBody(bytes, offset, length) : null;
      if (error != null && error.isError()) {
        report(error);
      } else {
        learn();
      }
    } catch (Malformed malformed) {
      listener.malformed(malformed.getMessage());
    }
  }

  private void report(ErrorBody error) {
    if (error.isRateLimit()) {
      listener.rateLimited();
    }
    listener.error(error.line());
  }

  private void read(byte[] bytes, int start, int end) throws Malformed {
    buffer = bytes;
    from = start;
    to = end;
    errorField = false;
    deltas = 0;
    onlyDeltas = true;
    try (JsonParser opened = parser(bytes, start, end)) {
      json = opened;
      if (!begins(nextTokenOrInvalid())) {
        throw new Malformed("no_object");
      }
      document();
      if (nextTokenOrInvalid() != null) {
        throw new Malformed(
            isSeveral(Arrays.copyOfRange(bytes, start, end), end - start)
                ? "no_blank_line"
                : "more_than_json");
      }
    } catch (JsonProcessingException e) {
      boolean cut = e instanceof JsonEOFException || !endsWithBrace();
      throw new Malformed(cut ? "cut" : "character");
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Whether the data is {@code [DONE]}, the end of a stream without typed events. */
  static boolean isDone(byte[] bytes, int offset, int length) {
    return length <= MAX_DONE_BYTES
        && new String(bytes, offset, length, StandardCharsets.ISO_8859_1).strip().equals("[DONE]");
  }

  private static boolean isBlank(byte[] bytes, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      byte b = bytes[i];
      if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
        return false;
      }
    }
    return true;
  }

  /** Whether the bytes are one complete object or array, with only white space around it. */
  static boolean isComplete(byte[] bytes, int length) {
    String latin = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
    try (JsonParser json = JSON.createParser(latin)) {
      JsonToken first = json.nextToken();
      json.skipChildren();
      return first != null && first.isStructStart() && json.nextToken() == null;
    } catch (IOException cut) {
      return false;
    }
  }

  /**
   * Whether the bytes begin with two lines that are an event each, without a blank line between.
   */
  static boolean isSeveral(byte[] bytes, int length) {
    int first = lineEnd(bytes, 0, length);
    int second = lineEnd(bytes, Math.min(length, first + 1), length);
    byte[] next = Arrays.copyOfRange(bytes, Math.min(length, first + 1), second);
    return isComplete(bytes, first)
        && (isComplete(next, next.length) || isDone(next, 0, next.length));
  }

  private static int lineEnd(byte[] bytes, int from, int to) {
    int end = from;
    while (end < to && bytes[end] != '\n') {
      end++;
    }
    return end;
  }

  private static JsonParser parser(byte[] bytes, int from, int to) {
    try {
      for (int i = from; i < to; i++) {
        if (bytes[i] < 0) {
          return JSON.createParser(new String(bytes, from, to - from, StandardCharsets.ISO_8859_1));
        }
      }
      return JSON.createParser(bytes, from, to - from);
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private @Nullable JsonToken nextTokenOrInvalid() throws IOException {
    try {
      return json.nextToken();
    } catch (JsonProcessingException e) {
      return JsonToken.NOT_AVAILABLE;
    }
  }

  /** Moves to the value of the first field of an object; null for none. */
  final @Nullable String firstField() throws IOException {
    return json.isExpectedStartObjectToken() ? field() : null;
  }

  /** Skips the rest of the current value and moves to the next field; null at the end. */
  final @Nullable String nextField() throws IOException {
    json.skipChildren();
    return field();
  }

  private @Nullable String field() throws IOException {
    String name = json.nextFieldName();
    if (name != null) {
      json.nextToken();
    }
    return name;
  }

  final boolean firstElement() throws IOException {
    return json.isExpectedStartArrayToken() && json.nextToken() != JsonToken.END_ARRAY;
  }

  final boolean nextElement() throws IOException {
    json.skipChildren();
    return json.nextToken() != JsonToken.END_ARRAY;
  }

  final void add(Channel channel, List<TextBytes> found) {
    if (isString()) {
      found.add(string(channel));
    }
  }

  final boolean isString() {
    return json.hasToken(JsonToken.VALUE_STRING);
  }

  final void answerId() {
    if (!hasId && isString()) {
      String id = string(Channel.CONTENT).text();
      hasId = !id.isEmpty();
      listener.answerId(id);
    }
  }

  final void noteError() {
    errorField |= !json.hasToken(JsonToken.VALUE_NULL);
  }

  /** The listener, for anything but a delta: such an event is not learned. */
  final ChunkListener listener() {
    doNotLearn();
    return listener;
  }

  /** The result depends on more than the place of the text. */
  final void doNotLearn() {
    onlyDeltas = false;
  }

  final void pass(List<TextBytes> pieces) {
    for (TextBytes piece : pieces) {
      if (!piece.isEmpty()) {
        deltas++;
        lastDelta = piece;
        lastIndex = index;
        pass(index, piece, piece.bytes(), piece.from(), piece.to() - piece.from());
      }
    }
    pieces.clear();
  }

  private void pass(int choice, TextBytes piece, byte[] bytes, int offset, int length) {
    if (piece.channel().isToolCall()) {
      TextBytes id = piece.callId();
      listener.toolCall(choice, Math.max(0, piece.call()), id == null ? "" : id.text());
    }
    listener.delta(choice, piece.channel(), bytes, offset, length);
  }

  /** A count of tokens; −1 where it is unknown, for which some servers send −1. */
  final int count() throws IOException {
    double value = number();
    return value >= 0 ? (int) value : value < -1 ? Integer.MAX_VALUE : -1;
  }

  final void server(String name) throws IOException {
    double value = number();
    if (value >= 0) {
      listener().server(name, value);
    }
  }

  /** A number, also in quotes; infinite with too many digits, NaN for other values. */
  final double number() throws IOException {
    try {
      return switch (json.currentToken()) {
        case VALUE_NUMBER_INT ->
            json.getTextLength() > MAX_DIGITS
                ? Double.POSITIVE_INFINITY
                : json.getNumberValue().doubleValue(); // faster than parsing decimals
        case VALUE_NUMBER_FLOAT ->
            json.getTextLength() > MAX_DIGITS ? Double.NaN : json.getDoubleValue();
        case VALUE_STRING ->
            json.getTextLength() > MAX_DIGITS ? Double.NaN : Double.parseDouble(json.getText());
        default -> Double.NaN;
      };
    } catch (NumberFormatException notANumber) {
      return Double.NaN;
    }
  }

  /** The current string; empty where it is cut off, which the parser reports next. */
  final TextBytes string(Channel channel) {
    int start = offset(json.currentTokenLocation()) + 1;
    int end = closingQuote(buffer, start, to);
    return new TextBytes(channel, buffer, start, end < to ? end : start, -1, null);
  }

  /** Index of the quote that ends the string at {@code from}; {@code to} or more for none. */
  private static int closingQuote(byte[] bytes, int from, int to) {
    int end = from;
    while (end < to && bytes[end] != '"') {
      end += bytes[end] == '\\' ? 2 : 1;
    }
    return end;
  }

  /** Position in the buffer; Jackson counts bytes, or characters of a text. */
  final int offset(JsonLocation location) {
    return from + (int) Math.max(location.getByteOffset(), location.getCharOffset());
  }

  private boolean endsWithBrace() {
    int last = to - 1;
    while (last > from && buffer[last] <= ' ') {
      last--;
    }
    return buffer[last] == '}';
  }
}
