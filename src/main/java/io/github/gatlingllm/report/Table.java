package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.PrintableText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A table as HTML by {@code parts.peb}, Markdown, and lines of text. */
record Table(String title, String style, List<? extends Column<?>> columns, List<Group> groups) {

  private static final int MAX_HEADING_LINES = 4;

  /** Longer names are clipped before columns move together. */
  private static final int LONG_NAME = 24;

  Table {
    columns = List.copyOf(columns);
    groups = groups.stream().filter(group -> !group.rows().isEmpty()).toList();
  }

  @SafeVarargs
  @SuppressWarnings("varargs")
  static <T> Table of(String title, Collection<T> items, Column<T>... columns) {
    return of(title, items, List.of(columns));
  }

  static <T> Table of(String title, Collection<T> items, List<Column<T>> columns) {
    return of(title, items, columns, item -> "");
  }

  /** A table with the rows of each group below its heading. */
  static <T> Table of(
      String title, Collection<T> items, List<Column<T>> columns, Function<T, String> group) {
    List<Column<T>> shown = columns.stream().filter(column -> column.isShown(items)).toList();
    Map<String, List<List<TableCell>>> rows = new LinkedHashMap<>();
    for (T item : items) {
      rows.computeIfAbsent(group.apply(item), heading -> new ArrayList<>())
          .add(shown.stream().map(column -> column.cell().apply(item)).toList());
    }
    List<Group> groups = new ArrayList<>();
    rows.forEach((heading, of) -> groups.add(new Group(heading, "", of)));
    return new Table(title, "", shown, groups);
  }

  Table styled(String css) {
    return new Table(title, css, columns, groups);
  }

  Table grouped(String name, List<Group> others) {
    return new Table(name, style, columns, others);
  }

  /** Whether it has nothing beside names. */
  public boolean isEmpty() {
    return groups.isEmpty() || columns.size() < 2;
  }

  public boolean hasLowN() {
    return rows().flatMap(List::stream).anyMatch(cell -> cell.kind == CellKind.LOW_N);
  }

  /** The cells but those of the first column. */
  List<TableCell> figures() {
    return rows().flatMap(row -> row.stream().skip(1)).toList();
  }

  Stream<List<TableCell>> rows() {
    return groups.stream().flatMap(group -> group.rows().stream());
  }

  /** Rows with a common heading; {@code heading} and {@code remark} may be empty. */
  record Group(String heading, String remark, List<List<TableCell>> rows) {}

  enum CellKind {
    FIGURE(""),
    /** A percentile with fewer than 10 values beyond it. */
    LOW_N("low"),
    /** Text from a server, a script or a setting. */
    WORDS("words"),
    /** An identifier, e.g. the name of a figure. */
    CODE(""),
    PASSED("level ok"),
    MISSED("level invalid"),
    BETTER("level ok"),
    WORSE("level invalid"),
    UNCHANGED("soft");

    private final String css;

    CellKind(String css) {
      this.css = css;
    }
  }

  record TableCell(String text, CellKind kind, String remark, String link) {

    TableCell(String text, CellKind kind) {
      this(text, kind, "", "");
    }

    static TableCell figure(String text) {
      return new TableCell(text, CellKind.FIGURE);
    }

    static TableCell words(String text) {
      return new TableCell(text, CellKind.WORDS);
    }

    static TableCell number(@Nullable Double value) {
      return figure(NumberText.number(value));
    }

    static TableCell count(long value) {
      return figure(NumberText.count(value));
    }

    static TableCell percent(@Nullable Double share) {
      return figure(NumberText.percent(share));
    }

    /** A percentile such as {@code p95}, marked if fewer than 10 values are beyond it. */
    static TableCell percentile(Distribution values, String name) {
      Double value = values.percentile(name);
      boolean isLow = value != null && values.isLowN(name);
      return new TableCell(NumberText.number(value), isLow ? CellKind.LOW_N : CellKind.FIGURE);
    }

    static TableCell passed(@Nullable Boolean ok) {
      return ok == null
          ? figure(NumberText.ABSENT)
          : new TableCell(ok ? "OK" : "KO", ok ? CellKind.PASSED : CellKind.MISSED);
    }

