package io.github.gatlingllm.report;

import static java.util.Comparator.comparingDouble;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.level.Series.ScenarioLoad;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.LengthPair;
import io.github.gatlingllm.figures.level.Summary.TierSummary;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.ComparePage.Compared;
import io.github.gatlingllm.report.Page.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Latency against throughput with a point per load level, and both against load: of a run, or of
 * runs that are compared.
 */
record LoadSection(Summary summary) {

  private List<String> labels() {
    return summary.byLoad().stream().map(LevelFigures::label).distinct().toList();
  }

  @Nullable Section levels() {
    if (summary.stages().size() < 2) {
      return null;
    }
    return Section.of("levels").body("", Tables.of(summary).at("levels")).charts(List.of(curve()));
  }

  /** The figures against load; null for a single load. */
  @Nullable Section section() {
    if (labels().size() < 2) {
      return null;
    }
    List<Drawn> curves = new ArrayList<>();
    for (LoadCurve curve : summary.curves()) {
      curves.add(new Drawn(summary.name(curve), curves.size(), curves.size(), of(curve)));
    }
    List<Chart> charts = new ArrayList<>();
    charts.add(
        against(
            "load-throughput"
                + (summary.figures().embeds()
                    ? " of inputs"
                    : summary.slo() == null ? "" : " judged")));
    charts.add(latency("load-ttft", Metric.TTFT_MS, "ttft"));
    charts.add(latency("load-tpot", Metric.TPOT_MS, "tpot"));
    charts.addAll(summary.tiers().isEmpty() ? judged(curves) : List.of(jitter(curves), tiers()));
    charts.add(perGpu());
    return Section.of("load").charts(charts);
  }

  private record Drawn(String name, int color, int dash, List<LevelFigures> levels) {

    Line line(List<Point> points) {
      return Line.of(name, color, dash, points);
    }
  }

  /** How evenly tokens come, and how many requests are served well enough. */
  private static List<Chart> judged(List<Drawn> curves) {
    return List.of(
        jitter(curves),
        against(
                "load-throughput goodput",
                curves,
                s -> s.figures().number(Metric.GOODPUT_REQUESTS_PER_S))
            .id("load-goodput"));
  }

  private static Chart jitter(List<Drawn> curves) {
    return against("load-tpot jitter", curves, s -> s.figures().number(Metric.JITTER))
        .id("load-jitter");
  }

  /** The goodput of each tier of the SLO against load. */
  private Chart tiers() {
    List<String> labels = labels();
    List<Line> lines = new ArrayList<>();
    for (LoadCurve curve : summary.curves()) {
      String of = summary.curves().size() == 1 ? "" : " of " + summary.name(curve);
      for (TierSummary tier : summary.tiers()) {
        if (tier.isOf(curve)) {
          List<Point> points =
              Point.of(
                  of(curve),
                  level -> labels.indexOf(level.label()),
                  level -> tier.goodput().get(level.label()).requestsPerS());
          lines.add(Line.of(tier.tier() + of, lines.size(), lines.size(), points));
        }
      }
    }
    return Chart.of("load-throughput goodput", Axis.places("Load level", "", labels), lines)
        .id("load-goodput");
  }

  /** A figure of each level, a line for each curve; levels in order of load where that is known. */
  private static Chart against(
      String key,
      List<Drawn> curves,
      Function<LevelFigures, @Nullable Double> figure,
      Object... values) {
    List<LevelFigures> levels = curves.stream().flatMap(of -> of.levels.stream()).toList();
    boolean isOrdered = levels.stream().allMatch(level -> level.offered() != null);
    List<String> labels =
        levels.stream()
            .sorted(comparingDouble(level -> isOrdered ? requireNonNull(level.offered()) : 0))
            .map(LevelFigures::label)
            .distinct()
            .toList();
    List<Line> lines =
        curves.stream()
            .map(of -> of.line(Point.of(of.levels, s -> labels.indexOf(s.label()), figure)))
            .toList();
    return Chart.of(key, Axis.places("Load level", "", labels), lines, values);
  }

