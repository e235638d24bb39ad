package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.RequestSamples.Breakdown;
import io.github.gatlingllm.figures.level.RequestSamples.Part;
import io.github.gatlingllm.figures.level.RequestSamples.PartMean;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Mean time of each part of a request, from its planned start to its last token, by load level. */
final class BreakdownSection {

  private static final Set<Part> REPORTED =
      EnumSet.of(Part.SERVER_QUEUE, Part.SERVER_PREFILL, Part.SERVER_DECODE);

  private final Summary summary;
  private final List<Breakdown> stages;
  private final boolean isReported;
  private final boolean isDecodeReported;

  BreakdownSection(Summary summary, List<Breakdown> stages) {
    this.summary = summary;
    this.stages = stages;
    isReported = stages.stream().anyMatch(stage -> stage.reporting() > 0);
    isDecodeReported = stages.stream().anyMatch(stage -> mean(stage, Part.SERVER_DECODE) != null);
  }

  /** The section; null where no request succeeded. */
  @Nullable Section section() {
    return stages.isEmpty()
        ? null
        : Section.of(isReported ? "breakdown as reported" : "breakdown").charts(List.of(chart()));
  }

  private Chart chart() {
    Set<Part> parts = new TreeSet<>();
    stages.forEach(stage -> stage.meansMs().forEach(mean -> parts.add(mean.part())));
    List<Line> lines = new ArrayList<>();
    for (Part part : parts) {
      List<Point> points =
          Point.inOrder(stages, stage -> Objects.requireNonNullElse(mean(stage, part), 0.0));
      int stripes = REPORTED.contains(part) ? 1 : 0;
      lines.add(new Line(name(part), Form.STACK, color(part), stripes, points, List.of()));
    }
    Axis levels = Axis.places("Load level", "", stages.stream().map(this::name).toList());
    return Chart.of("breakdown-parts", levels, lines).widened().tabled(table(parts));
  }

  private Table table(Set<Part> parts) {
    return Columns.<Breakdown>of(
            Column.name("Load level", this::name), Column.count("requests", Breakdown::count))
        .and(parts.stream().map(this::column).toList())
        .and(Column.number("E2E from schedule, ms", Breakdown::totalMs))
        .when(isReported, Column.count("requests that report", Breakdown::reporting))
        .table("Mean time of a request by part", stages);
  }

  private Column<Breakdown> column(Part part) {
    return Column.number(name(part) + ", ms", stage -> mean(stage, part));
  }

  private String name(Breakdown stage) {
    return summary.place(stage.stage(), stage.target(), stage.scenario());
  }

  private static @Nullable Double mean(Breakdown stage, Part part) {
    return stage.meansMs().stream()
        .filter(mean -> mean.part() == part)
        .map(PartMean::ms)
        .findFirst()
        .orElse(null);
  }

  private String name(Part part) {
    return switch (part) {
      case START_LAG -> "start lag";
      case GATE_WAIT -> "gate";
      case CONNECT -> "connect";
      case SERVER_QUEUE -> "reported queue";
      case SERVER_PREFILL -> "reported prefill";
      case FIRST_TOKEN -> isReported ? "rest to first token" : "server queue and prefill";
      case SERVER_DECODE -> "reported decode";
      case DECODE -> isDecodeReported ? "rest of decode" : "decode";
      case ANSWER -> "whole answer, not streamed";
    };
  }

  private static int color(Part part) {
    return switch (part) {
      case START_LAG -> 5;
      case GATE_WAIT, SERVER_QUEUE -> 4;
      case CONNECT -> 3;
      case SERVER_PREFILL, ANSWER -> 2;
      case FIRST_TOKEN -> 1;
      case SERVER_DECODE, DECODE -> 0;
    };
  }
}
