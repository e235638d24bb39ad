package io.github.gatlingllm.record;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjIntConsumer;

/** Reads CSV by RFC 4180: commas, double quotes, line breaks inside quotes. */
public final class CsvRows {

  private static final int MIB = 1 << 20;

  private CsvRows() {}

  /**
   * Visits the rows that are not blank, each with the number of its first line.
   *
   * @param name of the file, for messages
   * @param maxCell the maximum number of characters of a cell
   * @throws IllegalArgumentException if the text is not CSV
   */
  public static void visit(
      String name, BufferedReader text, int maxCell, ObjIntConsumer<List<String>> visitor)
      throws IOException {
    List<String> cells = new ArrayList<>();
    StringBuilder cell = new StringBuilder();
    boolean quoted = false;
    int line = 1;
    int rowLine = 1;
    int c;
    do {
      c = text.read();
      if (quoted && c < 0) {
        throw bad(name, rowLine, "a double quote is not closed; expected RFC 4180 CSV");
      } else if (quoted && c == '"') {
        text.mark(1);
        quoted = text.read() == '"';
        if (quoted) {
          cell.append('"');
        } else {
          text.reset();
        }
      } else if (c == '"') {
        quoted = true;
      } else if (!quoted && (c == ',' || c == '\n' || c < 0)) {
        cells.add(cell.toString());
        cell.setLength(0);
        if (c != ',') {
          if (cells.size() > 1 || !cells.get(0).isBlank()) {
            visitor.accept(List.copyOf(cells), rowLine);
          }
          cells.clear();
          rowLine = line + 1;
        }
      } else if (quoted || c != '\r') {
        if (cell.length() == maxCell) {
          String max = "a cell is longer than %s MB; split it".formatted(maxCell / MIB);
          throw bad(name, rowLine, max);
        }
        cell.append((char) c);
      }
      line += c == '\n' ? 1 : 0;
    } while (c >= 0);
  }

  private static IllegalArgumentException bad(String name, int line, String what) {
    return new IllegalArgumentException(name + ":" + line + ": " + what);
  }
}
