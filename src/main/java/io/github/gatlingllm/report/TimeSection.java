package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.level.Series.GeneratorBucket;
import io.github.gatlingllm.figures.level.Series.LaneState;
import io.github.gatlingllm.figures.level.Series.SessionLane;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
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
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The run over time, and the load generator over time. */
record TimeSection(
    Series series,
    List<Band> bands,
    Metric ttft,
    @Nullable Summary summary,
    boolean isJudged,
    String pooled) {

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
  @SuppressWarnings("EnumOrdinal") // the script knows states by number
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
    return ChartLine.overTime(key, Bucket.class, series.overTime(), scale);
  }

  private Chart ofGenerator(String key) {
    return Chart.of(
        key, Axis.time(), ChartLine.overTime(key, GeneratorBucket.class, series.generator(), 1));
  }

  private Line line(String name, int color, int dash, Function<Bucket, @Nullable Double> figure) {
    return Line.of(name, color, dash, Point.of(series.overTime(), Bucket::startS, figure));
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
  static List<Band> bands(Summary summary) {
    Summary.RunSummary run = summary.run();
    // bands are narrow: a long label gets two lines
    return Band.of(
        summary.stages().stream().map(LevelFigures::info).toList(),
        level -> summary.place(level).replaceFirst(" of ", "\nof "),
        run.loadStartUnixNs(),
        run.endUnixNs());
  }
}
