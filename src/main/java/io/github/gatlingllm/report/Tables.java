package io.github.gatlingllm.report;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Table.TableCell;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables of {@code tables.txt}, drawn of a run. Its first lines state how a table and a column
 * are written.
 *
 * @param page the page with the anchors of rows; empty for the page of the table itself
 */
record Tables(Summary summary, String page) {

  private static final String FILE = "tables.txt";

  /** Texts of the run in titles and headings, e.g. {@code {clock}}. */
  private static final Map<String, Function<Summary, String>> TEXTS =
      Map.of(
          "clock", of -> of.isClockNamed() ? " from schedule" : "",
          "spread", of -> repeats(of) == 0 ? "" : ", ±: 95 % by " + repeats(of) + " repeats",
          "curve", of -> of.hasSeveralTargets() ? "target" : "scenario",
          "ttft", of -> of.headlineMetric(Metric.TTFT_MS).title(),
          "e2e", of -> of.headlineMetric(Metric.E2E_MS).title(),
          "at", MetricsSection::at,
          "speed", of -> NumberText.plain(of.figures().readingSpeed()),
          "arrivals", of -> of.arrivals() == null ? "" : of.arrivals().unit(),
          "share", of -> objective(of, ": %s %% of the requests"),
          "percentile", of -> objective(of, " p%s"));

  private static final Pattern PLACE = Pattern.compile("\\{(\\w+)}");

  private static final Pattern MARKS = Pattern.compile("[ ?±]*$");

  private static final Pattern COLUMN =
      Pattern.compile(
          "(?:(?<heading>.+?) = )?(?<value>.+?)(?: × (?<factor>\\S+))?(?: as (?<form>\\w+))?"
              + "(?: with (?<remark>\"[^\"]*\"|\\S+))?(?: or \"(?<other>[^\"]*)\")?"
              + "(?: (?<condition>if|unless) (?<key>\\S+))?(?<marks>[ ?±]*)");

  private static final Map<String, Function<Object, String>> FORMS =
      Map.of(
          "figure", Object::toString,
          "number", of -> NumberText.number((Double) of),
          "count", of -> NumberText.count(Math.round((Double) of)),
          "percent", of -> NumberText.percent((Double) of),
          "plain", of -> NumberText.plain((Double) of),
          "ms", of -> NumberText.ms((Double) of));

  /** The times that an SLO limits; the longest gap of a request is its stall. */
  private static final List<Metric> LIMITED =
      List.of(
          Metric.TTFT_MS,
          Metric.TTFO_MS,
          Metric.ITL_MS,
          Metric.TPOT_MS,
          Metric.E2E_MS,
          Metric.STALL_MS);

  /** The shares of an SLO whose percentile is shown; for others, such as 97 %, it is p99. */
  private static final Set<String> PERCENTILES = Set.of("p50", "p75", "p90", "p95", "p99");

  /** Stands for the columns of {@link Layout#limits}. */
  private static final Column LIMITS = column("limits = started.count", Row.class, Map.of());

  private static final Map<String, Layout> LAYOUTS = layouts(Templates.resource(FILE));

  static Tables of(Summary summary) {
    return new Tables(summary, "");
  }

  static int repeats(Summary summary) {
    return summary.stages().stream().mapToInt(s -> s.figures().repeats().size()).max().orElse(0);
  }

  private static String objective(Summary summary, String form) {
    SloTable slo = summary.slo();
    return slo == null || !slo.hasOnePercentile()
        ? ""
        : form.formatted(NumberText.plain(slo.percentile()));
  }

  List<Table> at(String place) {
    return layoutsAt(place)
        .map(layout -> layout.table(this, layout.all(summary, place)))
        .filter(table -> !table.isEmpty())
        .toList();
  }

  static Stream<Layout> layoutsAt(String place) {
    return LAYOUTS.values().stream().filter(layout -> layout.places.containsKey(place));
  }

  /** A table about a level that readers chose; null for the operating points. */
  Table about(@Nullable LevelFigures chosen, String key) {
    Layout layout = requireNonNull(LAYOUTS.get(key), key);
    return layout.table(this, layout.all(summary, chosen, Integer.MAX_VALUE));
  }

  /** A table of these rows. */
  Table table(String key, List<Row> rows) {
    return requireNonNull(LAYOUTS.get(key), key).table(this, rows);
  }

