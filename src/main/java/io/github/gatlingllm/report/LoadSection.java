package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.RequestSamples.ScenarioLoad;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.Curve;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Pin;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Latency against throughput with a point per load level, and both against load. */
final class LoadSection {

  private final Summary summary;
  private final List<String> levels;
  private final List<Curve> curves;

  LoadSection(Summary summary) {
    this.summary = summary;
    levels = summary.stages().stream().map(LevelFigures::label).distinct().toList();
    curves = summary.curves();
  }

  private boolean hasSeveralLevels() {
    return summary.stages().size() > 1;
  }

  /** The table and the curve of all load levels; null if there is only one. */
  @Nullable Section levels() {
    if (!hasSeveralLevels()) {
      return null;
    }
    List<Chart> charts = new ArrayList<>(List.of(curve()));
    if (levels.size() > 1 && summary.stages().stream().anyMatch(stage -> stage.queue() != null)) {
      charts.add(rates());
    }
    return Section.of("levels").body("", List.of(KeyFigureTables.byLevel(summary))).charts(charts);
  }

  /** Latency against throughput; empty if there is only one load level. */
  Optional<Chart> onlyCurve() {
    return hasSeveralLevels() ? Optional.of(curve()).filter(Chart::hasPoints) : Optional.empty();
  }

  /** The figures against load, with a note on closed loops. */
  Section section() {
    if (!hasSeveralLevels()) {
      String level = levels.isEmpty() ? "" : levels.get(0);
      return Section.of("load").body("load", Map.of("level", level, "closed", closedLoop()));
    }
    List<Chart> charts = new ArrayList<>();
    if (levels.size() > 1) {
      charts.add(throughput());
      charts.add(latency("load-ttft", Metric.TTFT_MS, "ttft"));
      charts.add(latency("load-tpot", Metric.TPOT_MS, "tpot"));
      charts.add(against("load-jitter", "ITL p99 ÷ p50", s -> s.figures().number(Metric.JITTER)));
      if (summary.figures().reader().stalled() > 0) {
        charts.add(
            against(
                    "load-readers",
                    "readers who wait",
                    s -> Metric.READERS_STALLED.number(s.figures()),
                    NumberText.plain(summary.figures().reader().tokensPerS()))
                .upTo(100));
      }
      Chart perGpu = perGpu();
      if (perGpu.hasPoints()) {
        charts.add(perGpu);
      }
    }
    return Section.of("load of levels").body(closedLoop()).charts(charts);
  }

  /** A note on coordinated omission with the equivalent open load; empty without closed loops. */
  private String closedLoop() {
    for (Curve curve : curves) {
      List<String> rates =
          of(curve).stream()
              .filter(stage -> stage.kind().equals(LevelInfo.CLOSED_LOOP))
              .map(stage -> stage.figures().number(Metric.REQUESTS_PER_S))
              .filter(rate -> rate != null && rate > 0)
              .map(NumberText::threeDigits)
              .distinct()
              .toList();
      if (!rates.isEmpty()) {
        return "Users of a closed loop send the next request only after the answer to the last one:"
            + " while the server stalls no request is sent, so percentiles hide the stall"
            + " (coordinated omission). For the same load as an open loop set -Dllm.rate="
            + String.join(",", rates)
            + " in place of llm.concurrency.";
      }
    }
    return "";
  }

  /** Whether the run embeds texts and does not generate tokens. */
  private boolean embeds() {
    return summary.figures().embeds();
  }

