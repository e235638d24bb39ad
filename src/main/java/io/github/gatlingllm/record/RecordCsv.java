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
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes records as {@code llm/requests.csv}: UTF-8, RFC 4180, the keys of {@code
 * llm/requests.jsonl} that fit into a cell. An absent value is an empty cell, and an empty text is
 * {@code ""}. Spreadsheets read a text that begins with {@code = + - @}, a tab or a line end as a
 * formula, and names may come from a server; such a text is prefixed with {@code '}.
 */
public final class RecordCsv implements Consumer<RequestRecord>, Closeable {

  private static final List<RecordField> COLUMNS =
      Arrays.stream(RecordField.values()).filter(RecordField::isColumn).toList();

  private final Path file;
  private final Path draft;
  private final Writer out;

  private RecordCsv(Path file, Path draft) throws IOException {
    this.file = file;
    this.draft = draft;
    // Files.newBufferedWriter would throw on the unpaired surrogates that a server may send.
    out = new BufferedWriter(new OutputStreamWriter(RunFiles.create(draft), UTF_8), 1 << 16);
    row(RecordField::key);
  }

  /** Starts a file that {@link #finish} moves to that path. */
  public static RecordCsv create(Path requestsCsv) throws IOException {
    return new RecordCsv(requestsCsv, RunFiles.draftOf(requestsCsv));
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
    RunFiles.move(draft, file);
  }

  /** Deletes an incomplete file. */
  @Override
  public void close() throws IOException {
    out.close();
    Files.deleteIfExists(draft);
  }
}
