package io.github.gatlingllm.client;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Bytes of an answer: a line, a body, or a generated text whose JSON escapes are resolved at the
 * end, as a character may be split over two pieces.
 */
final class AnswerBytes {

  private static final byte[] NONE = {};
  private static final int MAX_TEXT_BYTES = 16 * 1024 * 1024;
  private static final int HEX_DIGITS = 4;

  private final String what;
  private final int limit;
  private final AnswerMemory memory;
  private byte[] array = NONE;
  private int length;

  AnswerBytes(String what, int limit, AnswerMemory memory) {
    this.what = what;
    this.limit = limit;
    this.memory = memory;
  }

  static AnswerBytes ofText(AnswerMemory memory) {
    return new AnswerBytes("text", MAX_TEXT_BYTES, memory);
  }

  void append(byte[] bytes, int offset, int added) {
    ensure(added);
    System.arraycopy(bytes, offset, array, length, added);
    length += added;
  }

  void append(byte single) {
    ensure(1);
    array[length++] = single;
  }

  /** The bytes from 0 to {@link #length()}; valid until the next append. */
  byte[] array() {
    return array;
  }

  int length() {
    return length;
  }

  boolean isEmpty() {
    return length == 0;
  }

  /** Removes the bytes; {@link #array} retains its content until the next append. */
  void clear() {
    length = 0;
    if (array.length > AnswerMemory.UNCOUNTED) {
      memory.replace(array.length, 0);
      array = NONE;
    }
  }

  String text() {
    return unescape(array, 0, length);
  }

  private void ensure(int added) {
    if (added > array.length - length) {
      long needed = (long) length + added;
      if (needed > limit) {
        throw new AnswerMemory.TooLarge(what, limit >> 20);
      }
      long doubled = Math.max(256, 2L * array.length);
      int capacity = (int) Math.max(needed, Math.min(limit, doubled));
      memory.replace(array.length, capacity);
      array = Arrays.copyOf(array, capacity);
    }
  }

  /** Resolves the escapes of a JSON string; an invalid escape loses its backslash. */
  static String unescape(byte[] json, int from, int to) {
    String text = new String(json, from, to - from, StandardCharsets.UTF_8);
    if (text.indexOf('\\') < 0) {
      return text;
    }
    StringBuilder plain = new StringBuilder(text.length());
    boolean surrogates = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c != '\\' || i + 1 == text.length()) {
        plain.append(c);
        continue;
      }
      char escape = text.charAt(++i);
      int unit = escape == 'u' ? hex(text, i + 1) : -1;
      if (unit < 0) {
        plain.append(simple(escape));
      } else {
        plain.append((char) unit);
        surrogates |= Character.isSurrogate((char) unit);
        i += HEX_DIGITS;
      }
    }
    return surrogates ? withoutLoneSurrogates(plain) : plain.toString();
  }

  private static String withoutLoneSurrogates(CharSequence text) {
    StringBuilder printable = new StringBuilder(text.length());
    text.codePoints()
        .map(point -> point <= 0xFFFF && Character.isSurrogate((char) point) ? 0xFFFD : point)
        .forEach(printable::appendCodePoint);
    return printable.toString();
  }

  private static char simple(char escape) {
    return switch (escape) {
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      default -> escape;
    };
  }

  /** Value of the four hexadecimal digits at {@code from}; −1 for none. */
  private static int hex(String text, int from) {
    int value = 0;
    for (int i = from; i < from + HEX_DIGITS; i++) {
      int digit = i < text.length() ? Character.digit(text.charAt(i), 16) : -1;
      if (digit < 0) {
        return -1;
      }
      value = (value << 4) | digit;
    }
    return value;
  }
}
