package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.RequestSamples.Evenness;
import io.github.gatlingllm.figures.level.RequestSamples.EventSize;
import io.github.gatlingllm.figures.level.RequestSamples.LevelSamples;
import io.github.gatlingllm.figures.level.RequestSamples.Pauses;
import io.github.gatlingllm.figures.level.Series.Shape;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import org.jspecify.annotations.Nullable;

/** How evenly tokens arrived: jitter per request, longest gaps, pauses, tokens per event. */
final class JitterSection {

  private final Summary summary;
  private final ShownLevels levels;
  private final Map<Integer, LevelSamples> samples;

  JitterSection(Summary summary, ShownLevels levels, Map<Integer, LevelSamples> samples) {
    this.summary = summary;
    this.levels = levels;
    this.samples = samples;
  }

  /** The section; null if no stream has two token events. */
  @Nullable Section section() {
    Section section =
        Section.of("jitter", inTime())
            .body(
                isAnyReaderLate()
                    ? "Readers begin with the first token, read at an even speed, and wait where"
                        + " the next token is late. A reader who begins later by the sum of these"
                        + " waits never waits. If all begin later by the p99 of that sum, 99 %"
                        + " never wait."
                    : "",
                isAnyReaderLate() ? List.of(jitter(), readers()) : List.of(jitter()))
            .groups(
                levels.charts(
                    samples,
                    this::operatingPoints,
                    (level, drawn) -> charts(drawn.evenness(), level.suffix()),
                    drawn -> eventsInWords(drawn.evenness())));
    return section.hasCharts() ? section : null;
  }

  private List<Chart> operatingPoints() {
    ShapeSection shapes = new ShapeSection(summary, levels, samples);
    return List.of(
        shapes.percentiles("jitter-ratio", "jitter of single requests", s -> s.evenness().ratio()),
        shapes.percentiles(
            "jitter-stall", "the longest stall of each request", s -> s.evenness().longestGapMs()));
  }

  private static List<Chart> charts(Evenness evenness, String suffix) {
    List<Chart> charts = new ArrayList<>();
    Shape ratio = evenness.ratio();
    if (ratio != null) {
      Axis x = Axis.of("ITL p99 ÷ p50 of the request", "");
      charts.add(Chart.histogram("jitter-ratio", x, ratio));
    }
    Shape longest = evenness.longestGapMs();
    if (longest != null) {
      charts.add(Chart.histogram("jitter-stall", Axis.of("Longest gap", "ms"), longest));
    }
    if (evenness.pauses().size() > 1) {
      charts.add(pauses(evenness.pauses()));
    }
    if (evenness.eventSizes().stream().anyMatch(size -> size.from() != 1)) {
      charts.add(eventSizes(evenness.eventSizes()));
    }
    return charts.stream().map(chart -> chart.id(chart.id() + suffix)).toList();
  }

  private static String eventsInWords(Evenness evenness) {
    List<EventSize> sizes = evenness.eventSizes();
    return sizes.size() == 1 && sizes.get(0).from() == 1
        ? "Every token event held one token."
        : "Some token events held more or less than one token.";
  }

  private static Chart pauses(List<Pauses> pauses) {
    // 0 has no place on a logarithmic axis; the table shows it
    List<Point> points =
        Point.inOrder(pauses, p -> p.per1kTokens() == 0 ? null : (Double) p.per1kTokens());
    Table table =
        Table.of(
            "Pauses per 1,000 tokens",
            pauses,
            Column.name("Gap longer than, ms", p -> NumberText.number(p.aboveMs())),
            Column.number("gaps per 1,000 tokens", Pauses::per1kTokens));
    List<String> limits = pauses.stream().map(p -> NumberText.number(p.aboveMs())).toList();
    return Chart.of(
            "jitter-pauses",
            Axis.places("Gap longer than", "ms", limits),
            List.of(Line.of("gaps longer than that", 0, 0, points)))
        .scaledToRange()
        .tabled(table);
  }

  private static Chart eventSizes(List<EventSize> sizes) {
    double all = sizes.stream().mapToLong(EventSize::events).sum();
    List<Point> points = Point.inOrder(sizes, size -> 100 * size.events() / all);
    return Chart.of(
        "jitter-events",
        Axis.places("Tokens in the event", "", sizes.stream().map(JitterSection::name).toList()),
        List.of(new Line("Events", Form.BAR, 0, 0, points, List.of())));
  }

  private static String name(EventSize size) {
    Integer to = size.to();
    if (to == null) {
      return size.from() + " or more";
    }
    return to - size.from() == 1 ? Integer.toString(size.from()) : size.from() + "–" + (to - 1);
  }

  private boolean isAnyReaderLate() {
    return summary.figures().reader().stalled() > 0;
  }

  /** The sentence that no reader waits; empty if one does. */
  private String inTime() {
    Figures.Reader reader = summary.figures().reader();
    return isAnyReaderLate() || reader.requests() == 0
        ? ""
        : " A reader of "
            + NumberText.plain(reader.tokensPerS())
            + " tokens/s, who begins with the first token, never waits for a later one.";
  }

  /** How long readers wait, by load level. */
  private Table readers() {
    String speed = NumberText.plain(summary.figures().reader().tokensPerS());
    return Columns.<Entry<String, Figures>>of(
            Column.name("Readers at " + speed + " tokens/s", Entry::getKey))
        .of(
            Entry::getValue,
            List.of(
                Column.count("answers", f -> f.reader().requests()),
                Column.percent("readers who wait", f -> f.reader().stalledShare()),
                wait("total wait p50, ms", "p50"),
                wait("p95, ms", "p95"),
                wait("p99, ms", "p99"),
                Column.number("max, ms", f -> f.metric(Metric.READER_STALL_MS).max())))
        .table("Readers", withValues(Metric.READER_STALL_MS));
  }

  private static Column<Figures> wait(String heading, String percentile) {
    return Column.percentile(heading, percentile, f -> f.metric(Metric.READER_STALL_MS));
  }

  /** How even streams were, by load level, and for all of them where there are several. */
  private Table jitter() {
    return Columns.<Entry<String, Figures>>of(Column.name("Load level", Entry::getKey))
        .of(
            Entry::getValue,
            List.of(
                Column.number("ITL p99 ÷ p50, pooled", f -> f.number(Metric.JITTER)),
                Column.number("of the median request", f -> f.number(Metric.JITTER_PER_REQUEST)),
                Column.number("ITL std, ms", f -> f.itlStdMs()),
                Column.percentile("longest stall p50, ms", "p50", f -> f.metric(Metric.STALL_MS)),
                Column.percentile("p99", "p99", f -> f.metric(Metric.STALL_MS)),
                Column.number(
                    "gaps over 100 ms per 1,000 tokens",
                    f -> f.number(Metric.STALLS_PER_1K_TOKENS)),
                Column.number("tokens per event", f -> f.number(Metric.BATCH_RATIO))))
        .table("Jitter by load level", withValues(Metric.STALL_MS));
  }

  /** Load levels where a metric has values, and all of them where there are several. */
  private List<Entry<String, Figures>> withValues(Metric metric) {
    List<Entry<String, Figures>> rows = new ArrayList<>();
    for (LevelFigures stage : summary.stages()) {
      if (!stage.figures().metric(metric).isEmpty()) {
        rows.add(Map.entry(KeyFigureTables.place(summary, stage), stage.figures()));
      }
    }
    if (summary.stages().size() > 1) {
      rows.add(Map.entry("all", summary.figures()));
    }
    return rows;
  }
}
