package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.math.BigDecimal;
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
 * The type of a field: how its values are written to JSON, read back, and written to a cell of CSV.
 * Reading a value of another type throws an {@link IllegalArgumentException} whose message
 * continues after the key.
 *
 * <p>Times are nanoseconds in Java and seconds with nine decimals in files, which is exact, unlike
 * a double. Unpaired surrogates, which JSON readers refuse, are written as U+FFFD.
 *
 * @param name for the reference page, e.g. {@code integer}
 * @param unit empty if it has none
 * @param writer of a value that is not null
 * @param reader of any JSON
 * @param plain reads the same value from a plain line
 * @param cell the text of a cell of CSV, null for an empty cell; null if values do not fit into a
 *     cell
 */
record FieldType<T>(
    String name,
    String unit,
    Writer<T> writer,
    Reader<T> reader,
    Function<PlainLine, @Nullable T> plain,
    @Nullable Function<T, @Nullable String> cell) {

  static final FieldType<String> TEXT =
      new FieldType<>(
          "text", "", FieldType::writeText, FieldReader::text, PlainLine::text, text -> text);

  /**
   * Text of at most {@value FieldReader#LONGEST_NAME} characters: what is read beyond them is cut.
   */
  static final FieldType<String> LABEL =
      new FieldType<>(
          "text",
          "",
          FieldType::writeText,
          json -> FieldReader.cut(FieldReader.text(json)),
          line -> FieldReader.cut(line.text()),
          text -> text);

  /** Names; in CSV joined by {@code |}, and an empty cell without names. */
  static final FieldType<List<String>> TEXTS =
      new FieldType<>(
          "list of texts",
          "",
          FieldType::writeTexts,
          FieldReader::texts,
          PlainLine::texts,
          texts -> texts.isEmpty() ? null : String.join("|", texts));

  static final FieldType<Boolean> FLAG =
      new FieldType<>(
          "true or false",
          "",
          JsonGenerator::writeBoolean,
          FieldReader::flag,
          PlainLine::flag,
          Object::toString);

  /** An integer from 0. */
  static final FieldType<Integer> INTEGER =
      new FieldType<>(
              "integer",
              "",
              JsonGenerator::writeNumber,
              FieldReader::integer,
              PlainLine::integer,
              Object::toString)
          .within(0, Integer.MAX_VALUE);

  static final FieldType<Long> LONG =
      new FieldType<>(
          "integer",
          "",
          JsonGenerator::writeNumber,
          FieldReader::whole,
          PlainLine::whole,
          Object::toString);

  /** A time in nanoseconds. */
  static final FieldType<Long> SECONDS =
      new FieldType<>(
              "decimal",
              "",
              FieldType::writeSeconds,
              FieldReader::seconds,
              PlainLine::seconds,
              FieldType::decimals)
          .in("s");

  /** Numbers by names that the server chose; an empty map is written as null. */
  static final FieldType<Map<String, Double>> NUMBERS =
      new FieldType<>(
          "numbers by name",
          "",
          FieldType::writeNumbers,
          FieldReader::numbers,
          PlainLine::numbers,
          null);

  /** JSON text, kept as it is. */
  static final FieldType<String> JSON =
      new FieldType<>("JSON", "", FieldType::writeJson, FieldReader::json, PlainLine::json, null);

  /** Most events of one answer whose times are kept and read: two hours at 300 per second. */
  static final int MAX_EVENTS = 1 << 21;

  static final int[] NO_INTEGERS = {};
  private static final Pattern UNPAIRED = Pattern.compile("\\p{Cs}");
  private static final Pattern LINE_ENDS = Pattern.compile("[\\r\\n\u0085\u2028\u2029]");

  interface Writer<T> {
    void write(JsonGenerator json, T value) throws IOException;
  }

  interface Reader<T> {
    @Nullable T read(JsonParser json) throws IOException;
  }

  /** The same type with a unit. */
  FieldType<T> in(String otherUnit) {
    return new FieldType<>(name, otherUnit, writer, reader, plain, cell);
  }

  /** The same type, which refuses to read values out of that range. */
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
        "",
        (json, values) -> json.writeArray(values, 0, values.length),
        json -> FieldReader.integers(json, most),
        line -> line.integers(most),
        null);
  }

  /** Constants of an enum, by their names in lower case. */
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
        "",
        (json, value) -> json.writeString(keys.get(value)),
        json -> constant(FieldReader.text(json), byKey),
        line -> constant(line.text(), byKey),
        keys::get);
  }

  /** Whether values fit into a cell of CSV. */
  boolean hasCell() {
    return cell != null;
  }

  /** The text of a cell; null for an empty one. */
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

  /** Replaces unpaired surrogates by U+FFFD. */
  static String paired(String text) {
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
   * Writes the digits itself, as {@link FieldReader} parses them: with a {@link BigDecimal} for
   * each of the dozen times of a record, records of 20 events are written 38 % and read 29 %
   * slower.
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
          json.writeNumber(BigDecimal.valueOf(value).toPlainString());
        }
      }
    }
    json.writeEndObject();
  }

  /** Keeps the value on one line: replaces line ends between values, and escapes those in texts. */
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

  private static <E> @Nullable E constant(@Nullable String name, Map<String, E> byKey) {
    E constant = name == null ? null : byKey.get(name.toLowerCase(Locale.ROOT));
    if (constant == null && name != null) {
      throw new IllegalArgumentException(
          "'" + name + "' is unknown; expected one of " + byKey.keySet());
    }
    return constant;
  }
}
