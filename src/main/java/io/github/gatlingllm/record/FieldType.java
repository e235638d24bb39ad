package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.ContentReference;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A kind of value that a record holds: how it is written to JSON, read back, and put into a cell of
 * CSV. A value of another kind is an {@link IllegalArgumentException} that goes on after the key.
 *
 * <p>Times are nanoseconds in Java and seconds with nine decimals in files: exact, which a double
 * would not be. Unpaired surrogates, which JSON readers refuse, are written as U+FFFD.
 */
final class FieldType<T> {

  static final FieldType<String> TEXT =
      new FieldType<>("text", FieldType::writeText, FieldType::text, PlainLine::text, text -> text);

  /** Text of at most {@value #LONGEST_NAME} characters: what is read beyond them is cut. */
  static final FieldType<String> LABEL =
      new FieldType<>(
          "text",
          FieldType::writeText,
          json -> cut(text(json)),
          line -> cut(line.text()),
          text -> text);

  /** Names, in CSV joined by {@code |}, and an empty cell where there is none. */
  static final FieldType<List<String>> TEXTS =
      new FieldType<>(
          "list of texts",
          FieldType::writeTexts,
          FieldType::texts,
          PlainLine::texts,
          texts -> texts.isEmpty() ? null : String.join("|", texts));

  static final FieldType<Boolean> FLAG =
      new FieldType<>(
          "true or false",
          JsonGenerator::writeBoolean,
          FieldType::flag,
          PlainLine::flag,
          Object::toString);

  /** From 0. */
  static final FieldType<Integer> INTEGER =
      new FieldType<>(
              "integer",
              JsonGenerator::writeNumber,
              FieldType::integer,
              PlainLine::integer,
              Object::toString)
          .within(0, Integer.MAX_VALUE);

  static final FieldType<Long> LONG =
      new FieldType<>(
          "integer",
          JsonGenerator::writeNumber,
          FieldType::whole,
          PlainLine::whole,
          Object::toString);

  /** A time in nanoseconds. */
  static final FieldType<Long> SECONDS =
      new FieldType<>(
              "decimal",
              FieldType::writeSeconds,
              FieldType::seconds,
              PlainLine::seconds,
              FieldType::decimals)
          .in("s");

  /** Numbers by names that the server chose; empty is written as null. */
  static final FieldType<Map<String, Double>> NUMBERS =
      new FieldType<>(
          "numbers by name", FieldType::writeNumbers, FieldType::numbers, PlainLine::numbers, null);

  /** Text that is JSON already, kept as it is written. */
  static final FieldType<String> JSON =
      new FieldType<>("JSON", FieldType::writeJson, FieldType::json, PlainLine::json, null);

  /** Events of one answer whose times are kept, and read: about two hours at 300 a second. */
  static final int MOST_EVENTS = 1 << 21;

  static final int[] NO_INTEGERS = {};
  private static final int LONGEST_NAME = 1_000;
  private static final int MOST_NAMES = 1_000;
  private static final double LARGEST_NUMBER = 1e15;
  private static final int LONGEST_BY_HAND = 19; // 123456789.123456789
  private static final Pattern UNPAIRED = Pattern.compile("\\p{Cs}");
  private static final Pattern LINE_ENDS = Pattern.compile("[\\r\\n\u0085\u2028\u2029]");

  private final String name;
  private final String unit;
  private final Writer<T> writer;
  private final Reader<T> reader;
  private final Function<PlainLine, @Nullable T> plain;
  private final @Nullable Function<T, @Nullable String> cell;

  private interface Writer<T> {
    void write(JsonGenerator json, T value) throws IOException;
  }

  private interface Reader<T> {
    @Nullable T read(JsonParser json) throws IOException;
  }

  private FieldType(
      String name,
      Writer<T> writer,
      Reader<T> reader,
      Function<PlainLine, @Nullable T> plain,
      @Nullable Function<T, @Nullable String> cell) {
    this(name, "", writer, reader, plain, cell);
  }

  private FieldType(
      String name,
      String unit,
      Writer<T> writer,
      Reader<T> reader,
      Function<PlainLine, @Nullable T> plain,
      @Nullable Function<T, @Nullable String> cell) {
    this.name = name;
    this.unit = unit;
    this.writer = writer;
    this.reader = reader;
    this.plain = plain;
    this.cell = cell;
  }

  /** The same with a unit. */
  FieldType<T> in(String other) {
    return new FieldType<>(name, other, writer, reader, plain, cell);
  }

  /** The same, read only where it is in that range. */
  FieldType<T> within(long least, long most) {
    return new FieldType<>(
        name,
        unit,
        writer,
        json -> checked(reader.read(json), least, most),
        line -> checked(plain.apply(line), least, most),
        cell);
  }

  private @Nullable T checked(@Nullable T value, long least, long most) {
    long number = value == null ? least : ((Number) value).longValue();
    if (number < least || number > most) {
      throw new IllegalArgumentException(
          "is %s; expected %s to %s".formatted(shown(number), shown(least), shown(most)));
    }
    return value;
  }

