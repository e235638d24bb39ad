package io.github.gatlingllm.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonValue;
import io.github.gatlingllm.metric.NumberText;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
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
 * @param wide whether it takes the whole width
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
    @JsonIgnore boolean wide,
    @JsonIgnore @Nullable Html table) {

  /** A chart with neither limits nor bands. */
  Chart(
      String id, String title, String direction, String howTo, Axis x, Axis y, List<Line> series) {
    this(id, title, direction, howTo, x, y, series, List.of(), List.of(), false, null);
  }

  /** The same over the whole width. */
  Chart widened() {
    return new Chart(id, title, direction, howTo, x, y, series, limits, bands, true, table);
  }

  /** The same with a table of its own. */
  Chart tabled(Html data) {
    return new Chart(id, title, direction, howTo, x, y, series, limits, bands, wide, data);
  }

  /** The same with spans of x marked. */
  Chart over(List<Band> spans) {
    return new Chart(id, title, direction, howTo, x, y, series, limits, spans, wide, table);
  }

  /**
   * The same judged by a limit. One far above all values would flatten them, so it is then left to
   * the caption.
   */
  Chart limitedTo(double value, String label) {
    double highest =
        series.stream()
            .flatMap(line -> line.points().stream())
            .mapToDouble(point -> point.y() == null ? 0 : point.y())
            .max()
            .orElse(0);
    if (value > 4 * highest) {
      String said = howTo + " " + label + " lies above what is drawn.";
      return new Chart(id, title, direction, said, x, y, series, limits, bands, wide, table);
    }
    List<Limit> one = List.of(new Limit(value, label));
    Axis scale = value > highest ? y.upTo(value * 1.2) : y;
    return new Chart(id, title, direction, howTo, x, scale, series, one, bands, wide, table);
  }

  /** The same with a logarithmic y axis where values differ too much for any other. */
  Chart scaledToRange() {
    var values =
        series.stream()
            .flatMap(line -> line.points().stream())
            .map(Point::y)
            .filter(Objects::nonNull)
            .mapToDouble(Double::doubleValue)
            .summaryStatistics();
    if (values.getCount() == 0 || values.getMin() <= 0 || values.getMax() < 20 * values.getMin()) {
      return this;
    }
    Axis log = new Axis(y.name(), y.unit(), Scale.LOG, List.of(), y.max());
    return new Chart(id, title, direction, howTo, x, log, series, limits, bands, wide, table);
  }

  /** Whether there is anything to draw. */
  boolean hasPoints() {
    return series.stream().flatMap(line -> line.points().stream()).anyMatch(p -> p.y() != null);
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
      return new Axis(name, unit, Scale.VALUE, List.of(), null);
    }

    static Axis of(String name, String unit, Scale scale) {
      return new Axis(name, unit, scale, List.of(), null);
    }

    static Axis places(String name, String unit, List<String> categories) {
      return new Axis(name, unit, Scale.CATEGORY, categories, null);
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
        case NINES -> NinesScale.label(value);
        case VALUE, LOG -> NumberText.number(value);
      };
    }
  }

  /** How a series is drawn. */
  enum Form {
    LINE,
    AREA,
    BAR,
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