  private Chart curve() {
    boolean isStreamed = !summary.figures().metric(Metric.TTFT_MS).isEmpty();
    Metric metric = isStreamed ? Metric.TTFT_MS : Metric.E2E_MS;
    String measure = metric.title().toLowerCase(Locale.ROOT);
    String percentile = percentile(metric, measure);
    List<Line> lines = new ArrayList<>();
    for (LoadCurve curve : summary.curves()) {
      List<Point> points = new ArrayList<>();
      List<Point> pins = new ArrayList<>();
      for (LevelFigures level : of(curve)) {
        Double x = level.figures().delivered();
        Double y = level.figures().metric(summary.headlineMetric(metric)).percentile(percentile);
        String marks = Row.marks(summary, curve, level);
        if (x == null || y == null) {
          continue;
        }
        points.add(new Point(x, y, level.label() + (marks.isEmpty() ? "" : " (" + marks + ")")));
        if (!marks.isEmpty()) {
          String of = " of " + summary.name(curve);
          pins.add(new Point(x, y, level.label() + " is (" + marks + ")" + of));
        }
      }
      lines.add(Line.of(summary.name(curve), lines.size(), lines.size(), points).pinned(pins));
    }
    String delivered =
        summary.figures().embeds() ? "inputs per second" : "output tokens per second";
    Chart chart =
        Chart.of(
            "load-curve",
            Axis.of(NumberText.capital(delivered), summary.figures().deliveredUnit()),
            lines,
            summary.headlineMetric(metric).title() + " " + percentile,
            delivered);
    return chart.judgedBy(summary, measure).scaledToRange().widened();
  }

  /** That of the objective whose limit is drawn, if the figures have it; else p95. */
  private String percentile(Metric metric, String measure) {
    return Stream.ofNullable(summary.slo())
        .flatMap(slo -> slo.objectives().stream())
        .filter(row -> row.measure().equals(measure))
        .map(row -> "p" + NumberText.plain(row.percentile()))
        .filter(
            p ->
                summary.stages().stream()
                    .map(level -> level.figures().metric(summary.headlineMetric(metric)))
                    .anyMatch(values -> values.percentile(p) != null))
        .findFirst()
        .orElse("p95");
  }

  private List<LevelFigures> of(LoadCurve curve) {
    return summary.byLoad().stream().filter(stage -> ShownLevels.isOf(curve, stage)).toList();
  }

  /** The lines of the chart for each curve; colours distinguish several curves. */
  private Chart against(String key, Object... values) {
    List<Line> lines = new ArrayList<>();
    List<String> labels = labels();
    boolean isOne = summary.curves().size() == 1;
    for (LoadCurve curve : summary.curves()) {
      List<Row> rows = of(curve).stream().map(level -> Row.of(summary, level)).toList();
      List<Line> drawn =
          Chart.lines(key, LevelFigures.class, rows, row -> labels.indexOf(row.level().label()), 1);
      for (Line line : drawn) {
        String own = drawn.size() == 1 ? "" : line.name();
        String name = isOne ? line.name() : (summary.name(curve) + " " + own).strip();
        int color = isOne ? line.color() : summary.curves().indexOf(curve);
        if (isOne || !line.name().equals("p95")) {
          lines.add(Line.of(name, color, line.dash(), line.points()));
        }
      }
    }
    return Chart.of(key, Axis.places("Load level", "", labels), lines, values);
  }

  private Chart latency(String id, Metric metric, String measure) {
    return against(id, summary.headlineMetric(metric).title())
        .judgedBy(summary, measure)
        .scaledToRange();
  }

  private Chart perGpu() {
    List<Line> lines = new ArrayList<>();
    for (LoadCurve curve : summary.curves()) {
      List<Point> points =
          Point.ofLevels(
              of(curve),
              level -> level.figures().metric(Metric.DECODE_TOKENS_PER_S).p50(),
              level -> level.figures().number(Metric.OUTPUT_TOKENS_PER_S_PER_GPU));
      lines.add(Line.of(summary.name(curve), lines.size(), lines.size(), points));
    }
    return Chart.of("load-per-gpu", Axis.of("Decode tok/s per user, p50", "tok/s"), lines);
  }

