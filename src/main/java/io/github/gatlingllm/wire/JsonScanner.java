package io.github.gatlingllm.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A cursor over JSON bytes that walks objects and arrays without building anything. Strict where it
 * reads, fast where it skips: a container that nobody asked for is only matched bracket by bracket.
 *
 * <pre>{@code
 * scanner.enterObject();
 * while (scanner.nextKey()) {
 *   if (scanner.keyIs(NAME)) … else scanner.skip();
 * }
 * }</pre>
 *
 * <p>Every method that meets something else than JSON throws {@link MalformedJson}.
 */
final class JsonScanner {

  private static final double[] POWERS_OF_TEN = powersOfTen();

  /** Decimal digits that surely fit a double's mantissa. */
  private static final int EXACT_DIGITS = 15;

  private byte[] bytes = {};
  private int at;
  private int end;

  /** An object or array has been entered and has given no element yet. */
  private boolean entered;

  private byte[] text = bytes;
  private int textFrom;
  private int textTo;
  private boolean escaped;

  /** The form in which {@link #keyIs} wants a name. */
  static byte[] key(String name) {
    return name.getBytes(StandardCharsets.US_ASCII);
  }

  void reset(byte[] newBytes, int from, int to) {
    bytes = newBytes;
    at = from;
    end = to;
  }

  /** Whether the bytes are one object or array, closed, with nothing but white space around. */
  static boolean isWhole(byte[] bytes, int from, int to) {
    JsonScanner scanner = new JsonScanner();
    scanner.reset(bytes, from, to);
    try {
      if (!scanner.atObject() && !scanner.atArray()) {
        return false;
      }
      scanner.skip();
      scanner.expectEnd();
      return true;
    } catch (MalformedJson cut) {
      return false;
    }
  }

  boolean atObject() {
    return peek() == '{';
  }

  boolean atArray() {
    return peek() == '[';
  }

  boolean atString() {
    return peek() == '"';
  }

  /** Whether only white space is left. */
  boolean atEnd() {
    return peek() < 0;
  }

  void expectEnd() {
    if (!atEnd()) {
      throw MalformedJson.trailing();
    }
  }

  void enterObject() {
    expect('{');
    entered = true;
  }

  /** Goes to the next value of the object and remembers its key; false: the object is left. */
  boolean nextKey() {
    if (!next('}')) {
      return false;
    }
    string();
    if (escaped) {
      text = TextBuffer.unescape(bytes, textFrom, textTo).getBytes(StandardCharsets.UTF_8);
      textFrom = 0;
      textTo = text.length;
    }
    expect(':');
    return true;
  }

  /** Whether the key of the current value is this one. */
  boolean keyIs(byte[] name) {
    return textTo - textFrom == name.length
        && Arrays.equals(text, textFrom, textTo, name, 0, name.length);
  }

  void enterArray() {
    expect('[');
    entered = true;
  }

  /** Goes to the next element of the array; false: the array is left. */
  boolean nextElement() {
    return next(']');
  }

  /** Reads a string; {@link #textFrom()} and {@link #textTo()} say where its content lies. */
  void string() {
    if (peek() != '"') {
      throw fault();
    }
    int from = at + 1;
    int quote = ByteSearch.quoteOrBackslash(bytes, from, end);
    escaped = quote < end && bytes[quote] == '\\';
    if (escaped) {
      quote = ByteSearch.closingQuote(bytes, quote, end);
    }
    if (quote < 0 || quote >= end) {
      throw MalformedJson.cut();
    }
    text = bytes;
    textFrom = from;
    textTo = quote;
    at = quote + 1;
  }

  int textFrom() {
    return textFrom;
  }

  int textTo() {
    return textTo;
  }

  /** Reads a number, also one in quotes; NaN for anything else, which is skipped. */
  double number() {
    int first = peek();
    int from;
    int to;
    if (first == '"') {
      string();
      from = textFrom;
      to = textTo;
    } else {
      from = at;
      skip();
      to = at;
    }
    return first == '"' || first == '-' || isDigit(first) ? decimal(from, to) : Double.NaN;
  }

