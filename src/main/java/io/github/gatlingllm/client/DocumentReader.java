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
import io.github.gatlingllm.client.ChunkParser.Channel;
import io.github.gatlingllm.client.ChunkParser.TextBuffer;
import io.github.gatlingllm.client.Template.Slot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a JSON document with Jackson's streaming parser. Subclasses interpret the fields and pass
 * their content to the listener. Not thread safe.
 *
 * <p>Texts are passed as bytes of the buffer: Jackson only provides their positions. Data with
 * bytes above 127 is read as ISO 8859-1, one character per byte, because a server may cut its
 * output within a character, which Jackson's UTF-8 parser rejects. The parser is lenient otherwise
 * too: Python servers write {@code NaN}, others leave control characters unescaped.
 *
 * <p>A chunk of 280 bytes takes about 0.45 µs of CPU and 850 bytes of garbage (Jackson's parser and
 * its contexts are new for each document), compared with 0.28 µs and none for a hand-written
 * scanner. Most chunks of OpenAI and vLLM match a {@link Template} and take 0.07 µs without garbage
 * ({@code WireThroughput}).
 */
abstract class DocumentReader {

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

  /** Longer numbers are not parsed: the time to parse digits is quadratic. */
  private static final int MAX_DIGITS = 400;

  /** Parser before the first document. */
  private static final JsonParser EMPTY = parser(new byte[0], 0, 0);

  static final Text NOTHING = new Text(Channel.CONTENT, new byte[0], 0, 0, null);

  final ChunkParser.Listener listener;

  JsonParser json = EMPTY;
  byte[] buffer = {};
  private int from;
  private int to;

  /** Whether the document has a field that may report an error. */
  boolean errorField;

  /** Number of pieces of text passed on. */
  int deltas;

  /** Whether the document contains nothing else than those pieces and usage after them. */
  boolean onlyDeltas;

  int usages;

  /** 1 for each count that the usage object had, by {@link Slot#count}; else 0. */
  final int[] reportedCounts = new int[Slot.COUNTS];

  /** Index of the current choice. */
  int index;

  private final List<Slot> slots = new ArrayList<>();
  private int deltaChoice;
  private Text lastDelta = NOTHING;

  /**
   * Content of a JSON string, by its position.
   *
   * @param bytes the buffer being read, or a copy with other escapes
   * @param call the tool call that it belongs to; null for none
   */
  @SuppressWarnings("ArrayRecordComponent") // a position in a buffer, never compared
  record Text(Channel channel, byte[] bytes, int from, int to, @Nullable Call call) {
    Text with(Channel otherChannel, @Nullable Call otherCall) {
      return new Text(otherChannel, bytes, from, to, otherCall);
    }

    boolean isEmpty() {
      return from >= to;
    }

    /** The text with resolved escapes. */
    String text() {
      return TextBuffer.unescape(bytes, from, to);
    }
  }

  /**
   * The tool call of a delta.
   *
   * @param index from the server, else the position of the call
   * @param id null where the delta has none
   */
  record Call(int index, @Nullable Text id) {}

  DocumentReader(ChunkParser.Listener listener) {
    this.listener = listener;
  }

  /** Reads the object at which the parser is positioned, and passes its content to the listener. */
  abstract void document() throws IOException;

