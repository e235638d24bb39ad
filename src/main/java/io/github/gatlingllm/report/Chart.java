package io.github.gatlingllm.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonValue;
import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.report.Table.Column;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A chart: its caption, and the data that {@code report.js} draws. */
record Chart(
    String id,
    @JsonIgnore Caption caption,
    Axis x,
    Axis y,
    List<Line> series,
    List<Limit> limits,
    List<Band> bands,
    @JsonIgnore boolean isWide,
    @JsonIgnore @Nullable Table table) {

  /** A line below a chart in {@code charts.txt}. */
  private static final Pattern LINE =
      Pattern.compile("(.+) (\\d) (\\d)(?: as (\\w+))? = (\\S+)(?: × (\\S+))?( \\?)?");

  private record Caption(String title, String direction, String howTo, String decision) {}

  static Chart of(String key, Axis x, List<Line> series, Object... values) {
    List<String> texts = Templates.texts("charts.txt", key, values);
    String[] y = texts.get(2).split(", |,$", 2);
    return new Chart(
        key.replaceFirst(" .*", ""),
        new Caption(texts.get(0), texts.get(1), texts.get(3), texts.get(4)),
        x,
        Axis.of(y[0], y.length > 1 ? y[1] : ""),
        series,
        List.of(),
        List.of(),
        false,
        null);
  }

  /** A row for each name of a row, in the order of the cells; a cell without a value is empty. */
  static <T> Chart grid(
      String key,
      String columns,
      List<T> cells,
      Function<T, String> row,
      Function<T, String> column,
      Function<T, @Nullable Double> value,
      Object... texts) {
    List<String> places = cells.stream().map(column).distinct().toList();
    Map<String, List<Point>> rows = new LinkedHashMap<>();
    for (T cell : cells) {
      rows.computeIfAbsent(row.apply(cell), name -> new ArrayList<>())
          .add(new Point(places.indexOf(column.apply(cell)), value.apply(cell)));
    }
    List<Line> lines = new ArrayList<>();
    rows.forEach(
        (name, points) ->
            lines.add(
                Line.of(name, 0, 0, points.stream().filter(point -> point.y() != null).toList())
                    .as(LineForm.GRID)));
    return of(key, Axis.places(columns, "", places), lines, texts);
  }

  static Chart percentiles(String key, List<Line> lines, String title) {
    return of(key, Axis.shares(lines), lines, title).logarithmic();
  }

  /** The lines that {@code charts.txt} has below a chart, {@code scale} times as high. */
  static List<Line> lines(
      String chart, Class<?> own, List<Row> rows, ToDoubleFunction<Row> x, double scale) {
    return Templates.below("charts.txt", chart)
        .flatMap(text -> line(text, own, rows, x, scale).stream())
        .toList();
  }

  static <T> List<Line> overTime(String chart, Class<T> type, List<T> points, double scale) {
    ColumnValue startS = ColumnValue.of("startS", type);
    return lines(chart, type, points.stream().map(Row::of).toList(), startS::number, scale);
  }

  private static Optional<Line> line(
      String text, Class<?> own, List<Row> rows, ToDoubleFunction<Row> x, double scale) {
    Matcher of = LINE.matcher(text);
    if (!of.matches()) {
      throw new IllegalArgumentException("expected name, colour, dash = value but got: " + text);
    }
    ColumnValue value = ColumnValue.of(of.group(5), own);
    double factor = of.group(6) == null ? scale : scale * Double.parseDouble(of.group(6));
    List<Point> points =
        rows.stream()
            .map(row -> new Point(x.applyAsDouble(row), Point.scaled(value.number(row), factor)))
            .toList();
    String form = of.group(4) == null ? "LINE" : of.group(4).toUpperCase(Locale.ROOT);
    boolean isOptional = of.group(7) != null;
    return isOptional && points.stream().noneMatch(point -> point.y() != null && point.y() > 0)
        ? Optional.empty()
        : Optional.of(
            Line.of(
                    of.group(1),
                    Integer.parseInt(of.group(2)),
                    Integer.parseInt(of.group(3)),
                    points)
                .as(LineForm.valueOf(form)));
  }

  @JsonIgnore
  String title() {
    return caption.title;
  }

  Chart id(String other) {
    return new Chart(other, caption, x, y, series, limits, bands, isWide, table);
  }

  private Chart y(Axis other) {
    return new Chart(id, caption, x, other, series, limits, bands, isWide, table);
  }

  Chart upTo(double end) {
    return y(y.upTo(end));
  }

  Chart widened() {
    return new Chart(id, caption, x, y, series, limits, bands, true, table);
  }

  Chart tabled(Table data) {
    return new Chart(id, caption, x, y, series, limits, bands, isWide, data);
  }

  Chart over(List<Band> spans) {
    return new Chart(id, caption, x, y, series, limits, spans, isWide, table);
  }

  /**
   * This chart with the SLO's limit of a measure such as {@code ttft}, if there is one, and that of
   * each of its tiers. A limit far above all values would flatten the lines, so it is named in the
   * caption instead.
   */
  Chart judgedBy(@Nullable Summary summary, String measure) {
    if (summary == null) {
      return this; // of a run that is still on
    }
    if (summary.tiers().isEmpty()) {
      return summary.slo() == null ? this : judgedBy(summary.slo(), "SLO", measure);
    }
    Map<String, SloTable> tiers = new LinkedHashMap<>();
    summary.tiers().forEach(tier -> tiers.put(tier.tier(), tier.slo()));
    Chart judged = this;
    for (Map.Entry<String, SloTable> tier : tiers.entrySet()) {
      judged = judged.judgedBy(tier.getValue(), tier.getKey(), measure);
    }
    return judged;
  }

  private Chart judgedBy(SloTable slo, String name, String measure) {
    return slo.objectives().stream()
        .filter(row -> row.measure().equals(measure))
        .findFirst()
        .map(row -> limitedTo(row.limitMs(), name + " " + NumberText.plainMs(row.limitMs())))
        .orElse(this);
  }

  private Chart limitedTo(double value, String label) {
    double highest = values().mapToDouble(Double::doubleValue).max().orElse(0);
    if (value > 4 * highest) {
      String more = caption.howTo + " " + label + " is above the drawn range.";
      Caption noted = new Caption(caption.title, caption.direction, more, caption.decision);
      return new Chart(id, noted, x, y, series, limits, bands, isWide, table);
    }
    List<Limit> more = Stream.concat(limits.stream(), Stream.of(new Limit(value, label))).toList();
    double end = Math.max(value * 1.2, Objects.requireNonNullElse(y.max(), 0.0));
    Axis scale = value > highest ? y.upTo(end) : y;
    return new Chart(id, caption, x, scale, series, more, bands, isWide, table);
  }

  Chart scaledToRange() {
    var range = values().mapToDouble(Double::doubleValue).summaryStatistics();
    if (range.getCount() == 0 || range.getMin() <= 0 || range.getMax() < 20 * range.getMin()) {
      return this;
    }
    return logarithmic();
  }

  private Chart logarithmic() {
    return y(new Axis(y.name(), y.unit(), Scale.LOG, List.of(), y.max()));
  }

  boolean hasPoints() {
    return values().findAny().isPresent();
  }

  private Stream<Double> values() {
    return series.stream()
        .flatMap(line -> line.points().stream())
        .map(Point::y)
        .filter(Objects::nonNull);
  }

  /** Without a table, a column per series where they share values of x, else a row per point. */
  public Table data() {
    return table != null ? table : x.scale() == Scale.VALUE ? byPoint() : byX();
  }

  /** Title, direction, the range of each series, and limits, for screen readers. */
  public String inWords() {
    StringBuilder words = new StringBuilder(title());
    if (!caption.direction().isEmpty()) {
      words.append(", ").append(caption.direction());
    }
    for (Line line : series.get(0).form == LineForm.LANE ? List.<Line>of() : series) {
      List<Double> values =
          line.points().stream().map(Point::y).filter(Objects::nonNull).sorted().toList();
      if (!values.isEmpty()) {
        String min = NumberText.number(values.get(0));
        String max = NumberText.with(values.get(values.size() - 1), y.unit());
        words.append(". %s: %s to %s".formatted(line.name(), min, max));
      }
      line.pins().forEach(pin -> words.append(". ").append(pin.label()));
    }
    limits.forEach(limit -> words.append(". ").append(limit.label()));
    return words.append('.').toString();
  }

  private Table byX() {
    TreeSet<Double> places = new TreeSet<>();
    List<Column<Double>> columns = new ArrayList<>();
    columns.add(Column.name(x.heading(), x::write));
    for (Line line : series) {
      Map<Double, @Nullable Double> values = new HashMap<>();
      line.points().forEach(point -> values.put(point.x(), point.y()));
      places.addAll(values.keySet());
      String unit = y.unit().isEmpty() ? "" : ", " + y.unit();
      columns.add(Column.number(line.name() + unit, values::get));
    }
    return Table.of(title(), places, columns);
  }

  private record LinePoint(Line line, Point point) {}

  private Table byPoint() {
    List<LinePoint> points =
        series.stream()
            .flatMap(line -> line.points().stream().map(point -> new LinePoint(line, point)))
            .toList();
    return Table.of(
        title(),
        points,
        Column.name(x.heading(), of -> x.write(of.point.x())),
        Column.number(y.heading(), of -> of.point.y()),
        Column.words("Series", of -> of.line.name()),
        Column.words("Point", of -> Objects.requireNonNullElse(of.point.label(), "")));
  }

  private enum Scale {
    /** Linear, from zero. */
    VALUE,
    LOG,
    /** Named positions 0, 1, 2 …. */
    CATEGORY,
    TIME,
    /** −log₁₀(1 − share): 90 %, 99 %, 99.9 % at equal distances. */
    NINES
  }

  record Axis(
      String name, String unit, Scale scale, List<String> categories, @Nullable Double max) {

    static Axis of(String name, String unit) {
      return new Axis(name, unit, Scale.VALUE, List.of(), null);
    }

    static Axis places(String name, String unit, List<String> categories) {
      return new Axis(name, unit, Scale.CATEGORY, categories, null);
    }

    static Axis time() {
      return new Axis("Time since start", "", Scale.TIME, List.of(), null);
    }

    static Axis shares(List<Line> lines) {
      double end =
          lines.stream()
              .flatMap(line -> line.points().stream())
              .mapToDouble(Point::x)
              .max()
              .orElse(0);
      double max = Math.ceil(Math.max(1, end) - 1e-9);
      return new Axis("Share of values", "", Scale.NINES, List.of(), max);
    }

    Axis upTo(double end) {
      return new Axis(name, unit, scale, categories, end);
    }

    String heading() {
      return unit.isEmpty() ? name : name + ", " + unit;
    }

    String write(double value) {
      return switch (scale) {
        case CATEGORY -> categories.get((int) value);
        case TIME -> NumberText.clock(value);
        case NINES -> nines(value);
        case VALUE, LOG -> NumberText.number(value);
      };
    }

    private static String nines(double x) {
      double percent = 100 * (1 - Math.pow(10, -x));
      int digits = Math.max(0, (int) Math.ceil(x - 1e-9) - 2);
      return String.format(Locale.ROOT, "%." + digits + "f %%", percent);
    }
  }

  enum LineForm {
    LINE,
    AREA,
    /** A step per x, stacked on the series before it. */
    LAYER,
    /** A part of horizontal stacked bars, one bar per x. */
    STACK,
    /** A row of a grid whose cells show their value; a stronger colour means higher. */
    GRID,
    /** An agent of a session; each point begins a state, by its number. */
    LANE
  }

  record Line(
      String name, LineForm form, int color, int dash, List<Point> points, List<Point> pins) {

    static Line of(String name, int color, int dash, List<Point> points) {
      return new Line(name, LineForm.LINE, color, dash, points, List.of());
    }

    static Line percentiles(String name, int color, int dash, List<Quantile> curve) {
      List<Point> points =
          curve.stream()
              .filter(quantile -> quantile.percent() < 100 && quantile.value() > 0)
              .map(q -> new Point(-Math.log10(1 - q.percent() / 100), q.value()))
              .toList();
      return of(name, color, dash, points);
    }

    Line as(LineForm other) {
      return new Line(name, other, color, dash, points, pins);
    }

    /** With rings around points, whose labels screen readers read. */
    Line pinned(List<Point> marks) {
      return new Line(name, form, color, dash, points, marks);
    }
  }

  /** A point; without a finite {@code y} the line has a gap. */
  record Point(double x, @Nullable Double y, @Nullable String label) {

    private static final MathContext PRECISION = new MathContext(6);

    Point {
      y = y == null || Double.isFinite(y) ? y : null;
    }

    Point(double x, @Nullable Double y) {
      this(x, y, null);
    }

    static @Nullable Double scaled(@Nullable Double value, double factor) {
      return value == null ? null : (Double) (factor * value);
    }

    static List<Point> ofLevels(
        List<LevelFigures> levels,
        Function<LevelFigures, @Nullable Double> x,
        Function<LevelFigures, @Nullable Double> y) {
      return levels.stream()
          .filter(level -> x.apply(level) != null && y.apply(level) != null)
          .map(level -> new Point(x.apply(level), y.apply(level), level.label()))
          .toList();
    }

    static <T> List<Point> of(
        List<T> items, ToDoubleFunction<? super T> x, Function<? super T, @Nullable Double> y) {
      return items.stream().map(item -> new Point(x.applyAsDouble(item), y.apply(item))).toList();
    }

    @JsonValue
    List<@Nullable Object> toArray() {
      return label == null
          ? Arrays.asList(rounded(x), y == null ? null : rounded(y))
          : Arrays.asList(rounded(x), y == null ? null : rounded(y), label);
    }

    private static Number rounded(double value) {
      return value == Math.rint(value) && Math.abs(value) < 1e15
          ? (Number) (long) value
          : BigDecimal.valueOf(value).round(PRECISION);
    }
  }

  private record Limit(double y, String label) {}

  /** A span of x with a shade from 0 to 2; 2 marks phases that are not measured. */
  record Band(double from, double to, String label, int shade) {

    private static final int MAX_NAMED = 14;

    /** The phases of load levels; those without an end last until the end given. */
    static List<Band> of(
        List<LevelInfo> levels, Function<LevelInfo, String> name, long startUnixNanos, long end) {
      List<Band> bands = new ArrayList<>();
      long measured =
          levels.stream()
              .flatMap(level -> level.phases().stream())
              .filter(phase -> phase.phase() == Phase.MEASURE)
              .count();
      for (int i = 0; i < levels.size(); i++) {
        LevelInfo level = levels.get(i);
        String label = measured <= MAX_NAMED ? name.apply(level) : "";
        for (LevelInfo.PhaseWindow phase : level.phases()) {
          double from = (phase.startUnixNanos() - startUnixNanos) / 1e9;
          long until = Objects.requireNonNullElse(phase.endUnixNanos(), end);
          double to = from + Math.max(0, until - phase.startUnixNanos()) / 1e9;
          boolean isMeasured = phase.phase() == Phase.MEASURE;
          bands.add(isMeasured ? new Band(from, to, label, i % 2) : new Band(from, to, "", 2));
        }
      }
      return bands;
    }
  }
}
