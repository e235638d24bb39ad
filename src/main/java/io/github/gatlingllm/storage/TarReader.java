package io.github.gatlingllm.storage;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files of a tar archive one after the other: POSIX ustar and pax, and GNU's long names,
 * the formats of tar, CI servers and libraries. Skips all other entries (folders, links, devices).
 *
 * <p>Commons Compress 1.27 was tried instead. It accepts a header whose checksum is wrong, takes an
 * archive that is cut off inside a header for a complete one, and reads a long name of any size
 * into memory; and it would add four jars of 2.7 MB to the class path of every load test.
 *
 * <pre>
 *   ┌─────────┬──────────────┬─────────┬──────────────┬─ ─ ─┬──────┐
 *   │ header  │ content      │ header  │ content      │     │ 0… 0 │   blocks of 512 bytes
 *   └─────────┴──────────────┴─────────┴──────────────┴─ ─ ─┴──────┘
 *    name 0–99, size 124–135 (octal, or binary if its first bit is set), sum of bytes 148–155,
 *    type 156: '0' file, 'x' pax, lines "length key=value" about the next, 'L' its long name (GNU);
 *    "ustar" 257–261, with a 0 behind it: what comes before the name, and a slash, 345–499
 * </pre>
 */
final class TarReader extends InputStream {

  private static final int BLOCK = 512;
  private static final int LARGEST_METADATA = 1 << 20;

  private final InputStream in;
  private final byte[] header = new byte[BLOCK];

  /** Bytes of the current entry that have not been read; then the padding of its last block. */
  private long left;

  private int padding;

  TarReader(InputStream in) {
    this.in = in;
  }

  /**
   * Goes to the next file, whose content is then read from this stream.
   *
   * @return its name in the archive; null at the end
   * @throws IOException with a short message, if the archive is damaged or cut off
   */
  @Nullable String next() throws IOException {
    String name = null;
    String bytes = null;
    while (readHeader()) {
      begin(number(124, 12));
      switch (header[156]) {
        case 'L' -> {
          byte[] text = metadata();
          name = text(text, 0, text.length);
        }
        case 'x' -> {
          byte[] lines = metadata();
          name = pax(lines, "path", name);
          bytes = pax(lines, "size", bytes);
        }
        case 0, '0', '7' -> {
          if (bytes != null) {
            begin(parsed(bytes, 10));
          }
          return name == null ? name() : name;
        }
        case 'S' -> throw new IOException("it holds a sparse file; pack it without --sparse");
        case 'g', 'K' -> {
          // Defaults of all entries, or the target of a link: not needed.
        }
        default -> {
          name = null;
          bytes = null;
        }
      }
    }
    return null;
  }

  private void begin(long size) throws IOException {
    if (size < 0) {
      throw new IOException("a size in it is below 0");
    }
    left = size;
    padding = (int) (-size & (BLOCK - 1));
  }

  /** False at the end. Reads the rest of the stream then, so that gzip checks its checksum. */
  private boolean readHeader() throws IOException {
    in.skipNBytes(left);
    in.skipNBytes(padding);
    begin(0);
    int count = in.readNBytes(header, 0, BLOCK);
    if (count > 0 && count < BLOCK) {
      throw new EOFException("it ends in the middle");
    }
    int sum = 0;
    boolean isBlank = true;
    for (int i = 0; i < count; i++) {
      sum += i >= 148 && i < 156 ? ' ' : header[i] & 0xff;
      isBlank &= header[i] == 0;
    }
    if (isBlank) {
      in.transferTo(OutputStream.nullOutputStream());
      return false;
    }
    if (sum != number(148, 8)) {
      throw new IOException("the checksum of a header does not fit");
    }
    return true;
  }

  private long number(int from, int length) throws IOException {
    if (header[from] >= 0) {
      return parsed(text(header, from, length).strip(), 8);
    }
    long value = header[from] & 0x3f;
    for (int i = from + 1; i < from + length; i++) {
      value = (value << 8) | (header[i] & 0xff);
    }
    return value;
  }

  private static long parsed(String digits, int radix) throws IOException {
    try {
      return digits.isEmpty() ? 0 : Long.parseLong(digits, radix);
    } catch (NumberFormatException e) {
      throw new IOException("a number in a header is damaged", e);
    }
  }

  private String name() {
    String name = text(header, 0, 100);
    boolean isPosix = text(header, 257, 6).equals("ustar") && header[262] == 0;
    String before = isPosix ? text(header, 345, 155) : "";
    return before.isEmpty() ? name : before + "/" + name;
  }

  /** The text up to the first 0 byte. */
  private static String text(byte[] bytes, int from, int length) {
    int end = from;
    while (end < from + length && bytes[end] != 0) {
      end++;
    }
    return new String(bytes, from, end - from, UTF_8);
  }

  /** The content of an entry that describes the next one. */
  private byte[] metadata() throws IOException {
    if (left > LARGEST_METADATA) {
      throw new IOException("the name of a file in it is longer than 1 MiB");
    }
    return readAllBytes();
  }

  /** The last value of that key in lines {@code "<length of the line> <key>=<value>\n"}. */
  private static @Nullable String pax(byte[] lines, String key, @Nullable String defaultValue)
      throws IOException {
    String value = defaultValue;
    for (int at = 0; at < lines.length; ) {
      int space = at;
      while (space < lines.length && lines[space] != ' ') {
        space++;
      }
      long length = parsed(new String(lines, at, space - at, UTF_8), 10);
      if (length < space - at + 2L || length > lines.length - at) {
        throw new IOException("a pax header in it is damaged");
      }
      String line = new String(lines, space + 1, at + (int) length - space - 2, UTF_8);
      if (line.startsWith(key + "=")) {
        value = line.substring(key.length() + 1);
      }
      at += (int) length;
    }
    return value;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    if (left == 0) {
      return -1;
    }
    int count = in.read(buffer, offset, (int) Math.min(length, left));
    if (count < 0) {
      throw new EOFException("it ends in the middle");
    }
    left -= count;
    return count;
  }
}
