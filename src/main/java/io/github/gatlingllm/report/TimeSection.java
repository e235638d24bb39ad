package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.level.Series.GeneratorBucket;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Band;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The run over time: latency, tokens, load and errors, and the CPU, memory and delays of the load
 * generator.
 */
final class TimeSection {

  private static final int HEAT_COLUMNS = 60;
  static final int MAX_NAMED_BANDS = 14;

  private final Series series;
  private final UnaryOperator<Metric> clock;
  private final @Nullable SloTable slo;
  private final boolean isJudged;
  private final List<Band> bands;
  private final String pooled;
  private final String howTargetsFailed;

  TimeSection(Summary summary, Series series) {
    this.series = series;
    clock = summary::headlineMetric;
    slo = summary.slo();
    isJudged = slo != null;
    bands = bands(summary);
    pooled = summary.curves().size() > 1 ? ", all targets and scenarios together" : "";
    howTargetsFailed = howTargetsFailed(summary);
  }

  /** The section of a run in progress. */
  TimeSection(Series series, boolean isJudged, List<Band> bands) {
    this.series = series;
    clock = Metric::fromSchedule;
    slo = null;
    this.isJudged = isJudged;
    this.bands = bands;
    pooled = "";
    howTargetsFailed = "";
  }

  /** The section; without charts if no request was in flight. */
  Section section() {
    List<Chart> charts = new ArrayList<>();
    for (Chart chart :
        List.of(
            ttft(),
            tokens(),
            itl(),
            area("time-in-flight", "in flight", Bucket::inFlight),
            area("time-tokens-in-flight", "tokens in flight", Bucket::tokensInFlight),
            requests(),
            failures(),
            quotas())) {
      if (chart.hasPoints()) {
        charts.add(chart.over(bands));
      }
    }
    series.heat().forEach((metric, map) -> charts.add(heat(metric, map)));
    Section section = Section.of("time", NumberText.duration(series.bucketS()), pooled);
    return charts.stream().noneMatch(Chart::hasPoints)
        ? section.body("No request was in flight at any time.")
        : section.body("time", Map.of()).charts(charts);
  }

  /** A heat map of a metric; {@value #HEAT_COLUMNS} columns at most keep its table readable. */
  private Chart heat(Metric metric, Series.HeatMap map) {
    int buckets = series.overTime().size();
    int width = Math.max(1, (buckets + HEAT_COLUMNS - 1) / HEAT_COLUMNS);
    List<Double> edges = map.edges();
    List<Line> rows = new ArrayList<>();
    for (int row = 0; row + 1 < edges.size(); row++) {
      Map<Integer, Long> counts = new TreeMap<>();
      for (Series.Cell cell : map.cells()) {
        if (cell.row() == row) {
          counts.merge(cell.bucket() / width, cell.count(), Long::sum);
        }
      }
      List<Point> points = new ArrayList<>();
      counts.forEach(
          (column, count) -> points.add(new Point(column * width * series.bucketS(), count * 1.0)));
      String range =
          NumberText.number(edges.get(row)) + "–" + NumberText.number(edges.get(row + 1));
      rows.add(new Line(range, Form.HEAT, 0, 0, points, List.of()));
    }
    boolean isJitter = metric == Metric.JITTER_PER_REQUEST;
    String name = isJitter ? "ITL p99 ÷ p50" : clock.apply(metric).title();
    String key = isJitter ? "heat-jitter" : metric == Metric.TTFT_MS ? "heat-ttft" : "heat";
    Axis time = Axis.time().upTo(buckets * series.bucketS());
    return Chart.of(key, time, rows, name, metric.unit().sign())
        .id("heat-" + metric.figure().replace('_', '-'));
  }

  /** The section on the load generator; null if it was not monitored. */
  @Nullable Section generator() {
    if (series.generator().isEmpty()) {
      return null;
    }
    return Section.of("generator")
        .charts(
            Stream.of(
                    own(
                            "generator-lag",
                            own("p99", 0, 0, GeneratorBucket::lagP99Ms),
                            own("max", 3, 1, GeneratorBucket::lagMaxMs))
                        .scaledToRange(),
                    own(
                            "generator-cpu",
                            own("all programs", 0, 0, second -> percent(second.busyCpu())),
                            own("the generator", 3, 1, second -> percent(second.ownCpu())),
                            own("hypervisor", 1, 2, second -> percent(second.stolenCpu())))
                        .upTo(100),
                    own(
                        "generator-jvm",
                        own("compiler", 0, 0, GeneratorBucket::compilerMs),
                        own("garbage collection", 3, 1, GeneratorBucket::pausesMs)),
                    own(
                        "generator-memory",
                        own("heap", 0, 0, GeneratorBucket::heapMb),
                        own("outside", 3, 1, GeneratorBucket::directMb)),
                    own(
                        "generator-open",
                        own("in flight", 0, 0, GeneratorBucket::inFlight),
                        own("sockets and files", 3, 1, GeneratorBucket::openFiles)))
                .filter(Chart::hasPoints)
                .map(chart -> chart.over(bands))
                .toList());
  }

  private static Chart own(String key, Line... lines) {
    return Chart.of(key, Axis.time(), List.of(lines));
  }

  private Line own(
      String name, int color, int dash, Function<GeneratorBucket, @Nullable Double> figure) {
    return Line.of(
        name, color, dash, Point.of(series.generator(), GeneratorBucket::startS, figure));
  }

