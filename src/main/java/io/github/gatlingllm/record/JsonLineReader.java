package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.Closeable;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The keys and values of one JSON object, read one after the other; the counterpart of {@link
 * JsonLine}. A value of the wrong kind is an {@link IllegalArgumentException} that names its key.
 */
final class JsonLineReader implements Closeable {

  private static final JsonFactory JSON = new JsonFactory();
  private static final int[] NONE = {};
  private static final int LONGEST_BY_HAND = 19; // 123456789.123456789

  private final byte[] line;
  private final int offset;
  private final JsonParser json;
  private String key = "";

  JsonLineReader(byte[] line, int offset, int length) throws IOException {
    this.line = line;
    this.offset = offset;
    this.json = JSON.createParser(line, offset, length);
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw new IllegalArgumentException("not a JSON object");
    }
  }

  /** The next key, its value to be read or skipped next; null at the end of the object. */
  @Nullable String next() throws IOException {
    String name = json.nextFieldName();
    if (name != null) {
      key = name;
      json.nextToken();
    } else if (json.nextToken() != null) {
      throw new IllegalArgumentException("more than one JSON object");
    }
    return name;
  }

  void skip() throws IOException {
    json.skipChildren();
  }

  @Nullable String text() throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_STRING -> json.getText();
      default -> throw wrong("text");
    };
  }

  @Nullable Boolean flag() {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw wrong("true or false");
    };
  }

  @Nullable Integer integer() throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_NUMBER_INT -> json.getIntValue();
      default -> throw wrong("an integer");
    };
  }

  @Nullable Long whole() throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_NUMBER_INT -> json.getLongValue();
      default -> throw wrong("an integer");
    };
  }

  /** Seconds, in nanoseconds: exact to the nanosecond, which a double would not be. */
  @Nullable Long seconds() throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> nanos();
      default -> throw wrong("seconds");
    };
  }

  <E extends Enum<E>> @Nullable E constant(Class<E> type) throws IOException {
    String name = text();
    if (name == null) {
      return null;
    }
    for (E constant : type.getEnumConstants()) {
      if (constant.name().equalsIgnoreCase(name)) {
        return constant;
      }
    }
    throw new IllegalArgumentException(
        key
            + " '"
            + name
            + "' is unknown; expected one of "
            + Arrays.toString(type.getEnumConstants()).toLowerCase(Locale.ROOT));
  }

  List<String> texts() throws IOException {
    List<String> texts = new ArrayList<>();
    while (nextElement()) {
      String text = text();
      if (text == null) {
        throw wrong("text");
      }
      texts.add(text);
    }
    return texts.isEmpty() ? List.of() : Collections.unmodifiableList(texts);
  }

  int[] integers() throws IOException {
    int[] integers = NONE;
    int size = 0;
    while (nextElement()) {
      if (size == integers.length) {
        integers = Arrays.copyOf(integers, Math.max(32, size * 2));
      }
      if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
        throw wrong("integers");
      }
      integers[size++] = json.getIntValue();
    }
    return size == integers.length ? integers : Arrays.copyOf(integers, size);
  }

  /** Numbers by name, in the order of the file; what is not a number is skipped. */
  Map<String, Double> numbers() throws IOException {
    if (json.currentToken() == JsonToken.VALUE_NULL) {
      return Map.of();
    }
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw wrong("an object");
    }
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

  /** The value as it is written, whatever it is; null for null. */
  @Nullable String raw() throws IOException {
    if (json.currentToken() == JsonToken.VALUE_NULL) {
      return null;
    }
    int from = offset + (int) json.currentTokenLocation().getByteOffset();
    json.skipChildren();
    json.finishToken();
    int to = offset + (int) json.currentLocation().getByteOffset();
    return new String(line, from, to - from, StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    json.close();
  }

  /** Moves to the next element of an array; null is an empty one. */
  private boolean nextElement() throws IOException {
    if (json.currentToken() == JsonToken.VALUE_NULL && !json.getParsingContext().inArray()) {
      return false;
    }
    if (!json.getParsingContext().inArray()) {
      throw wrong("an array");
    }
    return json.nextToken() != JsonToken.END_ARRAY;
  }

  private long nanos() throws IOException {
    char[] text = json.getTextCharacters();
    int from = json.getTextOffset();
    int length = json.getTextLength();
    if (length > LONGEST_BY_HAND) {
      return decimal();
    }
    boolean negative = text[from] == '-';
    long value = 0;
    int decimals = -1;
    for (int i = from + (negative ? 1 : 0); i < from + length; i++) {
      char c = text[i];
      if (c == '.') {
        decimals = 0;
      } else if (c < '0' || c > '9' || decimals == 9 || (decimals < 0 && i - from >= 9)) {
        return decimal();
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

  private long decimal() throws IOException {
    try {
      return new BigDecimal(json.getText())
          .movePointRight(9)
          .setScale(0, RoundingMode.HALF_UP)
          .longValueExact();
    } catch (ArithmeticException e) {
      throw wrong("seconds");
    }
  }

  private IllegalArgumentException wrong(String expected) {
    return new IllegalArgumentException(
        key + " is " + json.currentToken() + "; expected " + expected);
  }
}
