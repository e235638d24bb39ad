package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.record.RunFiles.AtomicFile;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code llm/requests.jsonl} as a stream, and writes its lines. Memory is bounded by the
 * longest line, not by the length of the file. A last line without line feed is read if it is
 * complete.
 */
public final class RecordFile {

  private static final int MAX_NAMED_BAD_LINES = 5;
  private static final int MAX_LINE_BYTES = 64 << 20;

  private final LineSink sink;
  private final int longestLine;
  private final List<BadLine> firstBadLines = new ArrayList<>();
  private long records;
  private long badLines;
  private long lines;
  private long cutTailBytes;

  /**
   * The number of records in a file, lines that are none and were skipped, the first five of them,
   * and the bytes of a last line that was cut off, as after a crash.
   */
  public record ReadReport(
      long records, long cutTailBytes, long badLines, List<BadLine> firstBadLines) {

    public ReadReport {
      firstBadLines = List.copyOf(firstBadLines);
    }
  }

  /** A line that is not a record: its number, from 1, and why, on one line. */
  public record BadLine(long number, String reason) {}

  @FunctionalInterface
  public interface LineSink {

    /** Receives a record and its line, which is valid only during the call. */
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

  /** A record of a line without its line feed; the message of an exception is one line. */
  public static RequestRecord record(byte[] line) throws IOException {
    return RecordCodec.read(line, 0, line.length);
  }

  /**
   * Passes every record of the file to {@code sink}, in the order of the file. A record for which
   * the sink throws is reported like a damaged line, unless it throws an {@link
   * UncheckedIOException}: it cannot write.
   */
  public static ReadReport read(Path requestsJsonl, Consumer<RequestRecord> sink)
      throws IOException {
    return readLines(requestsJsonl, (record, line, from, to) -> sink.accept(record));
  }

  /** As {@link #read(Path, Consumer)}, of the first mebibyte; nothing if there is no file. */
  public static void readFirst(Path requestsJsonl, Consumer<RequestRecord> sink)
      throws IOException {
    if (Files.isRegularFile(requestsJsonl)) {
      try (InputStream in = Files.newInputStream(requestsJsonl)) {
        read(new ByteArrayInputStream(in.readNBytes(1 << 20)), 1 << 18, MAX_LINE_BYTES, sink);
      }
    }
  }

  /** As {@link #read(Path, Consumer)}, with the line of each record. */
  public static ReadReport readLines(Path requestsJsonl, LineSink sink) throws IOException {
    if (!Files.isRegularFile(requestsJsonl)) {
      throw new NoSuchFileException(
          requestsJsonl.toString(), null, "no such file; expected the requests.jsonl of a run");
    }
    try (InputStream in = Files.newInputStream(requestsJsonl)) {
      return read(in, 1 << 18, MAX_LINE_BYTES, sink);
    }
  }

  /** Reads with a buffer of initially {@code size} bytes. */
  static ReadReport read(InputStream in, int size, int longestLine, Consumer<RequestRecord> sink)
      throws IOException {
    return read(in, size, longestLine, (record, line, from, to) -> sink.accept(record));
  }

  private static ReadReport read(InputStream in, int size, int longestLine, LineSink sink)
      throws IOException {
    RecordFile file = new RecordFile(sink, longestLine);
    JsonLines.read(in, size, longestLine, file::line);
    return new ReadReport(file.records, file.cutTailBytes, file.badLines, file.firstBadLines);
  }

  private void line(byte[] buffer, int from, int length, long skipped, boolean isLast) {
    lines++;
    if (skipped > 0 && !isLast) {
      bad("a line of " + (skipped + length) + " bytes; expected at most " + longestLine);
    }
    if (skipped > 0 || isBlank(buffer, from, length)) {
      cutTailBytes = isLast ? skipped + length : 0;
      return;
    }
    RequestRecord record;
    try {
      record = RecordCodec.read(buffer, from, length);
    } catch (IOException e) {
      if (isLast) {
        cutTailBytes = length;
      } else {
        bad(String.valueOf(e.getMessage()));
      }
      return;
    }
    take(record, buffer, from, from + length);
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

  private void bad(String reason) {
    badLines++;
    if (firstBadLines.size() < MAX_NAMED_BAD_LINES) {
      firstBadLines.add(new BadLine(lines, reason));
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

  /**
   * Writes records as {@code llm/requests.csv}: UTF-8, RFC 4180, the keys of {@code
   * llm/requests.jsonl} that fit into a cell. An absent value is an empty cell, and an empty text
   * is {@code ""}. Spreadsheets read a text that begins with {@code = + - @}, a tab or a line end
   * as a formula, and names may come from a server; such a text is prefixed with {@code '}.
   */
  public static final class RecordCsv implements Consumer<RequestRecord>, Closeable {

    private static final List<RecordField> COLUMNS =
        Arrays.stream(RecordField.values()).filter(RecordField::isColumn).toList();

    private final Path file;
    private final Path draft;
    private final Writer out;

    private RecordCsv(Path file, Path draft) throws IOException {
      this.file = file;
      this.draft = draft;
      // Files.newBufferedWriter would throw on the unpaired surrogates that a server may send.
      out = new BufferedWriter(new OutputStreamWriter(AtomicFile.open(draft), UTF_8), 1 << 16);
      row(RecordField::key);
    }

    /** Starts a file that {@link #finish} moves to that path. */
    public static RecordCsv create(Path requestsCsv) throws IOException {
      return new RecordCsv(requestsCsv, AtomicFile.draftOf(requestsCsv));
    }

    @Override
    public void accept(RequestRecord record) {
      try {
        row(column -> cell(column, record));
      } catch (IOException e) {
        throw new UncheckedIOException(e.getMessage(), e);
      }
    }

    private void row(Function<RecordField, @Nullable String> cells) throws IOException {
      String separator = "";
      for (RecordField column : COLUMNS) {
        out.write(separator);
        String cell = cells.apply(column);
        if (cell != null) {
          out.write(needsQuotes(cell) ? '"' + cell.replace("\"", "\"\"") + '"' : cell);
        }
        separator = ",";
      }
      out.write("\r\n");
    }

    private static @Nullable String cell(RecordField column, RequestRecord record) {
      Object value = column.get(record);
      String text = value == null ? null : column.type().cellOf(value);
      String cell = text == null ? null : PrintableText.of(text);
      boolean isFormula =
          cell != null
              && !(value instanceof Number)
              && !cell.isEmpty()
              && "=+-@\t\r\n".indexOf(cell.charAt(0)) >= 0;
      return isFormula ? "'" + cell : cell;
    }

    private static boolean needsQuotes(String cell) {
      return cell.isEmpty()
          || cell.startsWith(" ")
          || cell.endsWith(" ")
          || cell.chars().anyMatch(c -> c == ',' || c == '"' || c == '\r' || c == '\n');
    }

    /** Moves the complete file into place. */
    public void finish() throws IOException {
      out.close();
      AtomicFile.move(draft, file);
    }

    /** Deletes an incomplete file. */
    @Override
    public void close() throws IOException {
      out.close();
      Files.deleteIfExists(draft);
    }
  }
}