  /** Skips one value of any kind and depth. */
  void skip() {
    switch (peek()) {
      case '"' -> string();
      case '{', '[' -> skipContainer();
      case 't' -> literal("true");
      case 'f' -> literal("false");
      case 'n' -> literal("null");
      default -> skipNumber();
    }
  }

  int position() {
    return at;
  }

  void moveTo(int position) {
    at = position;
  }

  /** The next byte that is no white space, not consumed; −1 at the end. */
  private int peek() {
    int i = at;
    while (i < end) {
      byte b = bytes[i];
      if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
        at = i;
        return b & 0xFF;
      }
      i++;
    }
    at = i;
    return -1;
  }

  private void expect(char wanted) {
    if (peek() != wanted) {
      throw fault();
    }
    at++;
  }

  private MalformedJson fault() {
    return at >= end ? MalformedJson.cut() : MalformedJson.unexpected();
  }

  private boolean next(char close) {
    int found = peek();
    boolean first = entered;
    entered = false;
    if (found == close) {
      at++;
      return false;
    }
    if (!first) {
      expect(',');
    }
    return true;
  }

  private void skipContainer() {
    int depth = 0;
    int i = at;
    while (i < end) {
      switch (bytes[i]) {
        case '"' -> {
          i = ByteSearch.closingQuote(bytes, i + 1, end);
          if (i < 0) {
            throw MalformedJson.cut();
          }
        }
        case '{', '[' -> depth++;
        case '}', ']' -> {
          if (--depth == 0) {
            at = i + 1;
            return;
          }
        }
        default -> {}
      }
      i++;
    }
    throw MalformedJson.cut();
  }

  private void literal(String word) {
    int length = word.length();
    for (int i = 0; i < length; i++) {
      if (at + i >= end) {
        throw MalformedJson.cut();
      }
      if (bytes[at + i] != word.charAt(i)) {
        throw MalformedJson.unexpected();
      }
    }
    at += length;
  }

  private void skipNumber() {
    int i = at;
    if (i < end && bytes[i] == '-') {
      i++;
    }
    if (i >= end || !isDigit(bytes[i])) {
      throw i >= end ? MalformedJson.cut() : MalformedJson.unexpected();
    }
    while (i < end && isNumberPart(bytes[i])) {
      i++;
    }
    at = i;
  }

  private static boolean isDigit(int b) {
    return b >= '0' && b <= '9';
  }

  private static boolean isNumberPart(int b) {
    return isDigit(b) || b == '.' || b == 'e' || b == 'E' || b == '+' || b == '-';
  }

  /** Without garbage for plain decimals, exact because mantissa and power of ten are. */
  private double decimal(int from, int to) {
    int i = from;
    boolean negative = i < to && bytes[i] == '-';
    if (negative) {
      i++;
    }
    long digits = 0;
    int count = 0;
    int point = -1;
    for (; i < to; i++) {
      byte b = bytes[i];
      if (b == '.' && point < 0) {
        point = count;
      } else if (isDigit(b) && count < EXACT_DIGITS) {
        digits = digits * 10 + (b - '0');
        count++;
      } else {
        return parsed(from, to);
      }
    }
    if (count == 0) {
      return Double.NaN;
    }
    double value = point < 0 ? digits : digits / POWERS_OF_TEN[count - point];
    return negative ? -value : value;
  }

  private double parsed(int from, int to) {
    try {
      double value = Double.parseDouble(TextBuffer.unescape(bytes, from, to));
      return Double.isFinite(value) ? value : Double.NaN;
    } catch (NumberFormatException notANumber) {
      return Double.NaN;
    }
  }

  private static double[] powersOfTen() {
    double[] powers = new double[EXACT_DIGITS + 1];
    powers[0] = 1;
    for (int i = 1; i < powers.length; i++) {
      powers[i] = powers[i - 1] * 10;
    }
    return powers;
  }
}