  private String shown(long number) {
    return unit.equals("s") ? decimals(number) : Long.toString(number);
  }

  /** One number per event, each from 0 to {@code most}. */
  static FieldType<int[]> integers(int most) {
    return new FieldType<>(
        "list of integers",
        (json, values) -> json.writeArray(values, 0, values.length),
        json -> integers(json, most),
        line -> line.integers(most),
        null);
  }

  /** Constants by their names in lower case. */
  static <E extends Enum<E>> FieldType<E> constant(Class<E> type) {
    Map<String, E> byKey = new LinkedHashMap<>();
    Map<E, String> keys = new EnumMap<>(type);
    for (E constant : type.getEnumConstants()) {
      String key = constant.name().toLowerCase(Locale.ROOT);
      byKey.put(key, constant);
      keys.put(constant, key);
    }
    return new FieldType<>(
        "one of " + String.join(", ", byKey.keySet()),
        (json, value) -> json.writeString(keys.get(value)),
        json -> constant(text(json), byKey),
        line -> constant(line.text(), byKey),
        keys::get);
  }

  /** In words, e.g. {@code integer}. */
  String name() {
    return name;
  }

  /** Empty where it has none. */
  String unit() {
    return unit;
  }

  /** Whether a cell of CSV can hold it. */
  boolean hasCell() {
    return cell != null;
  }

  /** Null for an empty cell. */
  @Nullable String cell(T value) {
    return Objects.requireNonNull(cell, name).apply(value);
  }

  void write(JsonGenerator json, @Nullable T value) throws IOException {
    if (value == null) {
      json.writeNull();
    } else {
      writer.write(json, value);
    }
  }

  @Nullable T read(JsonParser json) throws IOException {
    return reader.read(json);
  }

  @Nullable T read(PlainLine line) {
    return plain.apply(line);
  }

  private static void writeText(JsonGenerator json, String text) throws IOException {
    json.writeString(paired(text));
  }

