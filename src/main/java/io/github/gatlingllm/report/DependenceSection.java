package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.RequestSamples.Cloud;
import io.github.gatlingllm.figures.level.RequestSamples.Dependence;
import io.github.gatlingllm.figures.level.RequestSamples.LevelSamples;
import io.github.gatlingllm.figures.level.RequestSamples.Range;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.Turn;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Chart.Scale;
import io.github.gatlingllm.report.Page.Charts;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.ShownLevels.Level;
import io.github.gatlingllm.report.ShownLevels.When;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How times depend on lengths, on the position in the answer, and on the turn of a conversation.
 */
final class DependenceSection {

  /** With fewer values than this in a range, fewer than 10 are above its p95. */
  private static final int SURE_P95 = 200;

  private final Summary summary;
  private final ShownLevels levels;
  private final Map<Integer, LevelSamples> samples;
  private final List<Turn> turns;

  DependenceSection(Summary summary, ShownLevels levels, Map<Integer, LevelSamples> samples) {
    this.summary = summary;
    this.levels = levels;
    this.samples = samples;
    turns = summary.workload().byTurn();
  }

  /** One scatter chart with its key in {@code charts.txt}: a time against a whole number. */
  private record Scatter(String key, Axis x, String time, Function<Dependence, Cloud> cloud) {

    Chart chart(List<Range> ranges, List<Line> lines) {
      return Chart.of(key, scaled(x, ranges), lines).scaledToRange();
    }
  }

  private static final List<Scatter> SCATTERS =
      List.of(
          new Scatter("depend-ttft", Axis.of("Input tokens", ""), "TTFT", Dependence::ttftByPrompt),
          new Scatter("depend-e2e", Axis.of("Output tokens", ""), "E2E", Dependence::e2eByOutput),
          new Scatter(
              "depend-itl",
              Axis.of("Token event of the answer", ""),
              "ITL",
              Dependence::itlByPosition));

  /** The section; null where nothing varies. */
  @Nullable Section section() {
    List<Charts> groups =
        levels.charts(
            samples,
            this::operatingPoints,
            (level, drawn) -> charts(drawn.dependence(), level.suffix()),
            drawn -> constantLengths(drawn.dependence()));
    if (turns.size() > 1) {
      List<Chart> charts = new ArrayList<>(List.of(ttftByTurn()));
      if (turns.stream().anyMatch(turn -> turn.meanPromptTokens() != null)) {
        charts.add(promptsByTurn());
      }
      String pooled = new RunText(summary).pooled();
      groups.add(new Charts("By turn of the conversation", pooled, When.ALWAYS, charts));
    }
    Section section = Section.of("dependence").groups(groups);
    return section.hasCharts() ? section : null;
  }

  private static List<Chart> charts(Dependence dependence, String suffix) {
    return SCATTERS.stream()
        .filter(scatter -> scatter.cloud.apply(dependence).ranges().size() > 1)
        .map(scatter -> chart(scatter, scatter.cloud.apply(dependence), suffix))
        .toList();
  }

  /** A note on charts that are left out because all requests have the same length. */
  private static String constantLengths(Dependence dependence) {
    return SCATTERS.stream()
        .filter(scatter -> scatter.cloud.apply(dependence).ranges().size() == 1)
        .map(scatter -> withoutChart(scatter, scatter.cloud.apply(dependence).ranges().get(0)))
        .collect(Collectors.joining(" "));
  }

  /** The medians at the operating point of each curve, a chart per dependence. */
  private List<Chart> operatingPoints() {
    List<Chart> charts = new ArrayList<>();
    for (Scatter scatter : SCATTERS) {
      List<Line> lines = new ArrayList<>();
      List<Range> ranges = new ArrayList<>();
      for (Level level : levels.operating()) {
        LevelSamples drawn = samples.get(level.position());
        Cloud cloud = drawn == null ? null : scatter.cloud.apply(drawn.dependence());
        if (cloud != null && cloud.ranges().size() > 1) {
          ranges.addAll(cloud.ranges());
          String name = KeyFigureTables.place(summary, level.stage());
          lines.add(Line.of(name, lines.size(), lines.size(), points(cloud, Range::p50Ms)));
        }
      }
      if (!lines.isEmpty()) {
        ranges.sort(Comparator.comparingLong(Range::from));
        Chart chart = scatter.chart(ranges, lines);
        charts.add(chart.title(chart.title() + ", p50"));
      }
    }
    return charts;
  }

  private static String withoutChart(Scatter scatter, Range only) {
    return "No chart of %s: all requests have %s%s."
        .formatted(
            scatter.chart(List.of(only), List.of()).title(),
            only.to() - only.from() > 1 ? "about " : "",
            NumberText.number((double) Math.round(only.meanX())));
  }

