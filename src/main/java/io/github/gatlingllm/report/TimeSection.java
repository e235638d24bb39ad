package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Band;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.stats.HeadlineClock;
import io.github.gatlingllm.stats.Series;
import io.github.gatlingllm.stats.Series.Bucket;
import io.github.gatlingllm.stats.Series.GeneratorBucket;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.SloTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The run as it went: latency, tokens, load and errors over time, and how the load generator itself
 * fared meanwhile.
 */
final class TimeSection {

  private static final int HEAT_COLUMNS = 60;
  static final int MOST_NAMED_BANDS = 14;

  private final Series series;
  private final HeadlineClock clock;
  private final @Nullable SloTable slo;
  private final boolean isJudged;
  private final List<Band> bands;
  private final String together;
  private final String howTargetsFailed;

  TimeSection(Summary summary, Series series) {
    this.series = series;
    clock = summary.clock();
    slo = summary.slo();
    isJudged = slo != null;
    bands = bands(summary);
    together = summary.curves().size() > 1 ? ", all targets and scenarios together" : "";
    howTargetsFailed = howTargetsFailed(summary);
  }

  /** A run that is still on, of which only these are known. */
  TimeSection(Series series, boolean isJudged, List<Band> bands) {
    this.series = series;
    clock = new HeadlineClock(true);
    slo = null;
    this.isJudged = isJudged;
    this.bands = bands;
    together = "";
    howTargetsFailed = "";
  }

  /** The section; without charts when nothing happened. */
  Section section() {
    List<Chart> charts = new ArrayList<>();
    for (Chart chart :
        List.of(
            ttft(),
            tokens(),
            itl(),
            inFlight(),
            tokensInFlight(),
            requests(),
            failures(),
            quotas())) {
      if (chart.hasPoints()) {
        charts.add(chart.over(bands));
      }
    }
    series.heat().forEach((metric, map) -> charts.add(heat(metric, map)));
    Section section =
        Section.of(
            "time",
            "Over time",
            "Time",
            "Each point covers "
                + NumberText.duration(series.bucketS())
                + ", all phases included"
                + together
                + ". Named spans are measure windows; darker spans are in no"
                + " figure. Zoom into one chart and the others follow.");
    return charts.stream().noneMatch(Chart::hasPoints)
        ? section.body("No request was in flight at any time.")
        : section.body("time", Map.of()).charts(charts);
  }

