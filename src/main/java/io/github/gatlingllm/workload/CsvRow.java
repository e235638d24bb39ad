package io.github.gatlingllm.workload;

import java.util.ArrayList;
import java.util.List;

/**
 * A row of a CSV file by RFC 4180: commas, double quotes, line breaks inside quotes.
 *
 * @param line number of its first line in the file, from 1
 */
record CsvRow(int line, List<String> cells) {

  /**
   * All rows of a file; empty lines are skipped.
   *
   * @throws IllegalArgumentException if a quote is never closed
   */
  static List<CsvRow> parse(String fileName, String text) {
    List<CsvRow> rows = new ArrayList<>();
    List<String> cells = new ArrayList<>();
    StringBuilder cell = new StringBuilder();
    boolean quoted = false;
    int line = 1;
    int rowLine = 1;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quoted) {
        if (c != '"') {
          cell.append(c);
        } else if (i + 1 < text.length() && text.charAt(i + 1) == '"') {
          cell.append(c);
          i++;
        } else {
          quoted = false;
        }
      } else if (c == '"') {
        quoted = true;
      } else if (c == ',') {
        cells.add(cell.toString());
        cell.setLength(0);
      } else if (c == '\n') {
        add(rows, rowLine, cells, cell);
        rowLine = line + 1;
      } else if (c != '\r') {
        cell.append(c);
      }
      if (c == '\n') {
        line++;
      }
    }
    if (quoted) {
      throw new IllegalArgumentException(
          fileName + ":" + rowLine + ": a double quote is not closed; expected RFC 4180 CSV");
    }
    add(rows, rowLine, cells, cell);
    return rows;
  }

  private static void add(List<CsvRow> rows, int line, List<String> cells, StringBuilder cell) {
    if (!cells.isEmpty() || cell.length() > 0) {
      cells.add(cell.toString());
      rows.add(new CsvRow(line, List.copyOf(cells)));
    }
    cells.clear();
    cell.setLength(0);
  }
}