  private static @Nullable Double percent(@Nullable Double share) {
    return share == null ? null : (Double) (100 * share);
  }

  private Line line(String name, int color, int dash, Function<Bucket, @Nullable Double> figure) {
    return Line.of(name, color, dash, Point.of(series.overTime(), Bucket::startS, figure));
  }

  private Chart ttft() {
    return Chart.of(
            "time-ttft",
            Axis.time(),
            List.of(
                line("p50", 0, 0, Bucket::ttftP50Ms),
                line("p95", 1, 1, Bucket::ttftP95Ms),
                line("p99", 3, 2, Bucket::ttftP99Ms)),
            clock.apply(Metric.TTFT_MS).title())
        .widened()
        .judgedBy(slo, "ttft")
        .scaledToRange();
  }

  private Chart itl() {
    return Chart.of(
            "time-itl",
            Axis.time(),
            List.of(line("p50", 0, 0, Bucket::itlP50Ms), line("p99", 3, 2, Bucket::itlP99Ms)))
        .judgedBy(slo, "itl")
        .scaledToRange();
  }

  private Chart tokens() {
    Line all = line("all", 0, 0, Bucket::outputTokensPerS);
    Line inSlo = line("of requests in SLO", 2, 1, Bucket::sloTokensPerS).as(Form.AREA);
    return isJudged
        ? Chart.of("time-tokens judged", Axis.time(), List.of(all, inSlo))
        : Chart.of("time-tokens", Axis.time(), List.of(all));
  }

  private Chart area(String key, String name, Function<Bucket, @Nullable Double> figure) {
    return Chart.of(key, Axis.time(), List.of(line(name, 0, 0, figure).as(Form.AREA)));
  }

  private Chart requests() {
    double width = series.bucketS();
    boolean isLimited = series.overTime().stream().anyMatch(bucket -> bucket.rateLimited() > 0);
    return Chart.of(
        "time-requests",
        Axis.time(),
        Stream.of(
                line("started", 0, 0, bucket -> bucket.started() / width),
                line("ended", 2, 1, bucket -> bucket.ended() / width),
                line("failed", 1, 2, bucket -> bucket.failed() / width),
                line("rate limited", 4, 1, bucket -> bucket.rateLimited() / width))
            .filter(line -> isLimited || !line.name().equals("rate limited"))
            .toList());
  }

  /** The remaining share of each rate limit that the server reports. */
  private Chart quotas() {
    Set<String> names = new TreeSet<>();
    series.overTime().forEach(bucket -> names.addAll(bucket.quotaLeft().keySet()));
    List<Line> lines = new ArrayList<>();
    for (String name : names) {
      lines.add(
          line(
              name.replace('_', ' '),
              lines.size() % 6,
              lines.size() % 3,
              bucket -> {
                Double left = bucket.quotaLeft().get(name);
                return left == null ? null : (Double) (left * 100);
              }));
    }
    return Chart.of("time-quotas", Axis.time(), lines);
  }

  private Chart failures() {
    List<String> kinds =
        series.overTime().stream()
            .flatMap(bucket -> bucket.failures().keySet().stream())
            .distinct()
            .sorted()
            .toList();
    List<Line> lines = new ArrayList<>();
    for (String kind : kinds) {
      lines.add(
          line(
                  kind.replace('_', ' '),
                  lines.size() + 1,
                  0,
                  bucket -> bucket.failures().getOrDefault(kind, 0L) / series.bucketS())
              .as(Form.LAYER));
    }
    return Chart.of("time-failures", Axis.time(), lines, howTargetsFailed);
  }

  /** Mean time between failures of each target, and the longest time without a success. */
  private static String howTargetsFailed(Summary summary) {
    List<String> words = new ArrayList<>();
    for (Summary.Target target : summary.targets()) {
      Figures.Failures of = target.failures();
      if (of == null || of.meanTimeBetweenS() == null) {
        continue;
      }
      Figures.FailingSpan span = of.longestSpan();
      words.add(
          (summary.hasSeveralTargets() ? target.label() + ": mean" : "Mean")
              + " time between failures "
              + (of.meanTimeBetweenS() < 1
                  ? NumberText.ms(1e3 * of.meanTimeBetweenS())
                  : NumberText.duration(of.meanTimeBetweenS()))
              + (span == null
                  ? "; other requests succeeded at the same time."
                  : "; longest time in which requests failed and none succeeded "
                      + NumberText.duration(span.seconds())
                      + ", from "
                      + NumberText.clock(span.fromS())
                      + " on."));
    }
    return String.join(" ", words);
  }

  /** The phases of load levels; measure windows are labelled. */
  static List<Band> bands(Summary summary) {
    List<Band> bands = new ArrayList<>();
    boolean named = summary.stages().size() <= MAX_NAMED_BANDS;
    int stages = 0;
    for (LevelFigures stage : summary.stages()) {
      for (LevelFigures.PhaseSpan span : stage.phases()) {
        double end = span.startS() + span.durationS();
        boolean measured = span.phase().equals(Phase.MEASURE.key());
        // bands are narrow: a long label gets two lines
        String label =
            measured && named
                ? KeyFigureTables.place(summary, stage).replaceFirst(" of ", "\nof ")
                : "";
        bands.add(new Band(span.startS(), end, label, measured ? stages % 2 : 2));
      }
      stages++;
    }
    return bands;
  }
}
