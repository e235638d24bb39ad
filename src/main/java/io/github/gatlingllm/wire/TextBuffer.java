package io.github.gatlingllm.wire;

import java.nio.charset.StandardCharsets;

/**
 * Collects the pieces of a text as {@link ChunkParser.Listener#delta} gives them: bytes are copied
 * now, JSON escapes resolved once at the end. A character whose surrogate escapes, or whose UTF-8
 * bytes, came in two pieces is whole again; what is no character becomes U+FFFD. Not thread safe.
 */
public final class TextBuffer {

  private static final int LIMIT = Integer.MAX_VALUE - 8;
  private static final int HEX_DIGITS = 4;

  private final GrowingBytes escaped = new GrowingBytes(LIMIT);

  /** Adds a piece: the content of a JSON string, escapes not resolved. */
  public void append(byte[] piece, int offset, int length) {
    escaped.append(piece, offset, offset + length);
  }

  public boolean isEmpty() {
    return escaped.isEmpty();
  }

  /** The text so far. */
  public String text() {
    return unescape(escaped.array(), 0, escaped.length());
  }

  /** The text whose JSON string content this is; escapes that are none lose their backslash. */
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
    StringBuilder whole = new StringBuilder(text.length());
    text.codePoints()
        .map(point -> point <= 0xFFFF && Character.isSurrogate((char) point) ? 0xFFFD : point)
        .forEach(whole::appendCodePoint);
    return whole.toString();
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

  /** The four hexadecimal digits at {@code from}; −1 when there are none. */
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