  private String filled(String text) {
    return PLACE
        .matcher(text)
        .replaceAll(
            at -> Matcher.quoteReplacement(requireNonNull(TEXTS.get(at.group(1))).apply(summary)));
  }

  /** A table without rows: {@code places} with the maximum of rows in each. */
  record Layout(
      String key,
      RowKind rows,
      @Nullable ColumnValue only,
      Map<String, Integer> places,
      String title,
      String style,
      List<Column> columns) {

    List<Row> all(Summary summary, String place) {
      return all(summary, null, requireNonNull(places.get(place)));
    }

    private List<Row> all(Summary summary, @Nullable LevelFigures chosen, int max) {
      return rows.of(summary, chosen, max, row -> only == null || only.isIn(row));
    }

    /** Columns for what the SLO limits, at its percentile, that the table does not have. */
    private List<Column> limits(Summary summary) {
      boolean isText = columns.stream().anyMatch(column -> column.heading.startsWith("{"));
      Set<String> shown =
          columns.stream().map(column -> column.value.figureName()).collect(Collectors.toSet());
      List<Column> limits = new ArrayList<>();
      for (Metric time : LIMITED) {
        String name = time.title().replaceFirst(".* ", "").toUpperCase(Locale.ROOT);
        String prefix = (time.fromSchedule() == time ? "" : "*") + time.figure() + ".";
        String title = (isText ? summary.headlineMetric(time) : time).title() + " ";
        summary.stages().stream()
            .flatMap(level -> level.objectives().stream())
            .filter(objective -> objective.measure().toUpperCase(Locale.ROOT).endsWith(name))
            .map(objective -> "p" + NumberText.plain(objective.percentile()))
            .map(percentile -> PERCENTILES.contains(percentile) ? percentile : "p99")
            .filter(percentile -> shown.add(prefix + percentile))
            .map(p -> column(title + p + " = " + prefix + p + " ±?", rows.own(), Map.of()))
            .forEach(limits::add);
      }
      return limits;
    }

    Table table(Tables of, List<Row> all) {
      List<Table.Column<Row>> drawn = new ArrayList<>();
      for (Column column :
          columns.stream()
              .flatMap(each -> each.equals(LIMITS) ? limits(of.summary).stream() : Stream.of(each))
              .toList()) {
        ColumnValue condition = column.condition;
        if (condition == null || all.stream().anyMatch(condition::isIn) != column.isUnless) {
          boolean isFirst = drawn.isEmpty();
          drawn.add(
              new Table.Column<>(
                  of.filled(column.heading),
                  !isFirst && column.isLeftAligned(),
                  row -> column.cell(row).linked(isFirst ? of.link(row) : ""),
                  column.marks.contains("?"),
                  column.value.formula()));
        }
      }
      return Table.of(of.filled(title), all, drawn, Row::group).styled(style);
    }
  }

  private String link(Row row) {
    return row.anchor().isEmpty() ? "" : page + "#" + row.anchor();
  }

  /**
   * A column of a layout.
   *
   * @param form of the value; null for that of its type
   * @param remark a value, or words in quotation marks
   * @param other what replaces an absent value
   * @param condition the value that a row has to have, or that no row may have if {@code isUnless}
   */
  private record Column(
      String heading,
      ColumnValue value,
      @Nullable ToDoubleFunction<Row> factor,
      @Nullable String form,
      @Nullable ColumnValue remark,
      String words,
      @Nullable String other,
      @Nullable ColumnValue condition,
      boolean isUnless,
      String marks) {

    private boolean isLeftAligned() {
      return form == null && value.isLeftAligned();
    }

    private TableCell cell(Row row) {
      TableCell cell = other != null && !value.isIn(row) ? TableCell.words(other) : formed(row);
      String spread = marks.contains("±") ? value.spread(row) : "";
      String small = remark == null ? words + spread : text(remark.of(row));
      TableCell remarked = cell.remarked(small);
      return marks.matches(".*±.*±.*") ? remarked.inText() : remarked;
    }

    private static String text(@Nullable Object remark) {
      return remark == null ? "" : remark.toString();
    }

    private TableCell formed(Row row) {
      if (form == null && factor == null) {
        return value.cell(row);
      }
      Object of = value.of(row);
      Object scaled = of == null || factor == null ? of : (Double) of * factor.applyAsDouble(row);
      return TableCell.figure(
          scaled == null
              ? NumberText.ABSENT
              : requireNonNull(FORMS.get(requireNonNullElse(form, "number"))).apply(scaled));
    }
  }