  /** A metric over time; at most {@value #HEAT_COLUMNS} columns, so that its table can be read. */
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
    boolean isTtft = metric == Metric.TTFT_MS;
    String name = metric == Metric.JITTER_PER_REQUEST ? "ITL p99 ÷ p50" : clock.name(metric);
    return new Chart(
        "heat-" + metric.figure().replace('_', '-'),
        name + " over time, every request",
        Chart.LOWER,
        isTtft
            ? "Each cell counts requests by when they got their first token and how long after the"
                + " planned arrival that was; two bands at once are two kinds of requests, a rising"
                + " band is a growing queue."
            : metric == Metric.JITTER_PER_REQUEST
                ? "How even each answer came: each cell counts ok requests by when they ended and"
                    + " how their own gaps between tokens differ."
                : "Each cell counts ok requests by when they ended and by their " + name + ".",
        Axis.time().upTo(buckets * series.bucketS()),
        Axis.of(name, metric.unit().sign()),
        rows);
  }

  /** The section on the load generator; none where it did not say how it fared. */
  Optional<Section> generator() {
    if (series.generator().isEmpty()) {
      return Optional.empty();
    }
    List<Chart> charts =
        List.of(loopLag(), cpu(), standingStill(), memory(), connections()).stream()
            .filter(Chart::hasPoints)
            .map(chart -> chart.over(bands))
            .toList();
    return Optional.of(
        Section.of(
                "generator",
                "The load generator itself",
                "Generator",
                "What disturbs the generator is in its figures: where it was late, out of CPU or"
                    + " stood still, look twice. Measured once a second, as llm/generator.jsonl"
                    + " has it, and judged by the check generator.")
            .charts(charts));
  }

  private Line own(
      String name, int color, int dash, Function<GeneratorBucket, @Nullable Double> figure) {
    return Line.of(
        name, color, dash, Point.of(series.generator(), GeneratorBucket::startS, figure));
  }

  private Chart loopLag() {
    return new Chart(
            "generator-lag",
            "Lag of the event loops",
            Chart.LOWER,
            "How late heartbeats of the event loops were, which read and send: of the loop that was"
                + " late most. A token that comes meanwhile is read as late.",
            Axis.time(),
            Axis.of("Lag", "ms"),
            List.of(
                own("p99", 0, 0, GeneratorBucket::lagP99Ms),
                own("max", 3, 1, GeneratorBucket::lagMaxMs)))
        .scaledToRange();
  }

  private Chart cpu() {
    return new Chart(
        "generator-cpu",
        "CPU",
        Chart.LOWER,
        "Of all processors of the machine: by all programs, by the generator, and taken by the"
            + " hypervisor. Where all is in use and part of it by the generator, a server on the"
            + " same machine lacks that part.",
        Axis.time(),
        Axis.of("CPU", "%").upTo(100),
        List.of(
            own("all programs", 0, 0, second -> percent(second.busyCpu())),
            own("the generator", 3, 1, second -> percent(second.ownCpu())),
            own("hypervisor", 1, 2, second -> percent(second.stolenCpu()))));
  }

  private static @Nullable Double percent(@Nullable Double share) {
    return share == null ? null : (Double) (100 * share);
  }

  private Chart standingStill() {
    return new Chart(
        "generator-jvm",
        "Compiler and garbage collection",
        Chart.LOWER,
        "Per second: time of the JVM's compiler threads, counted when a compilation ends, and time"
            + " in which the JVM stood still to collect garbage.",
        Axis.time(),
        Axis.of("Time", "ms/s"),
        List.of(
            own("compiler", 0, 0, GeneratorBucket::compilerMs),
            own("garbage collection", 3, 1, GeneratorBucket::pausesMs)));
  }

  private Chart memory() {
    return new Chart(
        "generator-memory",
        "Memory",
        Chart.LOWER,
        "Heap in use, garbage included, and buffers outside it.",
        Axis.time(),
        Axis.of("Memory", "MB"),
        List.of(
            own("heap", 0, 0, GeneratorBucket::heapMb),
            own("outside", 3, 1, GeneratorBucket::directMb)));
  }

  private Chart connections() {
    return new Chart(
        "generator-open",
        "Requests and sockets",
        "the load",
        "Requests in flight as the generator counted them, and its open sockets and files.",
        Axis.time(),
        Axis.of("Open", ""),
        List.of(
            own("in flight", 0, 0, GeneratorBucket::inFlight),
            own("sockets and files", 3, 1, GeneratorBucket::openFiles)));
  }

  private Line line(String name, int color, int dash, Function<Bucket, @Nullable Double> figure) {
    return Line.of(name, color, dash, Point.of(series.overTime(), Bucket::startS, figure));
  }

  private Chart ttft() {
    return new Chart(
            "time-ttft",
            clock.name(Metric.TTFT_MS) + " over time",
            Chart.LOWER,
            "Time to first token, from the planned arrival, of the requests whose first token came"
                + " in the interval.",
            Axis.time(),
            Axis.of(clock.name(Metric.TTFT_MS), "ms"),
            List.of(
                line("p50", 0, 0, Bucket::ttftP50Ms),
                line("p95", 1, 1, Bucket::ttftP95Ms),
                line("p99", 3, 2, Bucket::ttftP99Ms)))
        .widened()
        .judgedBy(slo, "ttft")
        .scaledToRange();
  }

  private Chart itl() {
    return new Chart(
            "time-itl",
            "Inter-token latency over time",
            Chart.LOWER,
            "Gaps between tokens that ended in the interval; a p99 far above the median shows as"
                + " stutter.",
            Axis.time(),
            Axis.of("ITL", "ms"),
            List.of(line("p50", 0, 0, Bucket::itlP50Ms), line("p99", 3, 2, Bucket::itlP99Ms)))
        .judgedBy(slo, "itl")
        .scaledToRange();
  }

  private Chart tokens() {
    List<Line> lines = new ArrayList<>();
    lines.add(line("all", 0, 0, Bucket::outputTokensPerS));
    if (isJudged) {
      lines.add(line("of requests in SLO", 2, 1, Bucket::sloTokensPerS).as(Form.AREA));
    }
    return new Chart(
        "time-tokens",
        "Output tokens per second",
        Chart.HIGHER,
        !isJudged
            ? "Tokens that arrived in the interval, from all requests."
            : "Tokens that arrived in the interval; the gap between the lines is work that came too"
                + " late for the SLO.",
        Axis.time(),
        Axis.of("Output", "tok/s"),
        lines);
  }

  private Chart inFlight() {
    return new Chart(
        "time-in-flight",
        "Requests in flight",
        "the load",
        "Mean number of requests that were running at the same time.",
        Axis.time(),
        Axis.of("In flight", ""),
        List.of(line("in flight", 0, 0, Bucket::inFlight).as(Form.AREA)));
  }

  private Chart tokensInFlight() {
    return new Chart(
        "time-tokens-in-flight",
        "Tokens in flight",
        "the load",
        "Tokens of the requests in flight at the end of the interval: their prompts and what had"
            + " come of their answers. What the server's KV cache has to hold, prefixes that"
            + " requests share counted each time.",
        Axis.time(),
        Axis.of("In flight", "tokens"),
        List.of(line("tokens in flight", 0, 0, Bucket::tokensInFlight).as(Form.AREA)));
  }

  private Chart requests() {
    double width = series.bucketS();
    boolean isLimited = series.overTime().stream().anyMatch(bucket -> bucket.rateLimited() > 0);
    return new Chart(
        "time-requests",
        "Requests started, ended and failed per second",
        "failed: ↓ lower is better",
        "When more start than end, a queue is growing somewhere.",
        Axis.time(),
        Axis.of("Requests", "req/s"),
        Stream.of(
                line("started", 0, 0, bucket -> bucket.started() / width),
                line("ended", 2, 1, bucket -> bucket.ended() / width),
                line("failed", 1, 2, bucket -> bucket.failed() / width),
                line("rate limited", 4, 1, bucket -> bucket.rateLimited() / width))
            .filter(line -> isLimited || !line.name().equals("rate limited"))
            .toList());
  }

  /** Of each quota that the server names. */
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
    return new Chart(
        "time-quotas",
        "Rate limits of the server: share left",
        "↑ more is left",
        "The lowest that an answer of the interval said is left of each limit. At 0 requests are"
            + " turned away.",
        Axis.time(),
        Axis.of("Left", "%"),
        lines);
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
    return new Chart(
        "time-failures",
        "Failed requests by kind",
        Chart.LOWER,
        "Requests that ended badly in the interval, each kind on top of the other. "
            + howTargetsFailed,
        Axis.time(),
        Axis.of("Failed", "req/s"),
        lines);
  }

  /** How often each target failed, and for how long nothing else. */
  private static String howTargetsFailed(Summary summary) {
    List<String> words = new ArrayList<>();
    for (Summary.Target target : summary.targets()) {
      Figures.Failures of = target.failures();
      if (of == null || of.meanTimeBetweenS() == null) {
        continue;
      }
      Figures.FailingSpan span = of.longestSpan();
      words.add(
          (summary.hasSeveralTargets() ? target.label() + ": o" : "O")
              + "ne every "
              + (of.meanTimeBetweenS() < 1
                  ? NumberText.ms(1e3 * of.meanTimeBetweenS())
                  : NumberText.duration(of.meanTimeBetweenS()))
              + " on average"
              + (span == null
                  ? ", others succeeded beside each."
                  : "; the longest time in which requests failed and none succeeded is "
                      + NumberText.duration(span.seconds())
                      + ", from "
                      + NumberText.clock(span.fromS())
                      + " on."));
    }
    return String.join(" ", words);
  }

  /** The phases of load levels; named where they are measured. */
  static List<Band> bands(Summary summary) {
    List<Band> bands = new ArrayList<>();
    boolean named = summary.stages().size() <= MOST_NAMED_BANDS;
    int stages = 0;
    for (Summary.Stage stage : summary.stages()) {
      for (Summary.PhaseSpan span : stage.phases()) {
        double end = span.startS() + span.durationS();
        boolean measured = span.phase().equals(Phase.MEASURE.key());
        // Two lines where it is long: bands are narrow.
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
