package io.github.gatlingllm.record;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The cells of one record by RFC 4180, and the names of their columns. Absent is an empty cell, an
 * empty text is {@code ""}. What has no fixed number of values, one per event or by names of the
 * server, has no cell.
 */
final class CsvRow implements RecordFields {

  private static final String LINE_END = "\r\n";
  private static final String SEPARATOR = "|";

  private final List<String> names = new ArrayList<>();
  private final StringBuilder cells = new StringBuilder(1_024);
  private String name = "";

  /** Forgets the record before. */
  CsvRow clear() {
    names.clear();
    cells.setLength(0);
    return this;
  }

  /** The names of the columns, line end included. */
  String header() {
    return String.join(",", names) + LINE_END;
  }

  /** The cells, line end included. */
  StringBuilder line() {
    return cells.append(LINE_END);
  }

  @Override
  public CsvRow key(String key) {
    name = key;
    return this;
  }

  @Override
  public void text(@Nullable String value) {
    next();
    if (value == null) {
      return;
    }
    if (needsQuotes(value)) {
      cells.append('"').append(value.replace("\"", "\"\"")).append('"');
    } else {
      cells.append(value);
    }
  }

  private static boolean needsQuotes(String value) {
    if (value.isEmpty() || value.startsWith(" ") || value.endsWith(" ")) {
      return true;
    }
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == ',' || c == '"' || c == '\r' || c == '\n') {
        return true;
      }
    }
    return false;
  }

  @Override
  public void json(String value) {
    text(value);
  }

  /** Joined by {@value #SEPARATOR}; absent where there is none. */
  @Override
  public void texts(List<String> values) {
    text(values.isEmpty() ? null : String.join(SEPARATOR, values));
  }

  @Override
  public void flag(@Nullable Boolean value) {
    text(value == null ? null : value.toString());
  }

  @Override
  public void integer(@Nullable Integer value) {
    text(value == null ? null : value.toString());
  }

  @Override
  public void integer(long value) {
    next();
    cells.append(value);
  }

  @Override
  public void integers(int[] values) {}

  @Override
  public void seconds(@Nullable Long nanos) {
    if (nanos == null) {
      text(null);
    } else {
      seconds(nanos.longValue());
    }
  }

  @Override
  public void seconds(long nanos) {
    next();
    cells.append(BigDecimal.valueOf(nanos, 9).toPlainString());
  }

  @Override
  public void numbers(Map<String, Double> values) {}

  private void next() {
    if (!names.isEmpty()) {
      cells.append(',');
    }
    names.add(name);
  }
}