  /** A figure of each scenario against load; null with fewer than two scenarios. */
  @Nullable Section scenarios(List<ScenarioLoad> cells) {
    if (cells.isEmpty()) {
      return null;
    }
    boolean isStreamed = cells.stream().anyMatch(cell -> cell.ttftP95Ms() != null);
    Chart chart =
        summary.slo() != null
            ? scenarios(cells, "SLO missed", "%", LoadSection::missedPercent)
            : isStreamed
                ? scenarios(cells, "TTFT p95", "ms", ScenarioLoad::ttftP95Ms)
                : scenarios(cells, "E2E p95", "ms", ScenarioLoad::e2eP95Ms);
    return Section.of("scenarios").charts(List.of(chart));
  }

  private static @Nullable Double missedPercent(ScenarioLoad cell) {
    return cell.sloShare() == null ? null : (Double) (100 * (1 - cell.sloShare()));
  }

  private Chart scenarios(
      List<ScenarioLoad> cells,
      String figure,
      String unit,
      Function<ScenarioLoad, @Nullable Double> value) {
    return Chart.grid(
        "scenario",
        "Load level",
        cells,
        cell -> cell.scenario() + at(cell.level().target()),
        cell -> cell.level().label(),
        value,
        figure,
        unit);
  }

  private String at(String target) {
    return summary.hasSeveralTargets() ? " @ " + target : "";
  }

  /** Figures over the pairs of a grid of lengths; null without one. */
  @Nullable Section lengths() {
    if (summary.grid().isEmpty()) {
      return null;
    }
    String ttft = summary.headlineMetric(Metric.TTFT_MS).title() + " p99";
    return Section.of("grid")
        .charts(
            List.of(
                pairs("tok", LengthPair::outputTokensPerS, "Output", "tok/s", "↑ higher"),
                pairs(
                    "goodput",
                    LengthPair::goodputRequestsPerS,
                    "Goodput",
                    "requests/s",
                    "↑ higher"),
                pairs("ttft", LengthPair::ttftP99Ms, ttft, "ms", "↓ lower")));
  }

  private Chart pairs(String id, Function<LengthPair, @Nullable Double> value, Object... caption) {
    return Chart.grid(
            "scenario pairs",
            "Output tokens",
            summary.grid(),
            pair -> pair.promptTokens() + at(pair.target()),
            LengthPair::outputTokens,
            value,
            caption)
        .id("grid-" + id);
  }

  // ---- compared runs

  /**
   * {@code level} is the operating point of the base, or that of the curve if it lacks that level.
   */
  private record RunCurve(Compared run, Drawn drawn, LevelFigures level) {}

