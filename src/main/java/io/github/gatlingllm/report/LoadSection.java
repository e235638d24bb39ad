package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Pin;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.stats.RequestSamples.ScenarioLoad;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.Curve;
import io.github.gatlingllm.stats.Summary.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Latency against throughput, a point per load level, and both against load. */
final class LoadSection {

  private final Summary summary;
  private final List<String> levels;
  private final List<Curve> curves;

  LoadSection(Summary summary) {
    this.summary = summary;
    levels = summary.stages().stream().map(Stage::label).distinct().toList();
    curves = summary.curves();
  }

  private boolean hasSeveralLevels() {
    return summary.stages().size() > 1;
  }

  /** All load levels in a table, and the curve that they make; empty where there is only one. */
  Optional<Section> levels() {
    if (!hasSeveralLevels()) {
      return Optional.empty();
    }
    List<Chart> charts = new ArrayList<>(List.of(curve()));
    if (levels.size() > 1 && summary.stages().stream().anyMatch(stage -> stage.queue() != null)) {
      charts.add(rates());
    }
    return Optional.of(
        Section.of("levels", "Load levels", "Levels", "")
            .body("", List.of(KeyFigureTables.byLevel(summary)))
            .charts(charts));
  }

  /** Latency against throughput; empty where there is only one load level. */
  Optional<Chart> onlyCurve() {
    return hasSeveralLevels() ? Optional.of(curve()).filter(Chart::hasPoints) : Optional.empty();
  }

  /** The figures against load, and what closed loops cannot show. */
  Section section() {
    Section section =
        Section.of(
            "load",
            hasSeveralLevels() ? "Against load" : "Latency against throughput",
            "Load",
            hasSeveralLevels()
                ? "How much more the server delivers as load grows, and what that costs each user."
                : "");
    if (!hasSeveralLevels()) {
      return section.body(
          "load", Map.of("level", levels.isEmpty() ? "" : levels.get(0), "closed", closedLoop()));
    }
    List<Chart> charts = new ArrayList<>();
    if (levels.size() > 1) {
      charts.add(throughput());
      charts.add(latency("load-ttft", Metric.TTFT_MS, "ttft"));
      charts.add(latency("load-tpot", Metric.TPOT_MS, "tpot"));
      charts.add(jitter());
      if (summary.figures().reader().stalled() > 0) {
        charts.add(readers());
      }
      Chart perGpu = perGpu();
      if (perGpu.hasPoints()) {
        charts.add(perGpu);
      }
    }
    return section.body(closedLoop()).charts(charts);
  }