    TableCell remarked(String small) {
      return new TableCell(text, kind, small, link);
    }

    /** With the remark in the text, for text files. */
    TableCell inText() {
      return remark.isEmpty() ? this : new TableCell(text + " " + remark, kind, "", link);
    }

    TableCell linked(String to) {
      return new TableCell(text, kind, remark, to);
    }

    public String css() {
      return kind.css;
    }

    /** The text on pages, where OK and KO also have a sign. */
    public String shown() {
      return kind == CellKind.PASSED ? "✓ " + text : kind == CellKind.MISSED ? "✗ " + text : text;
    }

    private String plain() {
      String shown = PrintableText.of(text.replaceAll("\\s+", " "));
      return kind == CellKind.LOW_N ? shown + "*" : shown;
    }

    private String markdown() {
      String safe =
          switch (kind) {
            case WORDS -> inline(text);
            case CODE -> "`" + text + "`";
            case BETTER, WORSE -> inText().plain();
            default -> plain();
          };
      return safe.replace("|", "\\|").replace('\n', ' ');
    }
  }

  /**
   * A column, and its heading.
   *
   * @param hint what pages show under the pointer; may be empty
   */
  record Column<T>(
      String heading,
      boolean isLeftAligned,
      Function<T, TableCell> cell,
      boolean isOptional,
      String hint) {

    static <T> Column<T> name(String heading, Function<T, String> name) {
      return of(heading, item -> TableCell.words(name.apply(item)));
    }

    static <T> Column<T> words(String heading, Function<T, String> text) {
      return new Column<>(heading, true, item -> TableCell.words(text.apply(item)), false, "");
    }

    static <T> Column<T> of(String heading, Function<T, TableCell> cell) {
      return new Column<>(heading, false, cell, false, "");
    }

    static <T> Column<T> figure(String heading, Function<T, String> text) {
      return of(heading, item -> TableCell.figure(text.apply(item)));
    }

    static <T> Column<T> count(String heading, ToLongFunction<T> count) {
      return of(heading, item -> TableCell.count(count.applyAsLong(item)));
    }

    static <T> Column<T> number(String heading, Function<T, @Nullable Double> value) {
      return of(heading, item -> TableCell.number(value.apply(item)));
    }

    static <T> Column<T> percent(String heading, Function<T, @Nullable Double> share) {
      return of(heading, item -> TableCell.percent(share.apply(item)));
    }

    <S> Column<S> in(Function<S, T> holder) {
      return new Column<>(
          heading, isLeftAligned, item -> cell.apply(holder.apply(item)), isOptional, hint);
    }

    /** This column, omitted from tables in which it has no value. */
    Column<T> ifKnown() {
      return new Column<>(heading, isLeftAligned, cell, true, hint);
    }

    private boolean isShown(Collection<T> items) {
      return !isOptional
          || items.stream()
              .map(item -> cell.apply(item).text())
              .anyMatch(text -> !text.isEmpty() && !text.equals(NumberText.ABSENT));
    }
  }

  public String markdown() {
    StringBuilder out = new StringBuilder();
    markdownRow(columns.stream().<String>map(Column::heading).toList(), out);
    for (int column = 0; column < columns.size(); column++) {
      out.append(column == 0 || columns.get(column).isLeftAligned() ? "| --- " : "| ---: ");
    }
    out.append("|\n");
    rows().forEach(row -> markdownRow(row.stream().map(TableCell::markdown).toList(), out));
    return out.toString();
  }

  private static void markdownRow(List<String> cells, StringBuilder out) {
    cells.forEach(cell -> out.append("| ").append(cell).append(' '));
    out.append("|\n");
  }

  /** Escapes text for Markdown, so that it cannot become markup. */
  static String inline(String text) {
    return PrintableText.of(text.replaceAll("\\s+", " "))
        .replaceAll("([\\\\`*<>\\[\\]])", "\\\\$1");
  }

