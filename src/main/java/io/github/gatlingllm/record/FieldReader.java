package io.github.gatlingllm.record;

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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads values of the types of {@link FieldType} from Jackson's parser, whose current token is the
 * first one of the value. A value of another type throws an {@link IllegalArgumentException} whose
 * message continues after the key, e.g. {@code is a text; expected an integer}. Lengths and counts
 * are bounded, because a file may come from anywhere.
 */
final class FieldReader {

  static final int LONGEST_NAME = 1_000;

  private static final int MAX_NAMES = 1_000;
  private static final double LARGEST_NUMBER = 1e15;
  private static final int LONGEST_BY_HAND = 19; // 123456789.123456789

  private FieldReader() {}

  static @Nullable String text(JsonParser json) throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_STRING -> json.getText();
      default -> throw wrong(json, "text");
    };
  }

  static @Nullable String cut(@Nullable String text) {
    return text == null || text.length() <= LONGEST_NAME
        ? text
        : text.substring(0, LONGEST_NAME - 1) + "…";
  }

  static List<String> texts(JsonParser json) throws IOException {
    List<String> texts = new ArrayList<>(0);
    while (nextElement(json)) {
      if (json.currentToken() != JsonToken.VALUE_STRING) {
        throw wrong(json, "text");
      }
      if (texts.size() == MAX_NAMES) {
        throw new IllegalArgumentException("has more than " + MAX_NAMES + " values");
      }
      texts.add(cut(json.getText()));
    }
    return texts.isEmpty() ? List.of() : Collections.unmodifiableList(texts);
  }

  static @Nullable Boolean flag(JsonParser json) {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw wrong(json, "true or false");
    };
  }

  static @Nullable Integer integer(JsonParser json) throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_NUMBER_INT -> json.getIntValue();
      default -> throw wrong(json, "an integer");
    };
  }

  static @Nullable Long whole(JsonParser json) throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_NUMBER_INT -> json.getLongValue();
      default -> throw wrong(json, "an integer");
    };
  }

  static int[] integers(JsonParser json, int most) throws IOException {
    int[] integers = FieldType.NO_INTEGERS;
    int size = 0;
    while (nextElement(json)) {
      if (size == integers.length) {
        integers = Arrays.copyOf(integers, Math.max(32, size * 2));
      }
      if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
        throw wrong(json, "integers");
      }
      int value = json.getIntValue();
      if (value < 0 || value > most || size == FieldType.MAX_EVENTS) {
        throw new IllegalArgumentException(
            "has %s as value %s; expected 0 to %s, at most %s values"
                .formatted(value, size + 1, most, FieldType.MAX_EVENTS));
      }
      integers[size++] = value;
    }
    return size == integers.length ? integers : Arrays.copyOf(integers, size);
  }

  /** Moves to the next element of an array; null is an empty array. */
  private static boolean nextElement(JsonParser json) throws IOException {
    if (!json.getParsingContext().inArray()) {
      if (json.currentToken() == JsonToken.VALUE_NULL) {
        return false;
      }
      throw wrong(json, "an array");
    }
    return json.nextToken() != JsonToken.END_ARRAY;
  }

  /** Numbers in the order of the file; other values and numbers above 10¹⁵ are skipped. */
  static Map<String, Double> numbers(JsonParser json) throws IOException {
    if (json.currentToken() == JsonToken.VALUE_NULL) {
      return Map.of();
    }
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw wrong(json, "an object");
    }
    Map<String, Double> numbers = new LinkedHashMap<>();
    for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
      if (json.nextToken().isNumeric() && numbers.size() < MAX_NAMES) {
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

  /** The text of any JSON value. Needs a parser that keeps its source, see {@link RecordCodec}. */
  static @Nullable String json(JsonParser json) throws IOException {
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

  static @Nullable Long seconds(JsonParser json) throws IOException {
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
    // Check the magnitude first: 1e999999999 would expand to a gigabyte of digits.
    long digits = (long) seconds.precision() - seconds.scale();
    if (digits < -9) {
      return 0;
    }
    try {
      if (digits <= LONGEST_BY_HAND) {
        return seconds.movePointRight(9).setScale(0, RoundingMode.HALF_UP).longValueExact();
      }
    } catch (ArithmeticException e) {
      // Larger than a long.
    }
    throw wrong(json, "seconds");
  }

  private static IllegalArgumentException wrong(JsonParser json, String expected) {
    String found =
        switch (json.currentToken()) {
          case VALUE_STRING -> "a text";
          case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
          case START_ARRAY -> "an array";
          case START_OBJECT -> "an object";
          default -> json.currentToken().asString();
        };
    return new IllegalArgumentException("is " + found + "; expected " + expected);
  }
}