  private static Chart chart(Scatter scatter, Cloud cloud, String suffix) {
    List<Point> dots =
        cloud.dots().stream().map(dot -> new Point(dot.x(), dot.ms(), dot.requestId())).toList();
    List<Line> lines = new ArrayList<>();
    lines.add(new Line("single values", Form.DOTS, 5, 0, dots, List.of()));
    lines.add(Line.of("p50", 0, 0, points(cloud, Range::p50Ms)));
    lines.add(Line.of("p95", 1, 1, points(cloud, Range::p95Ms)));
    lines.removeIf(line -> line.points().isEmpty());
    Chart chart = scatter.chart(cloud.ranges(), lines);
    return chart
        .id(chart.id() + suffix)
        .saying(
            " The dots are %s of %s values."
                .formatted(NumberText.count(cloud.dots().size()), NumberText.count(cloud.all())))
        .tabled(table(chart.title(), scatter, cloud));
  }

  /** Logarithmic where lengths differ by more than a factor of 12. */
  private static Axis scaled(Axis x, List<Range> ranges) {
    Range first = ranges.get(0);
    Range last = ranges.get(ranges.size() - 1);
    boolean isWide = first.from() > 0 && last.meanX() > 12 * first.meanX();
    return isWide ? Axis.of(x.name(), x.unit(), Scale.LOG) : x;
  }

  private static List<Point> points(Cloud cloud, Function<Range, @Nullable Double> figure) {
    List<Range> known = cloud.ranges().stream().filter(r -> figure.apply(r) != null).toList();
    return Point.of(known, Range::meanX, figure);
  }

  private static Table table(String title, Scatter scatter, Cloud cloud) {
    return Table.of(
        title,
        cloud.ranges(),
        Column.name(scatter.x.name(), DependenceSection::lengths),
        Column.count("values", Range::count),
        Column.number(scatter.time + " p50, ms", Range::p50Ms),
        Column.of(
            "p95",
            range ->
                range.p95Ms() != null && range.count() < SURE_P95
                    ? new Cell(NumberText.number(range.p95Ms()), Kind.LOW_N)
                    : Cell.number(range.p95Ms())),
        Column.number("largest", Range::maxMs));
  }

  private static String lengths(Range range) {
    String from = NumberText.count(range.from());
    return range.to() - range.from() == 1 ? from : from + "–" + NumberText.count(range.to() - 1);
  }

  private Chart ttftByTurn() {
    return Chart.of(
            "depend-turn",
            turnAxis(),
            List.of(
                ttft("p50", 0, 0, Distribution::p50),
                ttft("p95", 1, 1, Distribution::p95),
                ttft("p99", 3, 2, Distribution::p99)))
        .scaledToRange()
        .tabled(turnTable());
  }

  private Line ttft(
      String name, int color, int dash, Function<Distribution, @Nullable Double> figure) {
    return Line.of(name, color, dash, Point.inOrder(turns, t -> figure.apply(t.ttftMs())));
  }

  /** Mean prompt tokens, and how many of them came from the cache where the server reports it. */
  private Chart promptsByTurn() {
    List<Line> lines = new ArrayList<>();
    lines.add(Line.of("all", 0, 0, Point.inOrder(turns, Turn::meanPromptTokens)));
    if (turns.stream().anyMatch(turn -> turn.cachedShare() != null)) {
      List<Point> cached = Point.inOrder(turns, DependenceSection::cachedTokens);
      lines.add(Line.of("from the prefix cache", 2, 1, cached));
    }
    return Chart.of("turn-tokens", turnAxis(), lines).tabled(turnTable());
  }

  private static @Nullable Double cachedTokens(Turn turn) {
    Double tokens = turn.meanPromptTokens();
    Double share = turn.cachedShare();
    return tokens == null || share == null ? null : (Double) (tokens * share);
  }

  private Axis turnAxis() {
    return Axis.places("Turn", "", turns.stream().map(t -> Integer.toString(t.turn())).toList());
  }

  private Table turnTable() {
    return Table.of(
        "Key figures by turn of the conversation",
        turns,
        Column.name("Turn", turn -> Integer.toString(turn.turn())),
        Column.count("requests", Turn::requests),
        Column.number("prompt tokens, mean", Turn::meanPromptTokens),
        Column.percent("from prefix cache", Turn::cachedShare),
        Column.percentile("TTFT p50, ms", "p50", Turn::ttftMs),
        Column.percentile("TTFT p95", "p95", Turn::ttftMs),
        Column.percentile("TTFT p99", "p99", Turn::ttftMs));
  }
}