  /**
   * The table as lines of text of at most {@code width} characters. If the table is wider, headings
   * are broken into several lines, then columns move together, and then the names in the first
   * column are broken, between words.
   */
  List<String> lines(int width) {
    List<List<String>> rows =
        rows().map(row -> row.stream().map(TableCell::plain).toList()).toList();
    List<List<String>> apart = fitting(rows, width, 2);
    int[] preferred = widths(apart);
    int clippable = Math.max(0, preferred[0] - LONG_NAME);
    int gap = length(preferred, 2) - clippable > width ? 1 : 2;
    List<List<String>> all = gap == 2 ? apart : fitting(rows, width, gap);
    int[] widths = widths(all);
    int others = length(widths, gap) - widths[0];
    widths[0] = Math.max(1, Math.min(widths[0], width - others));
    return all.stream().flatMap(row -> lines(row, widths, gap)).toList();
  }

  /** With the lowest headings that make the table fit, else with the highest. */
  private List<List<String>> fitting(List<List<String>> rows, int width, int gap) {
    List<List<String>> all = withHeadings(1, rows);
    for (int high = 2; high <= MAX_HEADING_LINES && length(widths(all), gap) > width; high++) {
      all = withHeadings(high, rows);
    }
    return all;
  }

  private static Stream<String> lines(List<String> cells, int[] widths, int gap) {
    List<String> names = broken(cells.get(0), widths[0]);
    List<String> none = Collections.nCopies(cells.size(), "");
    return IntStream.range(0, names.size())
        .mapToObj(i -> line(names.get(i), i == 0 ? cells : none, widths, gap));
  }

  private static int length(int[] widths, int gap) {
    return Arrays.stream(widths).sum() + gap * (widths.length - 1);
  }

  /** Lines of the headings, at most {@code max}, aligned at the bottom, followed by the rows. */
  private List<List<String>> withHeadings(int max, List<List<String>> rows) {
    List<List<String>> names =
        columns.stream().map(column -> wrapped(column.heading(), max)).toList();
    int high = names.stream().mapToInt(List::size).max().orElse(1);
    List<List<String>> lines = new ArrayList<>();
    for (int line = high; line > 0; line--) {
      int below = line;
      lines.add(
          names.stream()
              .map(name -> below > name.size() ? "" : name.get(name.size() - below))
              .toList());
    }
    lines.addAll(rows);
    return lines;
  }

  /** A heading in at most {@code max} lines, with the longest line as short as possible. */
  private static List<String> wrapped(String heading, int max) {
    for (int width = 0; ; width++) {
      List<String> lines = broken(heading, width);
      if (lines.size() <= max) {
        return lines;
      }
    }
  }

  /** Lines of at most {@code width} characters, but for words that are longer. */
  private static List<String> broken(String text, int width) {
    List<String> lines = new ArrayList<>();
    for (String word : text.split(" ", -1)) {
      int last = lines.size() - 1;
      if (last >= 0 && lines.get(last).length() + 1 + word.length() <= width) {
        lines.set(last, lines.get(last) + " " + word);
      } else {
        lines.add(word);
      }
    }
    return lines;
  }

  private int[] widths(List<List<String>> lines) {
    int[] widths = new int[columns.size()];
    for (List<String> line : lines) {
      Arrays.setAll(widths, column -> Math.max(widths[column], line.get(column).length()));
    }
    return widths;
  }

  /** Clips in the middle, because names of load levels differ at either end. */
  private static String clipped(String name, int width) {
    int start = (width - 1) / 2;
    return name.substring(0, start) + "…" + name.substring(name.length() - (width - 1 - start));
  }

  private static String line(String name, List<String> cells, int[] widths, int gap) {
    String clipped = name.length() <= widths[0] ? name : clipped(name, widths[0]);
    StringBuilder line = new StringBuilder(clipped);
    line.append(" ".repeat(widths[0] - clipped.length()));
    for (int column = 1; column < widths.length; column++) {
      String cell = cells.get(column);
      line.append(" ".repeat(widths[column] - cell.length() + gap)).append(cell);
    }
    return line.toString().stripTrailing();
  }
}
