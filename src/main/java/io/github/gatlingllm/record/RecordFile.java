package io.github.gatlingllm.record;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Reads {@code llm/requests.jsonl} as a stream. Memory is bounded by the longest line, not by the
 * length of the file.
 *
 * <pre>
 *   requests.jsonl                              written by Recorder, in whole lines
 *   ┌───────────────────────────────────────┐
 *   │ {"request_id":…,"messages":…}      LF │  line 1: a record of RecordCodec, UTF-8
 *   │ {"request_id":…}                   LF │  line 2
 *   │ {"request_id":…,"na                LF │  cut off by a full disk: skipped, reported
 *   │                                    LF │  empty: skipped
 *   │ {"request_id":…}                   LF │
 *   │ {"request_id":…}                      │  last line without LF: read if it is complete,
 *   └───────────────────────────────────────┘  otherwise (kill -9) skipped, reported in bytes
 * </pre>
 */
public final class RecordFile {

  private static final int BAD_LINES_NAMED = 5;
  private static final int LONGEST_LINE = 64 << 20;

  private final LineSink sink;
  private final int longestLine;
  private final PlainLine plain = new PlainLine();
  private final List<ReadReport.BadLine> firstBadLines = new ArrayList<>();
  private long records;
  private long badLines;
  private long lines;
  private long cutTailBytes;

  /**
   * The number of records in a file, and what is damaged in it.
   *
   * @param records records that were read
   * @param cutTailBytes size of a last line that was cut off, as after a crash; 0 if the last line
   *     is complete
   * @param badLines lines that are not a record and were skipped
   * @param firstBadLines the first five of them
   */
  public record ReadReport(
      long records, long cutTailBytes, long badLines, List<BadLine> firstBadLines) {

    public ReadReport {
      firstBadLines = List.copyOf(firstBadLines);
    }

    /**
     * A line that is not a record.
     *
     * @param number from 1
     * @param reason why not, on one line
     */
    public record BadLine(long number, String reason) {}
  }

  /** Receives records with their lines. */
  @FunctionalInterface
  public interface LineSink {

    /**
     * Receives a record.
     *
     * @param line holds its line in UTF-8, from {@code from} to before {@code to}, without line
     *     feed; valid only during the call
     */
    void take(RequestRecord record, byte[] line, int from, int to);
  }

  private RecordFile(LineSink sink, int longestLine) {
    this.sink = sink;
    this.longestLine = longestLine;
  }

  /** A record as a line of the file: UTF-8, with its line feed. */
  public static byte[] line(RequestRecord record) {
    return RecordCodec.write(record);
  }

  /**
   * Passes every record of the file to {@code sink}, in the order of the file. A record for which
   * the sink throws is reported like a damaged line, and reading continues.
   *
   * @throws UncheckedIOException if the sink throws it: it cannot write
   * @throws NoSuchFileException if the file does not exist
   * @throws IOException if the file cannot be read; damaged lines are reported instead
   */
  public static ReadReport read(Path requestsJsonl, Consumer<RequestRecord> sink)
      throws IOException {
    return readLines(requestsJsonl, (record, line, from, to) -> sink.accept(record));
  }

  /** As {@link #read(Path, Consumer)}, with the line of each record. */
  public static ReadReport readLines(Path requestsJsonl, LineSink sink) throws IOException {
    if (!Files.isRegularFile(requestsJsonl)) {
      throw new NoSuchFileException(
          requestsJsonl.toString(), null, "no such file; expected the requests.jsonl of a run");
    }
    RecordFile file = new RecordFile(sink, LONGEST_LINE);
    try (InputStream in = Files.newInputStream(requestsJsonl)) {
      file.read(in, 1 << 18);
    }
    return file.report();
  }

  /** Reads with a buffer of initially {@code size} bytes; for tests. */
  static ReadReport read(InputStream in, int size, int longestLine, Consumer<RequestRecord> sink)
      throws IOException {
    RecordFile file = new RecordFile((record, line, from, to) -> sink.accept(record), longestLine);
    file.read(in, size);
    return file.report();
  }

  private ReadReport report() {
    return new ReadReport(records, cutTailBytes, badLines, firstBadLines);
  }

  private void read(InputStream in, int initialSize) throws IOException {
    byte[] buffer = new byte[initialSize];
    int size = 0;
    long skipped = 0;
    for (int count = in.read(buffer);
        count >= 0;
        count = in.read(buffer, size, buffer.length - size)) {
      int start = 0;
      int end = size + count;
      int next = nextLine(buffer, 0, size, end, skipped);
      while (next >= 0) {
        skipped = 0;
        start = next;
        next = nextLine(buffer, start, start, end, 0);
      }
      size = end - start;
      System.arraycopy(buffer, start, buffer, 0, size);
      if (size >= longestLine) {
        skipped += size;
        size = 0;
      } else if (size == buffer.length) {
        buffer = Arrays.copyOf(buffer, size * 2);
      }
    }
    tail(buffer, size, skipped);
  }

  /**
   * Reads the line that begins at {@code start}.
   *
   * @param searched there is no line feed before this index
   * @param skipped bytes of the same line that are no longer in the buffer
   * @return where the next line begins; -1 if the line does not end before {@code end}
   */
  private int nextLine(byte[] buffer, int start, int searched, int end, long skipped) {
    RequestRecord record = skipped > 0 ? null : plain.read(buffer, start, end);
    if (record != null) {
      lines++;
      take(record, buffer, start, plain.next() - 1);
      return plain.next();
    }
    int feed = lineEnd(buffer, searched, end);
    if (feed == end) {
      return -1;
    }
    line(buffer, start, feed - start, skipped);
    return feed + 1;
  }

  /** Index of the next line feed; {@code to} if there is none. */
  static int lineEnd(byte[] buffer, int from, int to) {
    int i = from;
    while (i < to && buffer[i] != '\n') {
      i++;
    }
    return i;
  }

  private void line(byte[] buffer, int start, int length, long skipped) {
    lines++;
    if (skipped > 0) {
      bad("a line of " + (skipped + length) + " bytes; expected at most " + longestLine);
    } else if (!isBlank(buffer, start, length)) {
      RequestRecord record;
      try {
        record = RecordCodec.read(buffer, start, length);
      } catch (IOException e) {
        bad(String.valueOf(e.getMessage()));
        return;
      }
      take(record, buffer, start, start + length);
    }
  }

  private void take(RequestRecord record, byte[] line, int from, int to) {
    try {
      sink.take(record, line, from, to);
      records++;
    } catch (UncheckedIOException e) {
      throw e;
    } catch (RuntimeException e) {
      bad(RecordCodec.oneLine(String.valueOf(e.getMessage())));
    }
  }

  private void tail(byte[] buffer, int size, long skipped) {
    RequestRecord record;
    if (skipped > 0) {
      cutTailBytes = skipped + size;
      return;
    }
    try {
      record = RecordCodec.read(buffer, 0, size);
    } catch (IOException e) {
      cutTailBytes = size;
      return;
    }
    lines++;
    take(record, buffer, 0, size);
  }

  private void bad(String reason) {
    badLines++;
    if (firstBadLines.size() < BAD_LINES_NAMED) {
      firstBadLines.add(new ReadReport.BadLine(lines, reason));
    }
  }

  private static boolean isBlank(byte[] buffer, int start, int length) {
    for (int i = start; i < start + length; i++) {
      if (buffer[i] > ' ' || buffer[i] < 0) {
        return false;
      }
    }
    return true;
  }
}