  private static String paired(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        return UNPAIRED.matcher(text).replaceAll("\ufffd");
      }
    }
    return text;
  }

  private static void writeTexts(JsonGenerator json, List<String> texts) throws IOException {
    json.writeStartArray();
    for (String text : texts) {
      writeText(json, text);
    }
    json.writeEndArray();
  }

  /**
   * In digits, as {@link #nanos} reads them: with a {@link BigDecimal} for each of a dozen times
   * records of 20 events are written 38 % and read 29 % slower.
   */
  private static void writeSeconds(JsonGenerator json, long nanos) throws IOException {
    char[] text = new char[21]; // -9223372036.854775808
    int at = text.length;
    long rest = nanos;
    for (int digits = 0; rest != 0 || digits < 10; digits++) {
      if (digits == 9) {
        text[--at] = '.';
      }
      text[--at] = (char) ('0' + Math.abs(rest % 10));
      rest /= 10;
    }
    if (nanos < 0) {
      text[--at] = '-';
    }
    json.writeNumber(text, at, text.length - at);
  }

  private static String decimals(long nanos) {
    return BigDecimal.valueOf(nanos, 9).toPlainString();
  }

  /** What is not finite is left out. */
  private static void writeNumbers(JsonGenerator json, Map<String, Double> numbers)
      throws IOException {
    if (numbers.isEmpty()) {
      json.writeNull();
      return;
    }
    json.writeStartObject();
    for (Map.Entry<String, Double> number : numbers.entrySet()) {
      double value = number.getValue();
      if (Double.isFinite(value)) {
        json.writeFieldName(paired(number.getKey()));
        if (value == Math.rint(value) && Math.abs(value) < 1e15) {
          json.writeNumber((long) value);
        } else {
          json.writeNumber(BigDecimal.valueOf(value).toPlainString());
        }
      }
    }
    json.writeEndObject();
  }

  /** On one line: what ends a line is white space between values, and is escaped in texts. */
  private static void writeJson(JsonGenerator json, String raw) throws IOException {
    String line =
        LINE_ENDS
            .matcher(paired(raw))
            .replaceAll(
                end -> {
                  char c = end.group().charAt(0);
                  return c < ' ' ? " " : "\\\\u%04x".formatted((int) c);
                });
    json.writeRawValue(line);
  }

  private static @Nullable String text(JsonParser json) throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_STRING -> json.getText();
      default -> throw wrong(json, "text");
    };
  }

  private static <E> @Nullable E constant(@Nullable String name, Map<String, E> byKey) {
    E constant = name == null ? null : byKey.get(name.toLowerCase(Locale.ROOT));
    if (constant == null && name != null) {
      throw new IllegalArgumentException(
          "'" + name + "' is unknown; expected one of " + byKey.keySet());
    }
    return constant;
  }

  private static @Nullable String cut(@Nullable String text) {
    return text == null || text.length() <= LONGEST_NAME
        ? text
        : text.substring(0, LONGEST_NAME - 1) + "…";
  }

  private static List<String> texts(JsonParser json) throws IOException {
    List<String> texts = new ArrayList<>(0);
    while (nextElement(json)) {
      if (json.currentToken() != JsonToken.VALUE_STRING) {
        throw wrong(json, "text");
      }
      if (texts.size() == MOST_NAMES) {
        throw new IllegalArgumentException("has more than " + MOST_NAMES + " values");
      }
      texts.add(cut(json.getText()));
    }
    return texts.isEmpty() ? List.of() : Collections.unmodifiableList(texts);
  }

  private static @Nullable Boolean flag(JsonParser json) {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw wrong(json, "true or false");
    };
  }

  private static @Nullable Integer integer(JsonParser json) throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_NUMBER_INT -> json.getIntValue();
      default -> throw wrong(json, "an integer");
    };
  }

  private static @Nullable Long whole(JsonParser json) throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_NUMBER_INT -> json.getLongValue();
      default -> throw wrong(json, "an integer");
    };
  }

  private static int[] integers(JsonParser json, int most) throws IOException {
    int[] integers = NO_INTEGERS;
    int size = 0;
    while (nextElement(json)) {
      if (size == integers.length) {
        integers = Arrays.copyOf(integers, Math.max(32, size * 2));
      }
      if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
        throw wrong(json, "integers");
      }
      int value = json.getIntValue();
      if (value < 0 || value > most || size == MOST_EVENTS) {
        throw new IllegalArgumentException(
            "has %d as value %d; expected 0 to %d, at most %d values"
                .formatted(value, size + 1, most, MOST_EVENTS));
      }
      integers[size++] = value;
    }
    return size == integers.length ? integers : Arrays.copyOf(integers, size);
  }

  /** Moves to the next element of an array; null is an empty one. */
  private static boolean nextElement(JsonParser json) throws IOException {
    if (!json.getParsingContext().inArray()) {
      if (json.currentToken() == JsonToken.VALUE_NULL) {
        return false;
      }
      throw wrong(json, "an array");
    }
    return json.nextToken() != JsonToken.END_ARRAY;
  }

  /** In the order of the file; what is not a number that a server may mean is skipped. */
  private static Map<String, Double> numbers(JsonParser json) throws IOException {
    if (json.currentToken() == JsonToken.VALUE_NULL) {
      return Map.of();
    }
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw wrong(json, "an object");
    }
    Map<String, Double> numbers = new LinkedHashMap<>();
    for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
      if (json.nextToken().isNumeric() && numbers.size() < MOST_NAMES) {
        double value = json.getDoubleValue();
        if (Math.abs(value) <= LARGEST_NUMBER) {
          numbers.put(cut(name), value);
        }
      } else {
        json.skipChildren();
      }
    }
    return Collections.unmodifiableMap(numbers);
  }

  /** Needs a parser of bytes that keeps its source; see {@link RecordCodec}. */
  private static @Nullable String json(JsonParser json) throws IOException {
    if (json.currentToken() == JsonToken.VALUE_NULL) {
      return null;
    }
    JsonLocation start = json.currentTokenLocation();
    json.skipChildren();
    json.finishToken();
    ContentReference line = start.contentReference();
    int from = (int) start.getByteOffset();
    int length = (int) json.currentLocation().getByteOffset() - from;
    byte[] bytes = (byte[]) line.getRawContent();
    return new String(bytes, line.contentOffset() + from, length, StandardCharsets.UTF_8);
  }

  private static @Nullable Long seconds(JsonParser json) throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> nanos(json);
      default -> throw wrong(json, "seconds");
    };
  }

  private static long nanos(JsonParser json) throws IOException {
    char[] text = json.getTextCharacters();
    int from = json.getTextOffset();
    int length = json.getTextLength();
    if (length > LONGEST_BY_HAND) {
      return roundedNanos(json);
    }
    boolean negative = text[from] == '-';
    long value = 0;
    int decimals = -1;
    for (int i = from + (negative ? 1 : 0); i < from + length; i++) {
      char c = text[i];
      if (c == '.') {
        decimals = 0;
      } else if (c < '0' || c > '9' || decimals == 9 || (decimals < 0 && i - from >= 9)) {
        return roundedNanos(json);
      } else {
        value = value * 10 + (c - '0');
        decimals = decimals < 0 ? decimals : decimals + 1;
      }
    }
    for (int i = Math.max(decimals, 0); i < 9; i++) {
      value *= 10;
    }
    return negative ? -value : value;
  }

  private static long roundedNanos(JsonParser json) throws IOException {
    BigDecimal seconds = new BigDecimal(json.getText());
    // Before anything is computed: 1e999999999 would take a gigabyte of digits.
    long digits = (long) seconds.precision() - seconds.scale();
    if (digits < -9) {
      return 0;
    }
    try {
      if (digits <= LONGEST_BY_HAND) {
        return seconds.movePointRight(9).setScale(0, RoundingMode.HALF_UP).longValueExact();
      }
    } catch (ArithmeticException e) {
      // falls through: more than a long holds
    }
    throw wrong(json, "seconds");
  }

  private static IllegalArgumentException wrong(JsonParser json, String expected) {
    return new IllegalArgumentException("is " + json.currentToken() + "; expected " + expected);
  }
}
