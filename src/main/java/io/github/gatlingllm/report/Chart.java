package io.github.gatlingllm.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonValue;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.Series.Bar;
import io.github.gatlingllm.stats.Series.Shape;
import io.github.gatlingllm.stats.Summary;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One chart: what its caption says, and what {@code report.js} draws. The JSON form holds only what
 * the script needs.
 *
 * @param id of the element it is drawn in
 * @param title what is shown
 * @param direction e.g. {@code lower is better}; empty where neither is
 * @param howTo one sentence on how to read it
 * @param limits lines that values are judged by
 * @param bands spans of x
 * @param isWide whether it takes the whole width
 * @param table its data as a table where the points are not the best one; else null
 */
record Chart(
    String id,
    @JsonIgnore String title,
    @JsonIgnore String direction,
    @JsonIgnore String howTo,
    Axis x,
    Axis y,
    List<Line> series,
    List<Limit> limits,
    List<Band> bands,
    @JsonIgnore boolean isWide,
    @JsonIgnore @Nullable Table table) {

  /**
   * A chart with neither limits nor bands, with the texts of {@code charts.txt}.
   *
   * @param key its row there; up to a space it is the chart's id
   * @param values what stands there for {@code {0}}, {@code {1}} …
   */
  static Chart of(String key, Axis x, List<Line> series, Object... values) {
    List<String> texts = Templates.texts("charts.txt", key, values);
    String[] y = texts.get(2).split(", |,$", 2);
    return new Chart(
        key.replaceFirst(" .*", ""),
        texts.get(0),
        texts.get(1),
        texts.get(3),
        x,
        Axis.of(y[0], y.length > 1 ? y[1] : ""),
        series,
        List.of(),
        List.of(),
        false,
        null);
  }

  /**
   * The chart of one distribution: a bar per range of values.
   *
   * @param x what was counted, and its unit
   */
  static Chart histogram(String key, Axis x, Shape shape, Object... values) {
    List<String> places =
        shape.bars().stream()
            .map(bar -> NumberText.number(bar.from()) + "–" + NumberText.number(bar.to()))
            .toList();
    List<Point> points = Point.inOrder(shape.bars(), bar -> (double) bar.count());
    Line bars = new Line(x.name(), Form.BAR, 0, 0, points, List.of());
    String name = x.name() + (isByRatio(shape) ? ", logarithmic" : "");
    return of(key, Axis.places(name, x.unit(), places), List.of(bars), values);
  }

  /** Percentiles of distributions on a scale of nines. */
  static Chart percentiles(String key, String title, List<Line> lines) {
    return of(key, Axis.shares(lines), lines, title).logarithmic();
  }

  private static boolean isByRatio(Shape shape) {
    List<Bar> bars = shape.bars();
    return bars.size() > 2
        && bars.get(1).to() - bars.get(1).from() > 1.01 * (bars.get(0).to() - bars.get(0).from());
  }

  /** The same under another id. */
  Chart id(String other) {
    return new Chart(other, title, direction, howTo, x, y, series, limits, bands, isWide, table);
  }

  /** The same under another title. */
  Chart title(String other) {
    return new Chart(id, other, direction, howTo, x, y, series, limits, bands, isWide, table);
  }

  /** The same with more on how to read it. */
  Chart saying(String more) {
    String both = howTo + more;
    return new Chart(id, title, direction, both, x, y, series, limits, bands, isWide, table);
  }

  /** The same with another y axis. */
  Chart y(Axis other) {
    return new Chart(id, title, direction, howTo, x, other, series, limits, bands, isWide, table);
  }

  /** The same with a y axis up to there. */
  Chart upTo(double end) {
    return y(y.upTo(end));
  }

  /** The same over the whole width. */
  Chart widened() {
    return new Chart(id, title, direction, howTo, x, y, series, limits, bands, true, table);
  }

  /** The same with a table of its own. */
  Chart tabled(Table data) {
    return new Chart(id, title, direction, howTo, x, y, series, limits, bands, isWide, data);
  }

  /** The same with spans of x marked. */
  Chart over(List<Band> spans) {
    return new Chart(id, title, direction, howTo, x, y, series, limits, spans, isWide, table);
  }

  /**
   * The same judged by the SLO's limit of a measure such as {@code ttft}, where it has one. A limit
   * far above all values would flatten them, so it is then left to the caption.
   */
  Chart judgedBy(Summary.@Nullable SloTable slo, String measure) {
    return slo == null
        ? this
        : slo.objectives().stream()
            .filter(row -> row.measure().equals(measure))
            .findFirst()
            .map(row -> limitedTo(row.limitMs()))
            .orElse(this);
  }

  private Chart limitedTo(double value) {
    String label = "SLO " + NumberText.plainMs(value);
    double highest = values().mapToDouble(Double::doubleValue).max().orElse(0);
    if (value > 4 * highest) {
      return saying(" " + label + " lies above what is drawn.");
    }
    List<Limit> one = List.of(new Limit(value, label));
    Axis scale = value > highest ? y.upTo(value * 1.2) : y;
    return new Chart(id, title, direction, howTo, x, scale, series, one, bands, isWide, table);
  }

  /** The same with a logarithmic y axis where values differ too much for any other. */
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

  /** Whether there is anything to draw. */
  boolean hasPoints() {
    return values().findAny().isPresent();
  }

  private Stream<Double> values() {
    return series.stream()
        .flatMap(line -> line.points().stream())
        .map(Point::y)
        .filter(Objects::nonNull);
  }

  /** What a screen reader says of it. */
  public String inWords() {
    return new ChartText(this).inWords();
  }

  /** What it draws, as a table. */
  public Table data() {
    return table == null ? new ChartText(this).table() : table;
  }

  /** How a coordinate is laid out and written. */
  enum Scale {
    /** Numbers from zero. */
    VALUE,
    /** Positive numbers, each decade as wide as the next. */
    LOG,
    /** Places with names. */
    CATEGORY,
    /** Seconds since the start of the run. */
    TIME,
    /** −log₁₀(1 − share): 90 %, 99 %, 99.9 % at equal distances. */
    NINES
  }

  /**
   * One axis.
   *
   * @param categories names of the places 0, 1, 2 …; empty on other scales
   * @param max upper end; null lets the data decide
   */
  record Axis(
      String name, String unit, Scale scale, List<String> categories, @Nullable Double max) {

    static Axis of(String name, String unit) {
      return of(name, unit, Scale.VALUE);
    }

    static Axis of(String name, String unit, Scale scale) {
      return new Axis(name, unit, scale, List.of(), null);
    }

    static Axis places(String name, String unit, List<String> categories) {
      return new Axis(name, unit, Scale.CATEGORY, categories, null);
    }

    static Axis time() {
      return of("Time since start", "", Scale.TIME);
    }

    /** Shares of all values on a scale of nines, as far as those lines go. */
    static Axis shares(List<Line> lines) {
      double end =
          lines.stream()
              .flatMap(line -> line.points().stream())
              .mapToDouble(Point::x)
              .max()
              .orElse(0);
      return of("Share of values", "", Scale.NINES).upTo(Math.ceil(Math.max(1, end) - 1e-9));
    }

    Axis upTo(double end) {
      return new Axis(name, unit, scale, categories, end);
    }

    /** Its name with its unit. */
    String heading() {
      return unit.isEmpty() ? name : name + ", " + unit;
    }

    /** How a value of this axis is written, without its unit. */
    String write(double value) {
      return switch (scale) {
        case CATEGORY -> categories.get((int) value);
        case TIME -> NumberText.clock(value);
        case NINES -> nines(value);
        case VALUE, LOG -> NumberText.number(value);
      };
    }

    /** The percentile at a place on the scale of nines, e.g. {@code 99.9 %}. */
    private static String nines(double x) {
      double percent = 100 * (1 - Math.pow(10, -x));
      int digits = Math.max(0, (int) Math.ceil(x - 1e-9) - 2);
      return String.format(Locale.ROOT, "%." + digits + "f %%", percent);
    }
  }

  /** How a series is drawn. */
  enum Form {
    LINE,
    AREA,
    BAR,
    /** A step per place of x, on top of the series before it. */
    LAYER,
    /** A row of a heat map: the values are counts, the darker the more. */
    HEAT,
    /** Single values, a dot each. */
    DOTS,
    /** A part of bars that lie on their side, one per place of x, next to the part before it. */
    STACK,
    /** Instants on such a bar, a tick each. */
    TICKS,
    /** A row of a map of places: each value is written in its cell, the darker the higher. */
    GRID
  }

  /**
   * One series.
   *
   * @param color number of its colour and symbol, from 0
   * @param dash number of its dash pattern, from 0
   */
  record Line(String name, Form form, int color, int dash, List<Point> points, List<Pin> pins) {

    static Line of(String name, int color, int dash, List<Point> points) {
      return new Line(name, Form.LINE, color, dash, points, List.of());
    }

    /** The percentiles of a distribution against shares on a scale of nines. */
    static Line percentiles(String name, int number, Shape shape) {
      List<Point> points =
          shape.quantiles().stream()
              .filter(quantile -> quantile.percent() < 100 && quantile.value() > 0)
              .map(q -> new Point(-Math.log10(1 - q.percent() / 100), q.value()))
              .toList();
      return of(name, number, number, points);
    }

    Line as(Form other) {
      return new Line(name, other, color, dash, points, pins);
    }

    Line pinned(List<Pin> marks) {
      return new Line(name, form, color, dash, points, marks);
    }
  }

  /** A point; without {@code y} the line has a gap. */
  record Point(double x, @Nullable Double y, @Nullable String label) {

    private static final MathContext PRECISION = new MathContext(6);

    Point(double x, @Nullable Double y) {
      this(x, y, null);
    }

    /** A point per item at the places 0, 1, 2 …. */
    static <T> List<Point> inOrder(List<T> items, Function<? super T, @Nullable Double> y) {
      List<Point> points = new ArrayList<>();
      for (T item : items) {
        points.add(new Point(points.size(), y.apply(item)));
      }
      return points;
    }

    /** A point per item. */
    static <T> List<Point> of(
        List<T> items, ToDoubleFunction<? super T> x, Function<? super T, @Nullable Double> y) {
      return items.stream().map(item -> new Point(x.applyAsDouble(item), y.apply(item))).toList();
    }

    /** Its short JSON form: [x, y] or [x, y, label]. */
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

  /** A mark around a point. */
  record Pin(double x, double y, String label) {}

  /** A horizontal line. */
  record Limit(double y, String label) {}

  /** A span of x; the darker its shade (0 to 2), the less what happens there counts. */
  record Band(double from, double to, String label, int shade) {}
}