  /**
   * Reads one document.
   *
   * @return whether the document has a field that may report an error
   * @throws Malformed if it is not a JSON object; content before the error has been passed on
   */
  final boolean read(byte[] bytes, int start, int end) throws Malformed {
    buffer = bytes;
    from = start;
    to = end;
    errorField = false;
    deltas = 0;
    usages = 0;
    slots.clear();
    onlyDeltas = true;
    try (JsonParser opened = parser(bytes, start, end)) {
      json = opened;
      if (!startsObject()) {
        throw new Malformed("data is not a JSON object");
      }
      document();
      if (!isAtEnd()) {
        throw new Malformed("JSON is followed by something else");
      }
    } catch (JsonProcessingException e) {
      boolean cut = e instanceof JsonEOFException || !endsWithBrace();
      throw new Malformed(cut ? "JSON ends too early" : "JSON has an unexpected character");
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
    return errorField;
  }

  /** Lets the template learn the document, if it contains exactly one delta and maybe usage. */
  final void teach(Template template) {
    if (deltas == 1 && onlyDeltas && areSlotsLearnable() && (usages == 0 || isUsageLearnable())) {
      slots.add(new Slot(lastDelta.from(), lastDelta.to(), Slot.TEXT));
      slots.sort(Comparator.comparingInt(Slot::from));
      Call call = lastDelta.call();
      template.learn(
          new Template.Meaning(
              deltaChoice,
              lastDelta.channel(),
              call == null ? 0 : call.index(),
              usages > 0,
              call == null || call.id() == null),
          slots,
          buffer,
          from,
          to);
    }
  }

  /** Whether all variable numbers are short enough for an int, and not negative. */
  private boolean areSlotsLearnable() {
    for (Slot slot : slots) {
      if (slot.count() != Slot.IGNORED_TEXT
          && (slot.to() - slot.from() > Slot.MAX_DIGITS || buffer[slot.from()] == '-')) {
        return false;
      }
    }
    return lastDelta.bytes() == buffer;
  }

  /** Whether usage contains integers only, each count at most once. */
  private boolean isUsageLearnable() {
    int[] learned = new int[Slot.COUNTS];
    boolean numbers = false;
    for (Slot slot : slots) {
      numbers |= slot.count() != Slot.IGNORED_TEXT;
      if (slot.count() >= 0) {
        learned[slot.count()]++;
      }
    }
    return usages == 1 && numbers && Arrays.equals(learned, reportedCounts);
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

  /** The data is not valid JSON; the message is constant per cause. */
  static final class Malformed extends Exception {
    private static final long serialVersionUID = 1;

    Malformed(String why) {
      super(why, null, false, false);
    }
  }

  private static JsonParser parser(byte[] bytes, int from, int to) {
    try {
      return ByteSearch.isAscii(bytes, from, to)
          ? JSON.createParser(bytes, from, to - from)
          : JSON.createParser(new String(bytes, from, to - from, StandardCharsets.ISO_8859_1));
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private boolean startsObject() throws IOException {
    try {
      return json.nextToken() == JsonToken.START_OBJECT;
    } catch (JsonProcessingException e) {
      return false;
    }
  }

  private boolean isAtEnd() throws IOException {
    try {
      return json.nextToken() == null;
    } catch (JsonProcessingException e) {
      return false;
    }
  }

  /** Moves to the value of the first field of an object; null where there is none. */
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

  final void ignoredText() {
    if (isString()) {
      Text ignored = string(Channel.CONTENT);
      slots.add(new Slot(ignored.from(), ignored.to(), Slot.IGNORED_TEXT));
    }
  }

  final void add(Channel channel, List<Text> found) {
    if (isString()) {
      found.add(string(channel));
    }
  }

  final boolean isString() {
    return json.hasToken(JsonToken.VALUE_STRING);
  }

  final void pass(List<Text> pieces) {
    for (Text piece : pieces) {
      int length = piece.to() - piece.from();
      if (length > 0) {
        deltas++;
        deltaChoice = index;
        lastDelta = piece;
        announce(piece);
        listener.delta(index, piece.channel(), piece.bytes(), piece.from(), length);
      }
    }
    pieces.clear();
  }

  private void announce(Text piece) {
    if (piece.channel().isToolCall()) {
      Call call = piece.call();
      Text id = call == null ? null : call.id();
      listener.toolCall(index, call == null ? 0 : call.index(), id == null ? "" : id.text());
    }
  }

  /** A count; the position of an integer is kept for the template. */
  final int count(int slot) throws IOException {
    if (json.hasToken(JsonToken.VALUE_NUMBER_INT)) {
      int start = offset(json.currentTokenLocation());
      slots.add(new Slot(start, start + json.getTextLength(), slot));
    }
    double value = number();
    // Some servers send -1 for an unknown count.
    return value >= 0 ? (int) value : value < -1 ? Integer.MAX_VALUE : -1;
  }

  final void server(String name) throws IOException {
    onlyDeltas = false;
    double value = number();
    if (value >= 0) {
      listener.server(name, value);
    }
  }

  /**
   * A number, also in quotes; infinite for an integer with too many digits, NaN for other values.
   */
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
  final Text string(Channel channel) {
    int start = offset(json.currentTokenLocation()) + 1;
    return new Text(
        channel, buffer, start, Math.max(start, ByteSearch.closingQuote(buffer, start, to)), null);
  }

  /** Position in the buffer; Jackson counts bytes, or characters of a text. */
  final int offset(JsonLocation location) {
    return from + (int) Math.max(location.getByteOffset(), location.getCharOffset());
  }

  /** Whether the last byte apart from white space closes an object. */
  private boolean endsWithBrace() {
    int last = to - 1;
    while (last > from && buffer[last] <= ' ') {
      last--;
    }
    return buffer[last] == '}';
  }
}
