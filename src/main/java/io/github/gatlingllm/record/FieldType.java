package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.ContentReference;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The type of a field: how its values are written to JSON, read back, and written to a cell of CSV,
 * null where they do not fit into one. Times are nanoseconds in Java and seconds with nine decimals
 * in files, which is exact, unlike a double.
 */
record FieldType<T>(
    String name,
    ValueWriter<T> writer,
    ValueReader<T> reader,
    @Nullable Function<T, @Nullable String> cell) {

  static final FieldType<String> TEXT =
      new FieldType<>("text", FieldType::writeText, FieldType::readText, text -> text);

  /** Names; in CSV joined by {@code |}, and an empty cell without names. */
  static final FieldType<List<String>> TEXTS =
      new FieldType<>(
          "list of texts",
          FieldType::writeTexts,
          FieldType::readTexts,
          texts -> texts.isEmpty() ? null : String.join("|", texts));

  static final FieldType<Boolean> FLAG =
      new FieldType<>(
          "true or false",
          JsonGenerator::writeBoolean,
          JsonParser::getBooleanValue,
          Object::toString);

  static final FieldType<Integer> INTEGER =
      new FieldType<>(
          "integer", JsonGenerator::writeNumber, JsonParser::getIntValue, Object::toString);

  static final FieldType<Long> LONG =
      new FieldType<>(
          "integer", JsonGenerator::writeNumber, JsonParser::getLongValue, Object::toString);

  static final FieldType<Long> SECONDS =
      new FieldType<>(
          "decimal",
          FieldType::writeSeconds,
          FieldType::readSeconds,
          nanos -> BigDecimal.valueOf(nanos, 9).toPlainString());

  /** Numbers by names that the server chose; an empty map is written as null. */
  static final FieldType<Map<String, Double>> NUMBERS =
      new FieldType<>("numbers by name", FieldType::writeNumbers, FieldType::readNumbers, null);

  static final FieldType<String> JSON =
      new FieldType<>("JSON", FieldType::writeJson, FieldType::readJson, null);

  static final FieldType<int[]> INTEGERS =
      new FieldType<>(
          "list of integers",
          (json, values) -> json.writeArray(values, 0, values.length),
          FieldType::readIntegers,
          null);

  private static final Pattern UNPAIRED = Pattern.compile("\\p{Cs}");
  private static final Pattern LINE_ENDS = Pattern.compile("[\\r\\n\u0085\u2028\u2029]");

  private interface ValueWriter<T> {
    void write(JsonGenerator json, T value) throws IOException;
  }

  private interface ValueReader<T> {
    T read(JsonParser json) throws IOException;
  }

  /** Constants of an enum, by their keys. */
  static <E extends Enum<E> & RunInfo.Keyed> FieldType<E> constant(Class<E> type) {
    Map<String, E> byKey = new LinkedHashMap<>();
    Map<E, String> keys = new EnumMap<>(type);
    for (E constant : type.getEnumConstants()) {
      byKey.put(constant.key(), constant);
      keys.put(constant, constant.key());
    }
    return new FieldType<>(
        "one of " + String.join(", ", byKey.keySet()),
        (json, value) -> json.writeString(keys.get(value)),
        json -> {
          E constant = byKey.get(json.getText());
          if (constant == null) {
            throw new IllegalArgumentException(
                "'" + json.getText() + "' is unknown; expected one of " + byKey.keySet());
          }
          return constant;
        },
        keys::get);
  }

  @SuppressWarnings("unchecked")
  void write(JsonGenerator json, @Nullable Object value) throws IOException {
    if (value == null) {
      json.writeNull();
    } else {
      writer.write(json, (T) value);
    }
  }

  /** Reads the value that begins with the current token, which is not null. */
  T read(JsonParser json) throws IOException {
    return reader.read(json);
  }

  /** The text of a cell; null for an empty one. */
  @SuppressWarnings("unchecked")
  @Nullable String cellOf(Object value) {
    return requireNonNull(cell, name).apply((T) value);
  }

  private static void writeText(JsonGenerator json, String text) throws IOException {
    json.writeString(paired(text));
  }

  /** Replaces unpaired surrogates by U+FFFD. */
  static String paired(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        return UNPAIRED.matcher(text).replaceAll("\ufffd");
      }
    }
    return text;
  }

  private static String readText(JsonParser json) throws IOException {
    expect(JsonToken.VALUE_STRING, json, "a text");
    return json.getText();
  }

  private static void writeTexts(JsonGenerator json, List<String> texts) throws IOException {
    json.writeStartArray();
    for (String text : texts) {
      writeText(json, text);
    }
    json.writeEndArray();
  }

  private static List<String> readTexts(JsonParser json) throws IOException {
    expect(JsonToken.START_ARRAY, json, "an array");
    List<String> texts = new ArrayList<>(0);
    while (json.nextToken() != JsonToken.END_ARRAY) {
      texts.add(readText(json));
    }
    return texts.isEmpty() ? List.of() : Collections.unmodifiableList(texts);
  }

  private static int[] readIntegers(JsonParser json) throws IOException {
    expect(JsonToken.START_ARRAY, json, "an array");
    int[] integers = new int[32];
    int size = 0;
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (size == integers.length) {
        integers = Arrays.copyOf(integers, size * 2);
      }
      integers[size++] = json.getIntValue();
    }
    return Arrays.copyOf(integers, size);
  }

  /** Writes the digits itself: BigDecimal would take a quarter of the recorder's time. */
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

  /** Takes nine digits after the point as they are, as in our files: a tenth faster to read. */
  private static Long readSeconds(JsonParser json) throws IOException {
    char[] text = json.getTextCharacters();
    int from = json.getTextOffset();
    int length = json.getTextLength();
    int point = from + length - 10;
    if (length < 11 || length > 19 || text[point] != '.') {
      return roundedNanos(json.getDecimalValue());
    }
    long nanos = 0;
    for (int i = from + (text[from] == '-' ? 1 : 0); i < from + length; i++) {
      if (text[i] > '9') { // an exponent, or no number
        return roundedNanos(json.getDecimalValue());
      }
      nanos = i == point ? nanos : 10 * nanos + text[i] - '0';
    }
    return text[from] == '-' ? -nanos : nanos;
  }

  private static long roundedNanos(BigDecimal seconds) {
    // Check the magnitude first: 1e999999999 would expand to a gigabyte of digits.
    long digits = (long) seconds.precision() - seconds.scale();
    if (digits < -9) {
      return 0;
    }
    if (digits > 10) {
      throw new IllegalArgumentException("is " + seconds + "; expected seconds");
    }
    return seconds.setScale(9, RoundingMode.HALF_UP).unscaledValue().longValueExact();
  }

  /** Numbers that are not finite are left out. */
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
          json.writeNumber(BigDecimal.valueOf(value));
        }
      }
    }
    json.writeEndObject();
  }

  /** Numbers in the order of the file; other values are skipped. */
  private static Map<String, Double> readNumbers(JsonParser json) throws IOException {
    expect(JsonToken.START_OBJECT, json, "an object");
    Map<String, Double> numbers = new LinkedHashMap<>();
    for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
      if (json.nextToken().isNumeric()) {
        numbers.put(name, json.getDoubleValue());
      } else {
        json.skipChildren();
      }
    }
    return Collections.unmodifiableMap(numbers);
  }

  /**
   * Writes the value on one line: replaces line ends between values, and escapes those in texts.
   */
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

  /** The text of any value. Needs a parser with its source, see {@link RecordFile}. */
  private static String readJson(JsonParser json) throws IOException {
    JsonLocation start = json.currentTokenLocation();
    json.skipChildren();
    json.finishToken();
    ContentReference line = start.contentReference();
    int from = (int) start.getByteOffset();
    int length = (int) json.currentLocation().getByteOffset() - from;
    return new String((byte[]) line.getRawContent(), line.contentOffset() + from, length, UTF_8);
  }

  private static void expect(JsonToken expected, JsonParser json, String words) {
    if (json.currentToken() != expected) {
      throw new IllegalArgumentException("is " + json.currentToken() + "; expected " + words);
    }
  }
}
