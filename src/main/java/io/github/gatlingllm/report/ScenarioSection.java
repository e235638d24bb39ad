package io.github.gatlingllm.report;

import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.stats.RequestSamples.ScenarioLoad;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Scenario against load as a map, where several scenarios ran. */
final class ScenarioSection {

  private final List<ScenarioLoad> cells;
  private final boolean severalTargets;
  private final List<String> levels;
  private final List<String> rows;

  ScenarioSection(List<ScenarioLoad> cells) {
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
    charts.add(map("scenario-slo", "SLO missed", "%", ScenarioSection::missed));
    if (streamed && !charts.get(1).hasPoints()) {
      charts.add(map("scenario-e2e", "E2E p95", "ms", ScenarioLoad::e2eP95Ms));
    }
    return Optional.of(
        Section.of(
                "scenarios",
                "Scenarios against load",
                "Scenarios",
                "The same load hits kinds of requests differently: the row whose figures rise first"
                    + " is the one that limits. Colour only underlines the figure.")
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
