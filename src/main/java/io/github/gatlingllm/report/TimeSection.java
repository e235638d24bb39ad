package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Band;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.stats.Series;
import io.github.gatlingllm.stats.Series.Bucket;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The run as it went: latency, tokens, load and errors over time. */
final class TimeSection {

  private static final int MOST_NAMED_BANDS = 14;

  private final Summary summary;
  private final Series series;

  TimeSection(Summary summary, Series series) {
    this.summary = summary;
    this.series = series;
  }

  /** The section; without charts when nothing happened. */
  Section section() {
    List<Chart> charts =
        List.of(ttft(), tokens(), itl(), inFlight(), tokensInFlight(), requests()).stream()
            .filter(Chart::hasPoints)
            .map(chart -> chart.over(bands()))
            .toList();
    Section section =
        Section.of(
            "time",
            "Over time",
            "Time",
            "Each point covers "
                + NumberText.duration(series.bucketS())
                + ", all phases included"
                + (summary.curves().size() > 1 ? ", all targets and scenarios together" : "")
                + ". Named spans are measure windows; darker spans are in no"
                + " figure. Zoom into one chart and the others follow.");
    return charts.isEmpty()
        ? section.body("No request was in flight at any time.")
        : section.body("time", Map.of()).charts(charts);
  }

  private Line line(String name, int color, int dash, Function<Bucket, @Nullable Double> figure) {
    return Line.of(name, color, dash, Point.of(series.overTime(), Bucket::startS, figure));
  }

  private Chart ttft() {
    return new Chart(
            "time-ttft",
            summary.clock().name(Metric.TTFT_MS) + " over time",
            Chart.LOWER,
            "Time to first token, from the planned arrival, of the requests whose first token came"
                + " in the interval.",
            Axis.time(),
            Axis.of(summary.clock().name(Metric.TTFT_MS), "ms"),
            List.of(
                line("p50", 0, 0, Bucket::ttftP50Ms),
                line("p95", 1, 1, Bucket::ttftP95Ms),
                line("p99", 3, 2, Bucket::ttftP99Ms)))
        .widened()
        .judgedBy(summary.slo(), "ttft")
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
        .judgedBy(summary.slo(), "itl")
        .scaledToRange();
  }

  private Chart tokens() {
    List<Line> lines = new ArrayList<>();
    lines.add(line("all", 0, 0, Bucket::outputTokensPerS));
    if (summary.slo() != null) {
      lines.add(line("of requests in SLO", 2, 1, Bucket::sloTokensPerS).as(Form.AREA));
    }
    return new Chart(
        "time-tokens",
        "Output tokens per second",
        Chart.HIGHER,
        summary.slo() == null
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
    return new Chart(
        "time-requests",
        "Requests started, ended and failed per second",
        "failed: ↓ lower is better",
        "When more start than end, a queue is growing somewhere.",
        Axis.time(),
        Axis.of("Requests", "req/s"),
        List.of(
            line("started", 0, 0, bucket -> bucket.started() / width),
            line("ended", 2, 1, bucket -> bucket.ended() / width),
            line("failed", 1, 2, bucket -> bucket.failed() / width)));
  }

  private List<Band> bands() {
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