  private Chart curve() {
    boolean streamed = !summary.figures().metric(Metric.TTFT_MS).isEmpty();
    Metric metric = streamed ? Metric.TTFT_MS : Metric.E2E_MS;
    Function<LevelFigures, @Nullable Double> latency =
        stage -> stage.figures().metric(metric.fromSchedule()).p95();
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      Curve curve = curves.get(t);
      String name = summary.name(curve);
      List<Point> points = new ArrayList<>();
      List<Pin> pins = new ArrayList<>();
      for (LevelFigures stage : of(curve)) {
        Double x = stage.figures().delivered();
        Double y = latency.apply(stage);
        if (x != null && y != null) {
          String mark = mark(curve, stage);
          points.add(new Point(x, y, mark.isEmpty() ? stage.label() : stage.label() + " " + mark));
          if (!mark.isEmpty()) {
            pins.add(new Pin(x, y, stage.label() + " is " + mark + " of " + name));
          }
        }
      }
      lines.add(Line.of(name, t, t, points).pinned(pins));
    }
    Chart chart =
        Chart.of(
            "load-curve",
            embeds()
                ? Axis.of("Inputs per second", "inputs/s")
                : Axis.of("Output tokens per second", "tok/s"),
            lines,
            summary.headlineMetric(metric).title(),
            embeds() ? "inputs per second" : "output tokens per second");
    Chart judged = streamed ? chart.judgedBy(summary.slo(), "ttft") : chart;
    return judged.scaledToRange().widened();
  }

  private static String mark(Curve curve, LevelFigures stage) {
    String marks = KeyFigureTables.marks(curve, stage);
    return marks.isEmpty() ? "" : "(" + marks + ")";
  }

  private List<LevelFigures> of(Curve curve) {
    return summary.stages().stream().filter(stage -> ShownLevels.isOf(curve, stage)).toList();
  }

  private Axis load() {
    return Axis.places("Load level", "", levels);
  }

  private Line line(
      String name,
      Curve curve,
      int color,
      int dash,
      Function<LevelFigures, @Nullable Double> figure) {
    List<Point> points = Point.of(of(curve), stage -> levels.indexOf(stage.label()), figure);
    return Line.of(
        curves.size() > 1 ? (summary.name(curve) + " " + name).strip() : name, color, dash, points);
  }

  private Chart rates() {
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      Curve curve = curves.get(t);
      boolean one = curves.size() == 1;
      lines.add(line("offered", curve, one ? 3 : t, 2, LevelFigures::offered));
      lines.add(line("arrived", curve, one ? 1 : t, 1, LevelFigures::arrivedPerS));
      lines.add(line("completed", curve, t, 0, LevelFigures::completedPerS));
    }
    return Chart.of("load-rates", load(), lines);
  }

  private Chart throughput() {
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      Curve curve = curves.get(t);
      String all = summary.slo() == null && curves.size() > 1 ? "" : "all";
      lines.add(line(all, curve, t, 0, s -> s.figures().delivered()));
      if (summary.slo() != null && !embeds()) {
        int color = curves.size() > 1 ? t : 2;
        lines.add(line("in SLO", curve, color, 1, LoadSection::sloTokens));
      }
    }
    String form = embeds() ? " of inputs" : summary.slo() == null ? "" : " judged";
    return Chart.of("load-throughput" + form, load(), lines);
  }

  private static @Nullable Double sloTokens(LevelFigures stage) {
    Figures.Goodput goodput = stage.figures().goodput();
    return goodput == null ? null : goodput.tokensPerS();
  }

  private Chart latency(String id, Metric metric, String measure) {
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      Curve curve = curves.get(t);
      boolean one = curves.size() == 1;
      lines.add(line("p50", curve, t, 0, s -> of(s, metric).p50()));
      if (one) {
        lines.add(line("p95", curve, 1, 1, s -> of(s, metric).p95()));
      }
      lines.add(line("p99", curve, one ? 3 : t, 2, s -> of(s, metric).p99()));
    }
    return Chart.of(id, load(), lines, summary.headlineMetric(metric).title())
        .judgedBy(summary.slo(), measure)
        .scaledToRange();
  }

  private static Distribution of(LevelFigures stage, Metric metric) {
    return stage.figures().metric(metric.fromSchedule());
  }

  /** Output per GPU against output per user, a point per load level. */
  private Chart perGpu() {
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      List<Point> points = new ArrayList<>();
      for (LevelFigures stage : of(curves.get(t))) {
        Double x = stage.figures().metric(Metric.DECODE_TOKENS_PER_S).p50();
        Double y = stage.figures().number(Metric.OUTPUT_TOKENS_PER_S_PER_GPU);
        if (x != null && y != null) {
          points.add(new Point(x, y, stage.label()));
        }
      }
      lines.add(Line.of(summary.name(curves.get(t)), t, t, points));
    }
    return Chart.of("load-per-gpu", Axis.of("Decode tok/s per user, p50", "tok/s"), lines);
  }

  /** One figure against load, a line per curve. */
  private Chart against(
      String key, String name, Function<LevelFigures, @Nullable Double> figure, Object... values) {
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      lines.add(line(curves.size() > 1 ? "" : name, curves.get(t), t, 0, figure));
    }
    return Chart.of(key, load(), lines, values);
  }

  /** Grids of scenario against load, if several scenarios ran. */
  static final class Scenarios {

    private final List<ScenarioLoad> cells;
    private final boolean severalTargets;
    private final List<String> levels;
    private final List<String> rows;

    Scenarios(List<ScenarioLoad> cells) {
      this.cells = cells;
      severalTargets = cells.stream().map(ScenarioLoad::target).distinct().count() > 1;
      levels = cells.stream().map(ScenarioLoad::stage).distinct().toList();
      rows = cells.stream().map(this::row).distinct().toList();
    }

    /** The section; null with fewer than two scenarios. */
    @Nullable Section section() {
      if (cells.isEmpty()) {
        return null;
      }
      boolean streamed = cells.stream().anyMatch(cell -> cell.ttftP95Ms() != null);
      Chart e2e = map("scenario-e2e", "E2E p95", "ms", ScenarioLoad::e2eP95Ms);
      Chart missed = map("scenario-slo", "SLO missed", "%", Scenarios::missed);
      List<Chart> charts = new ArrayList<>();
      charts.add(streamed ? map("scenario-ttft", "TTFT p95", "ms", ScenarioLoad::ttftP95Ms) : e2e);
      charts.add(missed);
      if (streamed && !missed.hasPoints()) {
        charts.add(e2e);
      }
      return Section.of("scenarios").charts(charts);
    }

    private String row(ScenarioLoad cell) {
      return severalTargets ? cell.scenario() + " @ " + cell.target() : cell.scenario();
    }

    private static @Nullable Double missed(ScenarioLoad cell) {
      Double share = cell.sloShare();
      return share == null ? null : (Double) (100 * (1 - share));
    }

    private Chart map(
        String id, String figure, String unit, Function<ScenarioLoad, @Nullable Double> value) {
      List<Line> lines = new ArrayList<>();
      for (String row : rows) {
        List<Point> points =
            cells.stream()
                .filter(cell -> row(cell).equals(row))
                .filter(cell -> Objects.nonNull(value.apply(cell)))
                .map(cell -> new Point(levels.indexOf(cell.stage()), value.apply(cell)))
                .toList();
        lines.add(new Line(row, Form.GRID, 0, 0, points, List.of()));
      }
      return Chart.of("scenario", Axis.places("Load level", "", levels), lines, figure, unit)
          .id(id);
    }
  }
}
