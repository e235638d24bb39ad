package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.level.Series.Shape;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Whether requests of open loops started when they were planned to. */
final class ArrivalSection {

  private final Summary summary;
  private final Series series;
  private final List<LevelFigures> open;

  ArrivalSection(Summary summary, Series series) {
    this.summary = summary;
    this.series = series;
    open = summary.stages().stream().filter(stage -> stage.arrivals() != null).toList();
  }

  /** The section; null without open load levels. */
  @Nullable Section section() {
    ArrivalFigures all = summary.arrivals();
    if (all == null) {
      return null;
    }
    List<Chart> charts = new ArrayList<>();
    charts.add(
        Chart.of(
                "arrivals-rate",
                Axis.time(),
                List.of(
                    Line.of("realised", 0, 0, perSecond(Bucket::realisedArrivals)),
                    Line.of("planned", 1, 2, perSecond(Bucket::plannedArrivals))))
            .widened());
    Shape lag = series.requestSamples().lagMs();
    if (lag != null) {
      String pooled = new RunText(summary).pooled();
      charts.add(Chart.histogram("arrivals-lag", Axis.of("Late by", "ms"), lag, pooled));
    }
    if (open.size() > 1) {
      charts.add(
          Chart.of(
              "arrivals-dispersion",
              Axis.places(
                  "Load level",
                  "",
                  open.stream().map(s -> KeyFigureTables.place(summary, s)).toList()),
              List.of(
                  Line.of("realised", 0, 0, byLevel(ArrivalFigures::realisedDispersion)),
                  Line.of("planned", 1, 2, byLevel(ArrivalFigures::plannedDispersion)))));
    }
    return Section.of("arrivals").body("", List.of(arrivals(all))).charts(charts);
  }

  private List<Point> perSecond(ToDoubleFunction<Bucket> count) {
    return Point.of(
        series.overTime(), Bucket::startS, b -> count.applyAsDouble(b) / series.bucketS());
  }

  private List<Point> byLevel(Function<ArrivalFigures, @Nullable Double> figure) {
    return Point.inOrder(open, stage -> figure.apply(Objects.requireNonNull(stage.arrivals())));
  }

  /** Planned and realised arrivals: a row per open load level, and one for all of them. */
  private Table arrivals(ArrivalFigures all) {
    List<Entry<String, ArrivalFigures>> rows = new ArrayList<>();
    for (LevelFigures stage : summary.stages()) {
      if (stage.arrivals() != null) {
        rows.add(Map.entry(KeyFigureTables.place(summary, stage), stage.arrivals()));
      }
    }
    rows.add(Map.entry("all", all));
    return Columns.<Entry<String, ArrivalFigures>>of(Column.name("Load level", Entry::getKey))
        .of(
            Entry::getValue,
            List.of(
                Column.count("arrivals", ArrivalFigures::count),
                Column.number("planned, req/s", ArrivalFigures::plannedPerS),
                Column.number("realised, req/s", ArrivalFigures::realisedPerS),
                Column.number("dispersion planned", ArrivalFigures::plannedDispersion),
                Column.number("realised", ArrivalFigures::realisedDispersion),
                Column.number("late p50, ms", ArrivalFigures::lagP50Ms),
                Column.number("late p99, ms", ArrivalFigures::lagP99Ms),
                Column.number("late max, ms", ArrivalFigures::lagMaxMs)))
        .table("Planned against realised arrivals", rows);
  }
}