  /**
   * The curves of compared runs in the same charts, a line for each run, target and scenario. An
   * engine, a target of a run, has a colour, a scenario a dash pattern.
   */
  static Section compared(List<Compared> runs) {
    List<RunCurve> curves = curves(runs);
    List<Drawn> drawn = curves.stream().map(RunCurve::drawn).toList();
    boolean isSweep =
        drawn.stream().flatMap(d -> d.levels().stream()).map(LevelFigures::label).distinct().count()
            > 1;
    List<Chart> charts = new ArrayList<>();
    if (isSweep) {
      charts.add(loadCurve(runs, drawn));
      charts.add(p95("load-ttft of runs", shown(runs, Metric.TTFT_MS), drawn));
      charts.add(p95("load-tpot of runs", shown(runs, Metric.TPOT_MS), drawn));
      charts.addAll(judged(drawn));
    }
    for (Metric metric : List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS)) {
      charts.add(percentiles(metric, curves));
    }
    boolean isEmpty = charts.stream().noneMatch(Chart::hasPoints);
    return Section.of("curves")
        .body(isEmpty ? "No request succeeded: a curve needs at least one." : "")
        .charts(charts);
  }

  private static List<RunCurve> curves(List<Compared> runs) {
    List<RunCurve> all = new ArrayList<>();
    List<String> engines = new ArrayList<>();
    List<String> scenarios = new ArrayList<>();
    for (Compared run : runs) {
      Summary summary = run.summary();
      for (LoadCurve curve : summary.curves()) {
        int engine = position(run.name() + '\n' + curve.target(), engines);
        int scenario = position(String.valueOf(curve.scenario()), scenarios);
        boolean isOne = summary.curves().size() == 1;
        String name = run.name() + (isOne ? "" : ", " + summary.name(curve));
        int dash = summary.hasSeveralScenarios() ? scenario : engine;
        List<LevelFigures> levels = new LoadSection(summary).of(curve);
        String stage = stage(runs, curve);
        LevelFigures level =
            levels.stream().filter(each -> each.label().equals(stage)).findFirst().orElseThrow();
        all.add(new RunCurve(run, new Drawn(name, engine, dash, levels), level));
      }
    }
    return all;
  }

  private static String stage(List<Compared> runs, LoadCurve curve) {
    List<LoadCurve> ofBase = runs.get(0).summary().curves();
    boolean isOneTarget = ofBase.stream().map(LoadCurve::target).distinct().count() == 1;
    return ofBase.stream()
        .filter(
            its ->
                Objects.equals(its.scenario(), curve.scenario())
                    && (isOneTarget || its.target().equals(curve.target())))
        .map(its -> its.operatingPoint().stage())
        .filter(curve.stages()::contains)
        .findFirst()
        .orElse(curve.operatingPoint().stage());
  }

  private static int position(String name, List<String> known) {
    if (!known.contains(name)) {
      known.add(name);
    }
    return known.indexOf(name);
  }

  /** From schedule where a run's headlines are. */
  private static Metric shown(List<Compared> runs, Metric metric) {
    return runs.stream()
        .map(run -> run.summary().headlineMetric(metric))
        .filter(shown -> shown != metric)
        .findFirst()
        .orElse(metric);
  }

  private static Chart loadCurve(List<Compared> runs, List<Drawn> curves) {
    List<Figures> all = runs.stream().map(run -> run.summary().figures()).toList();
    boolean isStreamed = all.stream().anyMatch(run -> !run.metric(Metric.TTFT_MS).isEmpty());
    Metric latency = shown(runs, isStreamed ? Metric.TTFT_MS : Metric.E2E_MS);
    String delivered = all.get(0).embeds() ? "inputs per second" : "output tokens per second";
    List<Line> lines =
        curves.stream()
            .map(
                drawn ->
                    drawn.line(
                        Point.ofLevels(
                            drawn.levels(),
                            level -> level.figures().delivered(),
                            level -> level.figures().metric(latency).p95())))
            .toList();
    Axis x = Axis.of(NumberText.capital(delivered), all.get(0).deliveredUnit());
    return Chart.of("load-curve of runs", x, lines, latency.title(), delivered)
        .scaledToRange()
        .widened();
  }

  private static Chart p95(String key, Metric metric, List<Drawn> curves) {
    return against(key, curves, level -> level.figures().metric(metric).p95(), metric.title())
        .scaledToRange();
  }

  private static Chart percentiles(Metric metric, List<RunCurve> curves) {
    List<Line> lines = new ArrayList<>();
    for (RunCurve of : curves) {
      RunFigures figures = of.run.figures();
      int stage = figures.summary().stages().indexOf(of.level);
      List<Quantile> curve =
          figures.series().levelQuantiles().getOrDefault(stage, Map.of()).get(metric);
      if (curve != null) {
        String name = of.drawn.name() + " at " + of.level.label();
        lines.add(Line.percentiles(name, of.drawn.color(), of.drawn.dash(), curve));
      }
    }
    return Chart.percentiles("percentiles of runs", lines, metric.title())
        .id("percentiles-" + metric.name().toLowerCase(Locale.ROOT).replace('_', '-'));
  }
}
