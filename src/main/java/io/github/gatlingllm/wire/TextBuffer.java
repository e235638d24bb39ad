package io.github.gatlingllm.wire;

import java.nio.charset.StandardCharsets;

/**
 * Collects the pieces of a text as {@link ChunkListener#delta} gives them: bytes are copied now,
 * JSON escapes resolved once at the end. A character whose surrogate escapes, or whose UTF-8 bytes,
 * came in two pieces is whole again; what is no character becomes U+FFFD. Not thread safe.
 */
public final class TextBuffer {

  private static final int LIMIT = Integer.MAX_VALUE - 8;

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

  /** The text whose JSON string content this is. Resolving never makes it longer. */
  static String unescape(byte[] json, int from, int to) {
    byte[] plain = new byte[to - from];
    int length = 0;
    int i = from;
    while (i < to) {
      byte b = json[i++];
      if (b != '\\' || i == to) {
        plain[length++] = b;
        continue;
      }
      byte escape = json[i++];
      int unit = escape == 'u' ? hex(json, i, to) : -1;
      if (unit < 0) {
        plain[length++] = simple(escape);
        continue;
      }
      i += 4;
      if (unit >= Character.MIN_HIGH_SURROGATE && unit <= Character.MAX_HIGH_SURROGATE) {
        int low = i + 6 <= to && json[i] == '\\' && json[i + 1] == 'u' ? hex(json, i + 2, to) : -1;
        if (low >= Character.MIN_LOW_SURROGATE && low <= Character.MAX_LOW_SURROGATE) {
          i += 6;
          unit = Character.toCodePoint((char) unit, (char) low);
        }
      }
      length = utf8(unit, plain, length);
    }
    return new String(plain, 0, length, StandardCharsets.UTF_8);
  }

  private static byte simple(byte escape) {
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
  private static int hex(byte[] json, int from, int to) {
    if (from + 4 > to) {
      return -1;
    }
    int value = 0;
    for (int i = from; i < from + 4; i++) {
      int digit = Character.digit(json[i], 16);
      if (digit < 0) {
        return -1;
      }
      value = (value << 4) | digit;
    }
    return value;
  }

  /** Writes a code point, U+FFFD for a lone surrogate; returns the new length. */
  private static int utf8(int codePoint, byte[] out, int length) {
    boolean lone = codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    int c = lone ? 0xFFFD : codePoint;
    int n = length;
    if (c < 0x80) {
      out[n++] = (byte) c;
    } else if (c < 0x800) {
      out[n++] = (byte) (0xC0 | (c >> 6));
      out[n++] = continuation(c);
    } else if (c < 0x10000) {
      out[n++] = (byte) (0xE0 | (c >> 12));
      out[n++] = continuation(c >> 6);
      out[n++] = continuation(c);
    } else {
      out[n++] = (byte) (0xF0 | (c >> 18));
      out[n++] = continuation(c >> 12);
      out[n++] = continuation(c >> 6);
      out[n++] = continuation(c);
    }
    return n;
  }

  private static byte continuation(int bits) {
    return (byte) (0x80 | (bits & 0x3F));
  }
}