  static Map<String, Layout> layouts(String text) {
    Map<String, String> common = new HashMap<>();
    Map<String, Layout> layouts = new LinkedHashMap<>();
    @Nullable Layout last = null;
    List<String> lines = text.lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      try {
        if (line.startsWith("  ")) {
          for (String column : line.strip().split("; ", -1)) {
            if (last == null) {
              common.put(column.split(" = ", 2)[0], column);
            } else {
              last.columns.add(
                  column.equals("limits") ? LIMITS : column(column, last.rows.own(), common));
            }
          }
        } else if (line.contains(" | ") && !line.startsWith("#")) {
          last = layout(line);
          if (layouts.put(last.key, last) != null) {
            throw new IllegalArgumentException("a second table is called '" + last.key + "'");
          }
        }
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(FILE + ":" + (i + 1) + ": " + e.getMessage(), e);
      }
    }
    return layouts;
  }

  private static Layout layout(String line) {
    String[] parts = (line + " ").split(" \\| ?", -1);
    if (parts.length < 3) {
      throw new IllegalArgumentException("expected key | rows | places");
    }
    String[] rows = parts[1].strip().split(" if ", -1);
    RowKind of = RowKind.named(rows[0]);
    Map<String, Integer> places = new LinkedHashMap<>();
    for (String place : parts[2].strip().split(", ", -1)) {
      String name = place.replaceFirst(" \\d+$", "");
      boolean isAll = name.equals(place);
      places.put(
          name, isAll ? Integer.MAX_VALUE : Integer.parseInt(place.substring(name.length() + 1)));
    }
    return new Layout(
        parts[0],
        of,
        rows.length < 2 ? null : ColumnValue.of(rows[1], of.own()),
        places,
        known(parts.length < 4 ? parts[0] : parts[3].strip()),
        parts.length < 5 ? "" : parts[4].strip(),
        new ArrayList<>());
  }

  private static String known(String text) {
    PLACE
        .matcher(text)
        .results()
        .map(at -> at.group(1))
        .filter(name -> !TEXTS.containsKey(name))
        .forEach(
            name -> {
              throw new IllegalArgumentException("no text is called '{" + name + "}'");
            });
    return text;
  }

  private static String marks(String column) {
    return column.substring(unmarked(column).length());
  }

  private static String unmarked(String column) {
    return MARKS.matcher(column).replaceFirst("");
  }

  private static @Nullable ToDoubleFunction<Row> factor(@Nullable String text, Class<?> own) {
    if (text == null || Character.isDigit(text.charAt(0))) {
      double number = text == null ? 1 : Double.parseDouble(text);
      return text == null ? null : row -> number;
    }
    ColumnValue field = ColumnValue.of(text, own);
    return row -> (Double) requireNonNull(field.of(row));
  }

  private static Column column(String text, Class<?> own, Map<String, String> common) {
    Matcher of = COLUMN.matcher(text);
    if (!of.matches()) {
      throw new IllegalArgumentException("expected heading = value but got '" + text + "'");
    }
    String heading = of.group("heading");
    String value = of.group("value");
    if (heading == null && common.containsKey(value) && !ColumnValue.isField(value, own)) {
      String column = common.get(value);
      String more = text.substring(of.end("value"));
      String marks = marks(column) + marks(more);
      return column(unmarked(column) + unmarked(more) + " " + marks, own, Map.of());
    }
    ColumnValue source = ColumnValue.of(value, own);
    String remark = of.group("remark");
    boolean isQuoted = remark != null && remark.startsWith("\"");
    String form = of.group("form");
    if (form != null && !FORMS.containsKey(form)) {
      throw new IllegalArgumentException("no form is called '" + form + "'");
    }
    return new Column(
        known(heading == null ? source.heading() : heading),
        source,
        factor(of.group("factor"), own),
        form,
        remark == null || isQuoted ? null : ColumnValue.of(remark, own),
        isQuoted ? remark.substring(1, remark.length() - 1) : "",
        of.group("other"),
        of.group("key") == null ? null : ColumnValue.of(of.group("key"), own),
        "unless".equals(of.group("condition")),
        of.group("marks"));
  }
}
