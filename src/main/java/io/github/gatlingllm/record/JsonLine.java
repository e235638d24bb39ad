package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A growing buffer of JSON lines, written digit by digit: no text is made in between, because half
 * a million event times per second go through here.
 *
 * <p>Control characters and the Unicode line ends U+0085, U+2028 and U+2029 are escaped: whatever a
 * reader takes for a line end, a record stays on one line. Unpaired surrogates, which JSON readers
 * refuse, become U+FFFD. Not thread-safe.
 */
final class JsonLine implements RecordFields {

  private static final byte[] HEX = "0123456789abcdef".getBytes(US_ASCII);

  private byte[] bytes;
  private int size;

  JsonLine(int capacity) {
    bytes = new byte[capacity];
  }

  int size() {
    return size;
  }

  void truncate(int newSize) {
    size = newSize;
  }

  byte[] toBytes() {
    return Arrays.copyOf(bytes, size);
  }

  /** What was written, as a view that the next write invalidates. */
  ByteBuffer view() {
    return ByteBuffer.wrap(bytes, 0, size);
  }

  void open() {
    put('{');
  }

  /** Closes the object in place of the comma that its last value left. */
  void close() {
    closeWith('}');
  }

  void lineEnd() {
    bytes[size - 1] = '\n';
  }

  @Override
  public JsonLine key(String key) {
    room(key.length() + 3);
    bytes[size++] = '"';
    for (int i = 0; i < key.length(); i++) {
      bytes[size++] = (byte) key.charAt(i);
    }
    bytes[size++] = '"';
    bytes[size++] = ':';
    return this;
  }

  @Override
  public void text(@Nullable String value) {
    if (value == null) {
      nothing();
    } else {
      quote(value);
      put(',');
    }
  }

  /** Line ends in it can only be white space. */
  @Override
  public void json(String value) {
    int from = size;
    quote(value, false);
    for (int i = from; i < size; i++) {
      if (bytes[i] == '\n' || bytes[i] == '\r') {
        bytes[i] = ' ';
      }
    }
    put(',');
  }

  @Override
  public void texts(List<String> values) {
    put('[');
    values.forEach(this::text);
    closeWith(']');
  }

  @Override
  public void flag(@Nullable Boolean value) {
    ascii(value == null ? "null" : value ? "true" : "false");
    put(',');
  }

  @Override
  public void integer(@Nullable Integer value) {
    if (value == null) {
      nothing();
    } else {
      integer(value.longValue());
    }
  }

  @Override
  public void integer(long value) {
    digits(value);
    put(',');
  }

  @Override
  public void integers(int[] values) {
    room(values.length * 12 + 3);
    bytes[size++] = '[';
    for (int value : values) {
      digits(value);
      bytes[size++] = ',';
    }
    closeWith(']');
  }

  @Override
  public void seconds(@Nullable Long nanos) {
    if (nanos == null) {
      nothing();
    } else {
      seconds(nanos.longValue());
    }
  }

  @Override
  public void seconds(long nanos) {
    room(24);
    if (nanos < 0) {
      bytes[size++] = '-';
    }
    digits(Math.abs(nanos / 1_000_000_000L));
    bytes[size] = '.';
    long rest = Math.abs(nanos % 1_000_000_000L);
    for (int i = size + 9; i > size; i--) {
      bytes[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    size += 10;
    put(',');
  }

  /** What is not finite is left out; null where there is none. */
  @Override
  public void numbers(Map<String, Double> values) {
    if (values.isEmpty()) {
      nothing();
      return;
    }
    put('{');
    values.forEach(
        (name, value) -> {
          if (Double.isFinite(value)) {
            quote(name);
            put(':');
            number(value);
          }
        });
    closeWith('}');
  }

  private void number(double value) {
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      digits((long) value);
    } else {
      ascii(BigDecimal.valueOf(value).toPlainString());
    }
    put(',');
  }

  private void nothing() {
    ascii("null,");
  }

  private void closeWith(char bracket) {
    if (bytes[size - 1] == ',') {
      size--;
    }
    put(bracket);
    put(',');
  }

  private void put(char ascii) {
    room(1);
    bytes[size++] = (byte) ascii;
  }

  private void ascii(String text) {
    room(text.length());
    for (int i = 0; i < text.length(); i++) {
      bytes[size++] = (byte) text.charAt(i);
    }
  }

  /** Event times are ints and by far the most of what is written; their caller made the room. */
  private void digits(int value) {
    if (value < 0) {
      digits((long) value);
      return;
    }
    int length = 1;
    for (long limit = 10; value >= limit; limit *= 10) {
      length++;
    }
    size += length;
    int rest = value;
    for (int i = size - 1; i >= size - length; i--) {
      int tenth = rest / 10;
      bytes[i] = (byte) ('0' + rest - 10 * tenth);
      rest = tenth;
    }
  }

  private void digits(long value) {
    room(20);
    if (value < 0) {
      bytes[size++] = '-';
    }
    int length = 1;
    for (long rest = value / 10; rest != 0; rest /= 10) {
      length++;
    }
    size += length;
    long rest = value;
    for (int i = size - 1; length > 0; length--) {
      bytes[i--] = (byte) ('0' + Math.abs(rest % 10));
      rest /= 10;
    }
  }

  private void quote(String value) {
    put('"');
    quote(value, true);
    put('"');
  }

  private void quote(String value, boolean escaping) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      room(4);
      if (c < 0x80) {
        if (escaping && (c < ' ' || c == '"' || c == '\\' || c == 0x7f)) {
          escape(c);
        } else {
          bytes[size++] = (byte) c;
        }
      } else if (c == '\u0085' || c == '\u2028' || c == '\u2029') {
        unicode(c);
      } else if (!Character.isSurrogate(c)) {
        utf8(c);
      } else if (i + 1 < value.length() && Character.isSurrogatePair(c, value.charAt(i + 1))) {
        utf8(Character.toCodePoint(c, value.charAt(++i)));
      } else {
        utf8('\ufffd');
      }
    }
  }

  private void utf8(int point) {
    if (point < 0x800) {
      bytes[size++] = (byte) (0xc0 | (point >> 6));
    } else {
      if (point < 0x10000) {
        bytes[size++] = (byte) (0xe0 | (point >> 12));
      } else {
        bytes[size++] = (byte) (0xf0 | (point >> 18));
        continuation(point >> 12);
      }
      continuation(point >> 6);
    }
    continuation(point);
  }

  private void continuation(int bits) {
    bytes[size++] = (byte) (0x80 | (bits & 0x3f));
  }

  private void escape(char c) {
    switch (c) {
      case '"', '\\' -> ascii("\\" + c);
      case '\n' -> ascii("\\n");
      case '\r' -> ascii("\\r");
      case '\t' -> ascii("\\t");
      default -> unicode(c);
    }
  }

  private void unicode(char c) {
    ascii("\\u");
    room(4);
    for (int shift = 12; shift >= 0; shift -= 4) {
      bytes[size++] = HEX[c >> shift & 0xf];
    }
  }

  private void room(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }
}
