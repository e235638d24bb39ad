package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.stats.Series;
import io.github.gatlingllm.stats.Series.Bucket;
import io.github.gatlingllm.stats.Series.Shape;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Whether requests of open loops started when they were planned to. */
final class ArrivalSection {

  private final Summary summary;
  private final Series series;
  private final List<Stage> open;

  ArrivalSection(Summary summary, Series series) {
    this.summary = summary;
    this.series = series;
    open = summary.stages().stream().filter(stage -> stage.arrivals() != null).toList();
  }

  /** The section; empty in closed loops. */
  Optional<Section> section() {
    ArrivalFigures all = summary.arrivals();
    if (all == null) {
      return Optional.empty();
    }
    List<Chart> charts = new ArrayList<>();
    charts.add(rate());
    Shape lag = series.requestSamples().lagMs();
    if (lag != null) {
      charts.add(
          Chart.histogram(
              "arrivals-lag",
              "How late requests started",
              "Real start minus planned start; it is part of queue wait and of every time from"
                  + " schedule, and in no other latency. "
                  + new RunText(summary).pooled(),
              Axis.of("Late by", "ms"),
              "Requests",
              lag));
    }
    if (open.size() > 1) {
      charts.add(dispersion());
    }
    return Optional.of(
        Section.of(
                "arrivals",
                "Planned against realised arrivals",
                "Arrivals",
                "An open loop is only open if requests start when they were planned to, however"
                    + " slow the server is. Dispersion is variance ÷ mean of arrivals per second: 1"
                    + " for Poisson arrivals, 0 for constant ones, above 1 for bursts.")
            .body("", List.of(arrivals(all)))
            .charts(charts));
  }

  private Chart rate() {
    return new Chart(
            "arrivals-rate",
            "Arrivals per second, planned and realised",
            "the closer the better",
            "Where the lines lie on each other the plan was kept; where the realised one falls"
                + " behind and then overshoots, requests started late. Of recorded requests, all"
                + " phases.",
            Axis.time(),
            Axis.of("Arrivals", "req/s"),
            List.of(
                Line.of("realised", 0, 0, perSecond(Bucket::realisedArrivals)),
                Line.of("planned", 1, 2, perSecond(Bucket::plannedArrivals))))
        .widened();
  }

  private List<Point> perSecond(ToDoubleFunction<Bucket> count) {
    return Point.of(
        series.overTime(), Bucket::startS, b -> count.applyAsDouble(b) / series.bucketS());
  }

  private Chart dispersion() {
    return new Chart(
        "arrivals-dispersion",
        "Dispersion of arrivals against load",
        "the closer the better",
        "How bursty arrivals were planned and came: where realised lies below planned, bursts were"
            + " smoothed out and the server had it easier than intended.",
        Axis.places(
            "Load level", "", open.stream().map(s -> KeyFigureTables.place(summary, s)).toList()),
        Axis.of("Variance ÷ mean", ""),
        List.of(
            Line.of("realised", 0, 0, byLevel(ArrivalFigures::realisedDispersion)),
            Line.of("planned", 1, 2, byLevel(ArrivalFigures::plannedDispersion))));
  }

  private List<Point> byLevel(Function<ArrivalFigures, @Nullable Double> figure) {
    return Point.inOrder(open, stage -> figure.apply(Objects.requireNonNull(stage.arrivals())));
  }

  /** Planned against realised arrivals, a row per open load level and one for all. */
  private Table arrivals(ArrivalFigures all) {
    List<Entry<String, ArrivalFigures>> rows = new ArrayList<>();
    for (Stage stage : summary.stages()) {
      if (stage.arrivals() != null) {
        rows.add(Map.entry(KeyFigureTables.place(summary, stage), stage.arrivals()));
      }
    }
    rows.add(Map.entry("all", all));
    return Table.of(
        "Planned against realised arrivals",
        rows,
        Column.name("Load level", Entry::getKey),
        Column.<ArrivalFigures>count("arrivals", ArrivalFigures::count).in(Entry::getValue),
        arrivals("planned, req/s", ArrivalFigures::plannedPerS),
        arrivals("realised, req/s", ArrivalFigures::realisedPerS),
        arrivals("dispersion planned", ArrivalFigures::plannedDispersion),
        arrivals("realised", ArrivalFigures::realisedDispersion),
        arrivals("late p50, ms", ArrivalFigures::lagP50Ms),
        arrivals("late p99, ms", ArrivalFigures::lagP99Ms),
        arrivals("late max, ms", ArrivalFigures::lagMaxMs));
  }

  private static Column<Entry<String, ArrivalFigures>> arrivals(
      String heading, Function<ArrivalFigures, @Nullable Double> figure) {
    return Column.number(heading, figure).in(Entry::getValue);
  }
}