  /** What closed loops cannot show, and the open load that does; empty where none was closed. */
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
        return "Users of a closed loop ask again only when they have their answer: while the server"
            + " stalls nobody asks, and percentiles hide it (coordinated omission). The same load"
            + " from users who do not wait for each other: -Dllm.rate="
            + String.join(",", rates)
            + " instead of -Dllm.concurrency.";
      }
    }
    return "";
  }

  /** Whether the run embeds texts and generates nothing. */
  private boolean embeds() {
    return summary.figures().embeds();
  }

  private Chart curve() {
    String delivered = embeds() ? "inputs per second" : "output tokens per second";
    boolean streamed = !summary.figures().metric(Metric.TTFT_MS).isEmpty();
    Metric metric = streamed ? Metric.TTFT_MS : Metric.E2E_MS;
    Function<Stage, @Nullable Double> latency =
        stage -> stage.figures().metric(metric.fromSchedule()).p95();
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      Curve curve = curves.get(t);
      String name = summary.name(curve);
      List<Point> points = new ArrayList<>();
      List<Pin> pins = new ArrayList<>();
      for (Stage stage : of(curve)) {
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
        new Chart(
            "load-curve",
            summary.clock().name(metric) + " p95 against " + delivered,
            "↘ lower and further right is better",
            "Each point is one load level; where the line turns upwards the server is full, and"
                + " more load only buys waiting. Rings mark the knee, the maximum"
                + " goodput, and loads that the server does not keep up with.",
            Axis.of(
                embeds() ? "Inputs per second" : "Output tokens per second",
                embeds() ? "inputs/s" : "tok/s"),
            Axis.of(summary.clock().name(metric) + " p95", "ms"),
            lines);
    Chart judged = streamed ? chart.judgedBy(summary.slo(), "ttft") : chart;
    return judged.scaledToRange().widened();
  }

  private static String mark(Curve curve, Stage stage) {
    String marks = KeyFigureTables.marks(curve, stage);
    return marks.isEmpty() ? "" : "(" + marks + ")";
  }

  private List<Stage> of(Curve curve) {
    return summary.stages().stream()
        .filter(
            stage ->
                stage.target().equals(curve.target())
                    && Objects.equals(stage.scenario(), curve.scenario()))
        .toList();
  }

  private Axis load() {
    return Axis.places("Load level", "", levels);
  }

  private Line line(
      String name, Curve curve, int color, int dash, Function<Stage, @Nullable Double> figure) {
    List<Point> points = Point.of(of(curve), stage -> levels.indexOf(stage.label()), figure);
    return Line.of(
        curves.size() > 1 ? (summary.name(curve) + " " + name).strip() : name, color, dash, points);
  }

  private Chart rates() {
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      Curve curve = curves.get(t);
      boolean one = curves.size() == 1;
      lines.add(line("offered", curve, one ? 3 : t, 2, Stage::offered));
      lines.add(line("arrived", curve, one ? 1 : t, 1, Stage::arrivedPerS));
      lines.add(line("completed", curve, t, 0, Stage::completedPerS));
    }
    return new Chart(
        "load-rates",
        "Offered, arrived and completed requests per second",
        Chart.HIGHER,
        "What was asked for, what came, and what was answered in the measure window. Where"
            + " completed stays below arrived and the queue grows, the server does not keep up.",
        load(),
        Axis.of("Requests", "requests/s"),
        lines);
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
    return new Chart(
        "load-throughput",
        embeds() ? "Inputs per second against load" : "Output tokens per second against load",
        Chart.HIGHER,
        summary.slo() == null || embeds()
            ? "Where the line flattens, the server is at its limit."
            : "Where the lines part, tokens still come but too late for the SLO.",
        load(),
        embeds() ? Axis.of("Inputs", "inputs/s") : Axis.of("Output", "tok/s"),
        lines);
  }

  private static @Nullable Double sloTokens(Stage stage) {
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
    return new Chart(
            id,
            summary.clock().name(metric) + " against load",
            Chart.LOWER,
            "Median and tail at each load level; a tail that leaves the median behind means"
                + " queueing.",
            load(),
            Axis.of(summary.clock().name(metric), "ms"),
            lines)
        .judgedBy(summary.slo(), measure)
        .scaledToRange();
  }

  private static Distribution of(Stage stage, Metric metric) {
    return stage.figures().metric(metric.fromSchedule());
  }

  /** What each GPU delivers against what each user gets, a point per load level. */
  private Chart perGpu() {
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      List<Point> points = new ArrayList<>();
      for (Stage stage : of(curves.get(t))) {
        Double x = stage.figures().metric(Metric.DECODE_TOKENS_PER_S).p50();
        Double y = stage.figures().number(Metric.OUTPUT_TOKENS_PER_S_PER_GPU);
        if (x != null && y != null) {
          points.add(new Point(x, y, stage.label()));
        }
      }
      lines.add(Line.of(summary.name(curves.get(t)), t, t, points));
    }
    return new Chart(
        "load-per-gpu",
        "Tokens per second and GPU against tokens per second and user",
        "↗ higher and further right is better",
        "Each point is one load level: more load gives more tokens per GPU and fewer per user. Of"
            + " two servers the one whose line lies further up and to the right is better (Pareto)."
            + " Per user: decode tok/s of the median request.",
        Axis.of("Decode tok/s per user, p50", "tok/s"),
        Axis.of("Output per GPU", "tok/s"),
        lines);
  }

  private Chart jitter() {
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      lines.add(
          line(
              curves.size() > 1 ? "" : "ITL p99 ÷ p50",
              curves.get(t),
              t,
              0,
              s -> s.figures().number(Metric.JITTER)));
    }
    return new Chart(
        "load-jitter",
        "Jitter against load",
        Chart.LOWER,
        "How much longer the slowest gaps between tokens are than the usual one: 1 is even, above 3"
            + " users see pauses.",
        load(),
        Axis.of("ITL p99 ÷ p50", ""),
        lines);
  }

  private Chart readers() {
    List<Line> lines = new ArrayList<>();
    for (int t = 0; t < curves.size(); t++) {
      lines.add(
          line(
              curves.size() > 1 ? "" : "readers who wait",
              curves.get(t),
              t,
              0,
              s -> Metric.READERS_STALLED.number(s.figures())));
    }
    return new Chart(
        "load-readers",
        "Readers who wait against load",
        Chart.LOWER,
        "Share of answers in which somebody who reads "
            + NumberText.plain(summary.figures().reader().tokensPerS())
            + " tokens/s from the first one on waits for a later one.",
        load(),
        Axis.of("Readers who wait", "%").upTo(100),
        lines);
  }

  /** Scenario against load as a map, where several scenarios ran. */
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

    /** The section; empty with fewer than two scenarios. */
    Optional<Section> section() {
      if (cells.isEmpty()) {
        return Optional.empty();
      }
      boolean streamed = cells.stream().anyMatch(cell -> cell.ttftP95Ms() != null);
      List<Chart> charts = new ArrayList<>();
      charts.add(
          streamed
              ? map("scenario-ttft", "TTFT p95", "ms", ScenarioLoad::ttftP95Ms)
              : map("scenario-e2e", "E2E p95", "ms", ScenarioLoad::e2eP95Ms));
      charts.add(map("scenario-slo", "SLO missed", "%", Scenarios::missed));
      if (streamed && !charts.get(1).hasPoints()) {
        charts.add(map("scenario-e2e", "E2E p95", "ms", ScenarioLoad::e2eP95Ms));
      }
      return Optional.of(
          Section.of(
                  "scenarios",
                  "Scenarios against load",
                  "Scenarios",
                  "The same load hits kinds of requests differently: the row whose figures rise"
                      + " first is the one that limits. Colour only underlines the figure.")
              .charts(charts));
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
      return new Chart(
          id,
          figure + " by scenario and load",
          Chart.LOWER,
          "Each cell is one scenario at one load level; an empty one was not run or has no value.",
          Axis.places("Load level", "", levels),
          Axis.of(figure, unit),
          lines);
    }
  }
}
