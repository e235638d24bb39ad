package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.level.Series.GeneratorBucket;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Band;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The run over time, and the load generator over time. */
record TimeSection(
    Series series,
    List<Band> bands,
    Metric ttft,
    @Nullable SloTable slo,
    boolean isJudged,
    String pooled) {

  static TimeSection of(Summary summary, Series series) {
    return new TimeSection(
        series,
        bands(summary),
        summary.headlineMetric(Metric.TTFT_MS),
        summary.slo(),
        summary.slo() != null,
        summary.curves().size() > 1 ? ", all targets and scenarios together" : "");
  }

  /** The section; without charts if no request was in flight. */
  Section section() {
    List<Chart> charts =
        Stream.of(
                chart(
                        "time-ttft",
                        List.of(
                            line("p50", 0, 0, Bucket::ttftP50Ms),
                            line("p95", 1, 1, Bucket::ttftP95Ms),
                            line("p99", 3, 2, Bucket::ttftP99Ms)),
                        ttft.title())
                    .widened()
                    .judgedBy(slo, "ttft")
                    .scaledToRange(),
                tokens(),
                chart(
                        "time-itl",
                        List.of(
                            line("p50", 0, 0, Bucket::itlP50Ms),
                            line("p99", 3, 2, Bucket::itlP99Ms)))
                    .judgedBy(slo, "itl")
                    .scaledToRange(),
                chart(
                    "time-in-flight",
                    List.of(line("in flight", 0, 0, Bucket::inFlight).as(Form.AREA))),
                requests(),
                failures(),
                quotas())
            .filter(Chart::hasPoints)
            .map(chart -> chart.over(bands))
            .toList();
    Section section = Section.of("time", NumberText.duration(series.bucketS()), pooled);
    return charts.isEmpty()
        ? section.body("No request was in flight at any time.")
        : section.body("time", Map.of()).charts(charts);
  }

  /** The section on the load generator; null if it was not monitored. */
  @Nullable Section generator() {
    if (series.generator().isEmpty()) {
      return null;
    }
    return Section.of("generator")
        .charts(
            Stream.of(
                    chart(
                            "generator-lag",
                            List.of(
                                own("p99", 0, 0, GeneratorBucket::lagP99Ms),
                                own("max", 3, 1, GeneratorBucket::lagMaxMs)))
                        .scaledToRange(),
                    chart(
                            "generator-cpu",
                            List.of(
                                own(
                                    "all programs",
                                    0,
                                    0,
                                    second -> Point.scaled(second.busyCpu(), 100)),
                                own(
                                    "the generator",
                                    3,
                                    1,
                                    second -> Point.scaled(second.ownCpu(), 100)),
                                own(
                                    "hypervisor",
                                    1,
                                    2,
                                    second -> Point.scaled(second.stolenCpu(), 100))))
                        .upTo(100))
                .map(chart -> chart.over(bands))
                .toList());
  }

  private static Chart chart(String key, List<Line> lines, Object... values) {
    return Chart.of(key, Axis.time(), lines, values);
  }

  private Line own(
      String name, int color, int dash, Function<GeneratorBucket, @Nullable Double> figure) {
    return Line.of(
        name, color, dash, Point.of(series.generator(), GeneratorBucket::startS, figure));
  }

  private Line line(String name, int color, int dash, Function<Bucket, @Nullable Double> figure) {
    return Line.of(name, color, dash, Point.of(series.overTime(), Bucket::startS, figure));
  }

  private Chart tokens() {
    Line all = line("all", 0, 0, Bucket::outputTokensPerS);
    Line inSlo = line("of requests in SLO", 2, 1, Bucket::sloTokensPerS).as(Form.AREA);
    return isJudged
        ? chart("time-tokens judged", List.of(all, inSlo))
        : chart("time-tokens", List.of(all));
  }

  private Chart requests() {
    double width = series.bucketS();
    List<Line> lines = new ArrayList<>();
    if (hasAny(bucket -> bucket.plannedArrivals() > 0)) {
      lines.add(line("planned", 3, 2, bucket -> bucket.plannedArrivals() / width));
    }
    lines.add(line("started", 0, 0, bucket -> bucket.started() / width));
    lines.add(line("ended", 2, 1, bucket -> bucket.ended() / width));
    lines.add(line("failed", 1, 2, bucket -> bucket.failed() / width));
    if (hasAny(bucket -> bucket.rateLimited() > 0)) {
      lines.add(line("rate limited", 4, 1, bucket -> bucket.rateLimited() / width));
    }
    return chart("time-requests", lines);
  }

  private boolean hasAny(Predicate<Bucket> which) {
    return series.overTime().stream().anyMatch(which);
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
    return chart("time-quotas", lines);
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
              .as(Form.LAYER));
    }
    return chart("time-failures", lines);
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
    Summary.Run run = summary.run();
    // bands are narrow: a long label gets two lines
    return Band.of(
        summary.stages().stream().map(LevelFigures::info).toList(),
        level -> summary.place(level).replaceFirst(" of ", "\nof "),
        run.loadStartUnixNs(),
        run.endUnixNs());
  }
}
