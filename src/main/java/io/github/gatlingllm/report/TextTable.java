package io.github.gatlingllm.report;

import java.util.ArrayList;
import java.util.List;

/**
 * A table of texts for files without markup of their own: first column to the left, figures to the
 * right.
 *
 * @param heading one per column
 */
record TextTable(List<String> heading, List<List<String>> rows) {

  TextTable {
    heading = List.copyOf(heading);
    rows = List.copyOf(rows);
  }

  /** As Markdown. */
  String markdown() {
    StringBuilder out = new StringBuilder();
    markdownRow(heading, out);
    out.append('|').append(" --- |");
    out.append(" ---: |".repeat(heading.size() - 1)).append('\n');
    rows.forEach(row -> markdownRow(row, out));
    return out.toString();
  }

  private static void markdownRow(List<String> cells, StringBuilder out) {
    out.append('|');
    for (String cell : cells) {
      out.append(' ').append(cell.replace("|", "\\|").replace('\n', ' ')).append(" |");
    }
    out.append('\n');
  }

  /** As lines of at most {@code width} characters: the first column gets what the others leave. */
  List<String> lines(int width) {
    int[] widths = new int[heading.size()];
    int others = 0;
    for (int column = 1; column < widths.length; column++) {
      widths[column] = heading.get(column).length();
      for (List<String> row : rows) {
        widths[column] = Math.max(widths[column], row.get(column).length());
      }
      others += widths[column] + 2;
    }
    int longest = heading.get(0).length();
    for (List<String> row : rows) {
      longest = Math.max(longest, row.get(0).length());
    }
    widths[0] = Math.max(1, Math.min(longest, width - others));
    List<String> lines = new ArrayList<>();
    lines.add(line(heading, widths));
    rows.forEach(row -> lines.add(line(row, widths)));
    return lines;
  }

  private static String line(List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder(clipped(cells.get(0), widths[0]));
    line.append(" ".repeat(widths[0] - line.length()));
    for (int column = 1; column < widths.length; column++) {
      String cell = cells.get(column);
      line.append(" ".repeat(widths[column] - cell.length() + 2)).append(cell);
    }
    return line.toString();
  }

  private static String clipped(String text, int width) {
    return text.length() <= width ? text : text.substring(0, width - 1) + "…";
  }
}
