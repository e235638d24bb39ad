package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Chart.Scale;
import io.github.gatlingllm.stats.Series;
import io.github.gatlingllm.stats.Series.Bucket;
import io.github.gatlingllm.stats.Series.Shape;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Whether requests of open loops started when they were planned to. */
final class ArrivalSection {

  private final Summary summary;
  private final Series series;

  ArrivalSection(Summary summary, Series series) {
    this.summary = summary;
    this.series = series;
  }

  /** The section; empty in closed loops. */
  Optional<Section> section() {
    ArrivalFigures all = summary.arrivals();
    if (all == null) {
      return Optional.empty();
    }
    List<Chart> charts = new ArrayList<>();
    charts.add(rate());
    Shape lag = series.closeUps().lagMs();
    if (lag != null) {
      charts.add(
          Histogram.of(
              "arrivals-lag",
              "How late requests started",
              "Real start minus planned start; it is part of queue wait and of every time from"
                  + " schedule, and in no other latency.",
              Axis.of("Late by", "ms"),
              "Requests",
              lag));
    }
    dispersion().ifPresent(charts::add);
    return Optional.of(
        new Section(
            "arrivals",
            "Planned against realised arrivals",
            "Arrivals",
            "An open loop is only open if requests start when they were planned to, however slow"
                + " the server is. Dispersion is variance ÷ mean of arrivals per second: 1 for"
                + " Poisson arrivals, 0 for constant ones, above 1 for bursts.",
            table(all),
            charts));
  }

  private Html table(ArrivalFigures all) {
    Table table =
        new Table(
            "Planned against realised arrivals",
            List.of(
                "Load level",
                "arrivals",
                "planned, req/s",
                "realised, req/s",
                "dispersion planned",
                "realised",
                "late p50, ms",
                "late p99, ms",
                "late max, ms"));
    for (Stage stage : summary.stages()) {
      if (stage.arrivals() != null) {
        row(table, SummaryTables.place(summary, stage), stage.arrivals());
      }
    }
    row(table, "all", all);
    return table.html();
  }

  private static void row(Table table, String name, ArrivalFigures arrivals) {
    table
        .row(name, "")
        .cell(NumberText.count(arrivals.count()))
        .cell(NumberText.number(arrivals.plannedPerS()))
        .cell(NumberText.number(arrivals.realisedPerS()))
        .cell(NumberText.number(arrivals.plannedDispersion()))
        .cell(NumberText.number(arrivals.realisedDispersion()))
        .cell(NumberText.number(arrivals.lagP50Ms()))
        .cell(NumberText.number(arrivals.lagP99Ms()))
        .cell(NumberText.number(arrivals.lagMaxMs()))
        .end();
  }

  private Chart rate() {
    return new Chart(
            "arrivals-rate",
            "ArrivalFigures per second, planned and realised",
            "the closer the better",
            "Where the lines lie on each other the plan was kept; where the realised one falls"
                + " behind and then overshoots, requests started late. Of recorded requests, all"
                + " phases.",
            Axis.of("Time since start", "", Scale.TIME),
            Axis.of("Arrivals", "req/s"),
            List.of(
                Line.of("realised", 0, 0, points(Bucket::realisedArrivals)),
                Line.of("planned", 1, 2, points(Bucket::plannedArrivals))))
        .widened();
  }

  private List<Point> points(ToDoubleFunction<Bucket> count) {
    return series.overTime().stream()
        .map(b -> new Point(b.startS(), count.applyAsDouble(b) / series.bucketS()))
        .toList();
  }

  private Optional<Chart> dispersion() {
    List<Stage> open = summary.stages().stream().filter(s -> s.arrivals() != null).toList();
    if (open.size() < 2) {
      return Optional.empty();
    }
    List<String> places = open.stream().map(s -> SummaryTables.place(summary, s)).toList();
    return Optional.of(
        new Chart(
            "arrivals-dispersion",
            "Dispersion of arrivals against load",
            "the closer the better",
            "How bursty arrivals were planned and came: where realised lies below planned, bursts"
                + " were smoothed out and the server had it easier than intended.",
            Axis.places("Load level", "", places),
            Axis.of("Variance ÷ mean", ""),
            List.of(
                dispersion("realised", 0, 0, open, ArrivalFigures::realisedDispersion),
                dispersion("planned", 1, 2, open, ArrivalFigures::plannedDispersion))));
  }

  private static Line dispersion(
      String name,
      int color,
      int dash,
      List<Stage> open,
      Function<ArrivalFigures, @Nullable Double> figure) {
    List<Point> points = new ArrayList<>();
    for (Stage stage : open) {
      ArrivalFigures arrivals = Objects.requireNonNull(stage.arrivals());
      points.add(new Point(points.size(), figure.apply(arrivals)));
    }
    return Line.of(name, color, dash, points);
  }
}
