package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.stats.CloseUps.Breakdown;
import io.github.gatlingllm.stats.CloseUps.Part;
import io.github.gatlingllm.stats.CloseUps.PartMean;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Where the time of a request goes, from its schedule to its last token, by load level. */
final class BreakdownSection {

  private final Summary summary;
  private final List<Breakdown> stages;
  private final boolean reported;

  BreakdownSection(Summary summary, List<Breakdown> stages) {
    this.summary = summary;
    this.stages = stages;
    reported = stages.stream().anyMatch(stage -> stage.reporting() > 0);
  }

  /** The section; empty where no request succeeded. */
  Optional<Section> section() {
    if (stages.isEmpty()) {
      return Optional.empty();
    }
    String server =
        reported
            ? " Striped parts are what the server reported of itself, in the requests where it did"
                + " and where they fit into the TTFT that was seen."
            : " The server reports no times of its own, so its queue and its prefill are one part.";
    return Optional.of(
        new Section(
            "breakdown",
            "Where the time goes",
            "Breakdown",
            "Means over ok requests, from the planned start to the last token: only means add up,"
                + " so the parts together are exactly the mean E2E from schedule."
                + server,
            new Html(),
            List.of(chart())));
  }

  private Chart chart() {
    List<String> places = stages.stream().map(this::name).toList();
    List<Line> lines = new ArrayList<>();
    Set<Part> parts = new TreeSet<>();
    stages.forEach(stage -> stage.meansMs().forEach(mean -> parts.add(mean.part())));
    for (Part part : parts) {
      List<Point> points = new ArrayList<>();
      for (int i = 0; i < stages.size(); i++) {
        points.add(new Point(i, Objects.requireNonNullElse(mean(stages.get(i), part), 0.0)));
      }
      lines.add(
          new Line(
              name(part), Form.STACK, color(part), isReported(part) ? 1 : 0, points, List.of()));
    }
    return new Chart(
            "breakdown-parts",
            "Mean time of a request by part",
            "↓ shorter is better",
            "Read from left to right as a request goes; the part that grows with load is the"
                + " bottleneck.",
            Axis.places("Load level", "", places),
            Axis.of("Mean time", "ms"),
            lines)
        .widened()
        .tabled(table(parts));
  }

  private Html table(Set<Part> parts) {
    List<String> headings = new ArrayList<>(List.of("Load level", "requests"));
    parts.forEach(part -> headings.add(name(part) + ", ms"));
    headings.add("E2E from schedule, ms");
    if (reported) {
      headings.add("requests that report");
    }
    Table table = new Table("Mean time of a request by part", headings);
    for (Breakdown stage : stages) {
      table.row(name(stage), "").cell(NumberText.count(stage.count()));
      parts.forEach(part -> table.cell(NumberText.number(mean(stage, part))));
      table.cell(NumberText.number(stage.totalMs()));
      if (reported) {
        table.cell(NumberText.count(stage.reporting()));
      }
      table.end();
    }
    return table.html();
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

  private static boolean isReported(Part part) {
    return part == Part.SERVER_QUEUE || part == Part.SERVER_PREFILL;
  }

  private String name(Part part) {
    return switch (part) {
      case START_LAG -> "start lag";
      case GATE_WAIT -> "gate";
      case CONNECT -> "connect";
      case SERVER_QUEUE -> "reported queue";
      case SERVER_PREFILL -> "reported prefill";
      case FIRST_TOKEN -> reported ? "rest to first token" : "server queue and prefill";
      case DECODE -> "decode";
      case ANSWER -> "whole answer, not streamed";
    };
  }

  private static int color(Part part) {
    return switch (part) {
      case START_LAG -> 5;
      case GATE_WAIT -> 4;
      case CONNECT -> 3;
      case SERVER_QUEUE -> 4;
      case SERVER_PREFILL, ANSWER -> 2;
      case FIRST_TOKEN -> 1;
      case DECODE -> 0;
    };
  }
}
