package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.level.Series.GeneratorBucket;
import io.github.gatlingllm.figures.level.Series.LaneState;
import io.github.gatlingllm.figures.level.Series.SessionLane;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.EngineFigures.EnginePoint;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Band;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.LineForm;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The run, the server and the load generator over time.
 *
 * @param summary null while the run is in progress
 */
record TimeSection(
    Series series,
    List<Band> bands,
    Metric ttft,
    @Nullable Summary summary,
    boolean isJudged,
    String pooled) {

  /** Up to this number of GPUs each has a line, as readers can distinguish them; else quantiles. */
  private static final int MAX_LINES = 16;

  private static final int COLORS = 6;

  static TimeSection of(Summary summary, Series series) {
    return new TimeSection(
        series,
        bands(summary),
        summary.headlineMetric(Metric.TTFT_MS),
        summary,
        summary.slo() != null,
        summary.curves().size() > 1 ? ", all targets and scenarios together" : "");
  }

  /** The section; without charts if no request was in flight. */
  Section section() {
    List<Chart> charts =
        Stream.of(
                chart("time-ttft", ttft.title())
                    .widened()
                    .judgedBy(summary, "ttft")
                    .scaledToRange(),
                chart(isJudged ? "time-tokens judged" : "time-tokens"),
                chart("time-itl").judgedBy(summary, "itl").scaledToRange(),
                series.lanes().isEmpty() ? chart("time-in-flight") : null,
                replicas(),
                Chart.of(
                    "time-requests", Axis.time(), lines("time-requests", 1 / series.bucketS())),
                failures(),
                quotas())
            .filter(chart -> chart != null && chart.hasPoints())
            .map(chart -> chart.over(bands))
            .toList();
    Section section = Section.of("time", NumberText.duration(series.bucketS()), pooled);
    return charts.isEmpty()
        ? section.body("No request was in flight at any time.")
        : section.body("time", Map.of("tables", List.of())).charts(charts);
  }

  /** Replayed sessions, a lane for each of their agents; null without any. */
  @SuppressWarnings("EnumOrdinal") // the script identifies states by number
  @Nullable Section sessions(List<Table> tables) {
    if (series.lanes().isEmpty()) {
      return null;
    }
    long drawn = series.lanes().stream().map(SessionLane::session).distinct().count();
    double end = (series.overTime().size() - 1) * series.bucketS();
    List<Line> lanes =
        series.lanes().stream()
            .map(
                lane ->
                    Line.of(
                            lane.agent().isEmpty() ? lane.session() : lane.agent(),
                            0,
                            lane.agent().isEmpty() ? 0 : 1,
                            lane.parts().entrySet().stream()
                                .map(
                                    part ->
                                        new Point(
                                            part.getKey(),
                                            part.getValue() == null
                                                ? null
                                                : (Double) (double) part.getValue().ordinal()))
                                .toList())
                        .as(LineForm.LANE))
            .toList();
    String which = drawn == series.sessions() ? "all" : drawn + " of " + series.sessions();
    return Section.of("sessions", which)
        .body("time", Map.of("tables", tables))
        .charts(
            List.of(
                Chart.of("session-lanes", Axis.time().upTo(end), lanes)
                    .over(bands)
                    .widened()
                    .tabled(laneTable()),
                chart("time-in-flight of sessions").over(bands).widened()));
  }

  private Table laneTable() {
    List<Column<SessionLane>> columns = new ArrayList<>();
    columns.add(Column.name("Session", SessionLane::session));
    columns.add(Column.words("agent", SessionLane::agent));
    columns.add(Column.number("start, s", SessionLane::startS));
    columns.add(Column.number("time, s", SessionLane::lengthS));
    columns.add(Column.count("requests", SessionLane::requests));
    for (LaneState state : LaneState.values()) {
      if (series.lanes().stream().anyMatch(lane -> lane.seconds().get(state) > 0)) {
        String name = state.name().toLowerCase(Locale.ROOT) + ", s";
        columns.add(Column.number(name, lane -> lane.seconds().get(state)));
      }
    }
    columns.add(Column.words("outcome", SessionLane::end));
    return Table.of("Sessions", series.lanes(), columns);
  }

  /** The section on the load generator; null if it was not monitored. */
  @Nullable Section generator() {
    return series.generator().isEmpty()
        ? null
        : Section.of("generator")
            .charts(
                Stream.of(
                        ofGenerator("generator-lag").scaledToRange(),
                        ofGenerator("generator-cpu").upTo(100))
                    .map(chart -> chart.over(bands))
                    .toList());
  }

  private Chart chart(String key, Object... values) {
    return Chart.of(key, Axis.time(), lines(key, 1), values);
  }

  private List<Line> lines(String key, double scale) {
    return Chart.overTime(key, Bucket.class, series.overTime(), scale);
  }

  private Chart ofGenerator(String key) {
    return Chart.of(
        key, Axis.time(), Chart.overTime(key, GeneratorBucket.class, series.generator(), 1));
  }

  private Line line(String name, int color, int dash, Function<Bucket, @Nullable Double> figure) {
    return Line.of(name, color, dash, Point.of(series.overTime(), Bucket::startS, figure));
  }

  private Chart replicas() {
    List<Summary.TargetSummary> targets = summary == null ? List.of() : summary.targets();
    List<Line> lines = new ArrayList<>();
    for (Summary.TargetSummary target : targets) {
      target
          .replicas()
          .forEach(
              (kind, changes) ->
                  lines.add(
                      line(
                          targets.size() == 1 ? kind : target.label() + " " + kind,
                          lines.size() % 6,
                          lines.size() % 3,
                          bucket -> last(changes.headMap(Math.nextUp(bucket.startS()))))));
    }
    return Chart.of("time-in-flight of replicas", Axis.time(), lines).id("time-replicas");
  }

  private static @Nullable Double last(SortedMap<Double, Double> changes) {
    return changes.isEmpty() ? null : changes.get(changes.lastKey());
  }

  private Chart quotas() {
    List<Line> lines = new ArrayList<>();
    for (String name : names(Bucket::quotaLeft)) {
      int number = lines.size();
      lines.add(
          line(
              name.replace('_', ' '),
              number % 6,
              number % 3,
              bucket -> Point.scaled(bucket.quotaLeft().get(name), 100)));
    }
    return Chart.of("time-quotas", Axis.time(), lines);
  }

  private Chart failures() {
    List<Line> lines = new ArrayList<>();
    for (String kind : names(Bucket::failures)) {
      lines.add(
          line(
                  kind.replace('_', ' '),
                  lines.size() + 1,
                  0,
                  bucket -> bucket.failures().getOrDefault(kind, 0L) / series.bucketS())
              .as(LineForm.LAYER));
    }
    return Chart.of("time-failures", Axis.time(), lines);
  }

  private List<String> names(Function<Bucket, Map<String, ?>> figures) {
    return series.overTime().stream()
        .flatMap(bucket -> figures.apply(bucket).keySet().stream())
        .distinct()
        .sorted()
        .toList();
  }

  /** The phases of load levels; measure windows are labelled. */
  private static List<Band> bands(Summary summary) {
    Summary.RunSummary run = summary.run();
    // bands are narrow: a long label gets two lines
    return Band.of(
        summary.stages().stream().map(LevelFigures::info).toList(),
        level -> summary.place(level).replaceFirst(" of ", "\nof "),
        run.loadStartUnixNs(),
        run.endUnixNs());
  }

  /** The server's own metrics, compared with the client's figures; null without any. */
  @Nullable Section engine() {
    Summary run = Objects.requireNonNull(summary);
    if (run.serverPages().isEmpty()) {
      return null;
    }
    Stream<Chart> engines =
        Stream.of(
            ofTargets("engine-requests"),
            ofTargets("engine-cache").upTo(100),
            ofTargets("engine-times").scaledToRange(),
            ofTargets("engine-machine").upTo(100));
    return Section.of("engine")
        .body("", Tables.of(run).at("engine"))
        .charts(
            Stream.concat(engines, gpus())
                .filter(Chart::hasPoints)
                .map(chart -> chart.over(bands))
                .toList());
  }

  /** A line of each target; colours distinguish several targets. */
  private Chart ofTargets(String key) {
    List<Line> lines = new ArrayList<>();
    List<String> targets = List.copyOf(series.engines().keySet());
    boolean isOne = targets.size() == 1;
    List<List<Line>> drawn =
        targets.stream()
            .map(target -> Chart.overTime(key, EnginePoint.class, series.engines().get(target), 1))
            .toList();
    for (int i = 0; !drawn.isEmpty() && i < drawn.get(0).size(); i++) {
      for (int target = 0; target < drawn.size(); target++) {
        Line line = drawn.get(target).get(i);
        if (line.points().stream().anyMatch(point -> point.y() != null)) {
          String name = isOne ? line.name() : targets.get(target) + " " + line.name();
          lines.add(Line.of(name, isOne ? line.color() : target, line.dash(), line.points()));
        }
      }
    }
    return Chart.of(key, Axis.time(), lines);
  }

  private record Gauge(
      EngineMetric gauge, String name, String unit, double factor, String better) {}

  private static final List<Gauge> GAUGES =
      List.of(
          new Gauge(EngineMetric.GPU_CLOCK_MHZ, "Clock", "MHz", 1, "↑ higher is faster"),
          new Gauge(EngineMetric.GPU_TEMPERATURE_C, "Temperature", "°C", 1, "↓ lower is better"),
          new Gauge(EngineMetric.GPU_POWER_W, "Power", "W", 1, "↓ lower is better"),
          new Gauge(EngineMetric.GPU_UTILIZATION, "Utilisation", "%", 100, "equal is better"),
          new Gauge(
              EngineMetric.GPU_MEMORY_USED_BYTES, "Memory", "GB", 1e-9, "↓ lower leaves room"));

  private Stream<Chart> gpus() {
    return GAUGES.stream()
        .map(
            of ->
                Chart.of("gpus", Axis.time(), lines(of), of.name, of.unit, of.better)
                    .id("gpus-" + of.name.toLowerCase(Locale.ROOT)));
  }

  private List<Line> lines(Gauge of) {
    Map<String, List<Point>> byGpu = new TreeMap<>(Gpu.BY_NUMBER);
    Map<Double, List<Double>> byTime = new TreeMap<>();
    for (List<EnginePoint> ofTarget : series.engines().values()) {
      // A page that describes all targets is in the points of each.
      List<String> known = List.copyOf(byGpu.keySet());
      for (EnginePoint point : ofTarget) {
        point.gpus().keySet().stream()
            .filter(name -> !known.contains(name))
            .forEach(
                name -> {
                  Double value = Point.scaled(point.gpus().get(name).get(of.gauge), of.factor);
                  if (value != null) {
                    byGpu
                        .computeIfAbsent(name, any -> new ArrayList<>())
                        .add(new Point(point.startS(), value));
                    byTime.computeIfAbsent(point.startS(), any -> new ArrayList<>()).add(value);
                  }
                });
      }
    }
    List<Line> lines = new ArrayList<>();
    if (byGpu.size() <= MAX_LINES) {
      byGpu.forEach(
          (name, points) ->
              lines.add(Line.of(name, lines.size() % COLORS, lines.size() / COLORS, points)));
      return lines;
    }
    byTime.values().forEach(values -> values.sort(null));
    List<String> names = List.of("lowest GPU", "p10", "median", "p90", "highest GPU");
    double[] shares = {0, 0.1, 0.5, 0.9, 1};
    for (int i = 0; i < shares.length; i++) {
      double share = shares[i];
      List<Point> points = new ArrayList<>();
      byTime.forEach(
          (at, values) ->
              points.add(new Point(at, values.get((int) Math.round(share * (values.size() - 1))))));
      lines.add(Line.of(names.get(i), i, i % 3, points));
    }
    return lines;
  }
}
