package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Records as {@code llm/requests.csv}: UTF-8, RFC 4180, a header and a row per record, the keys of
 * {@code llm/requests.jsonl} in their order. Left out is what no cell can hold: what comes once per
 * event, timings that the server named, and texts of prompts and answers. An absent value is an
 * empty cell, an empty text {@code ""}; lists of names are joined by {@code |}. Spreadsheets take a
 * text that begins with {@code = + - @}, a tab or a line end for a formula, so it gets a {@code '}
 * before it; a name may come from a server.
 *
 * <pre>{@code
 * try (RecordCsv csv = RecordCsv.create(requestsCsv)) {
 *   RecordFile.read(requestsJsonl, csv);
 *   csv.finish();
 * }
 * }</pre>
 *
 * <p>One record at a time is held. Not thread-safe.
 */
public final class RecordCsv implements Consumer<RequestRecord>, Closeable {

  private static final List<RecordField<?>> COLUMNS =
      RecordField.ALL.stream().filter(RecordField::isColumn).toList();

  private final Path file;
  private final Path draft;
  private final Writer out;
  private boolean hasHeader;

  private RecordCsv(Path file, Path draft) throws IOException {
    this.file = file;
    this.draft = draft;
    // an encoder of its own would refuse the unpaired surrogates that a server may send
    out = new BufferedWriter(new OutputStreamWriter(WholeFile.open(draft), UTF_8), 1 << 16);
  }

  /** Begins a file beside that one. */
  public static RecordCsv create(Path requestsCsv) throws IOException {
    return new RecordCsv(requestsCsv, WholeFile.draftOf(requestsCsv));
  }

  /**
   * Adds a row.
   *
   * @throws UncheckedIOException if it cannot be written
   */
  @Override
  public void accept(RequestRecord record) {
    try {
      if (!hasHeader) {
        row(Object::toString);
        hasHeader = true;
      }
      row(column -> cell(column, record));
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  private void row(Function<RecordField<?>, @Nullable String> cells) throws IOException {
    String separator = "";
    for (RecordField<?> column : COLUMNS) {
      out.write(separator);
      String cell = cells.apply(column);
      if (cell != null) {
        out.write(needsQuotes(cell) ? '"' + cell.replace("\"", "\"\"") + '"' : cell);
      }
      separator = ",";
    }
    out.write("\r\n");
  }

  private static <T> @Nullable String cell(RecordField<T> column, RequestRecord record) {
    T value = column.get(record);
    String cell = value == null ? null : column.type().cell(value);
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

  /** Ends the file and moves it into place. */
  public void finish() throws IOException {
    out.close();
    WholeFile.move(draft, file);
  }

  /** Leaves nothing half written behind. */
  @Override
  public void close() throws IOException {
    out.close();
    Files.deleteIfExists(draft);
  }
}
