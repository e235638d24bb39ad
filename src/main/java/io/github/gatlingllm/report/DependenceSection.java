package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Form;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Chart.Scale;
import io.github.gatlingllm.stats.CloseUps.Cloud;
import io.github.gatlingllm.stats.CloseUps.Dependence;
import io.github.gatlingllm.stats.CloseUps.Dot;
import io.github.gatlingllm.stats.CloseUps.Range;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** How times depend on lengths, on the place in the answer, and on the turn. */
final class DependenceSection {

  /** With fewer values than this in a range, fewer than 10 lie beyond its p95. */
  private static final int SURE_P95 = 200;

  private final Dependence dependence;
  private final List<Summary.Turn> turns;

  DependenceSection(Dependence dependence, List<Summary.Turn> turns) {
    this.dependence = dependence;
    this.turns = turns;
  }

  /** The section; empty where nothing varies. */
  Optional<Section> section() {
    List<Chart> charts = new ArrayList<>();
    List<String> constant = new ArrayList<>();
    cloud(
        charts,
        constant,
        dependence.ttftByPrompt(),
        "depend-ttft",
        "TTFT against input tokens",
        "A line that climbs is prefill work: twice the prompt, twice the wait; a cloud that is high"
            + " everywhere is queueing instead.",
        Axis.of("Input tokens", ""),
        Axis.of("TTFT", "ms"));
    cloud(
        charts,
        constant,
        dependence.e2eByOutput(),
        "depend-e2e",
        "E2E against output tokens",
        "Its slope is the time per output token; dots far above the line waited or stalled.",
        Axis.of("Output tokens", ""),
        Axis.of("E2E", "ms"));
    cloud(
        charts,
        constant,
        dependence.itlByPosition(),
        "depend-itl",
        "ITL against position in the answer",
        "Flat is even; a line that climbs means tokens get slower as the context grows.",
        Axis.of("Token event of the answer", ""),
        Axis.of("ITL", "ms"));
    charts.addAll(new TurnCharts(turns).charts());
    if (charts.stream().noneMatch(Chart::hasPoints)) {
      return Optional.empty();
    }
    Html html = new Html();
    if (!constant.isEmpty()) {
      html.element("p", String.join(" ", constant), "class", "note");
    }
    return Optional.of(
        new Section(
            "dependence",
            "Dependence on lengths",
            "Dependence",
            "All load levels pooled. Lines and tables are made of all ok requests. Dots are a"
                + " sample drawn by a hash of the request id, and always the three slowest and the"
                + " fastest of each range, so that no outlier is lost.",
            html,
            charts));
  }

  private static void cloud(
      List<Chart> charts,
      List<String> constant,
      Cloud cloud,
      String id,
      String title,
      String howTo,
      Axis x,
      Axis y) {
    if (cloud.ranges().size() > 1) {
      String drawn =
          " Dots: "
              + NumberText.count(cloud.dots().size())
              + " of "
              + NumberText.count(cloud.all())
              + ".";
      charts.add(
          new Chart(
                  id, title, "↓ lower is better", howTo + drawn, scaled(x, cloud), y, lines(cloud))
              .scaledToRange()
              .tabled(table(title, x, y, cloud)));
    } else if (!cloud.ranges().isEmpty()) {
      Range only = cloud.ranges().get(0);
      constant.add(
          "No chart of "
              + title
              + ": all had "
              + (only.to() - only.from() > 1 ? "about " : "")
              + NumberText.number((double) Math.round(only.meanX()))
              + ".");
    }
  }

  /** Logarithmic where lengths differ by more than a factor of 12. */
  private static Axis scaled(Axis x, Cloud cloud) {
    double first = cloud.ranges().get(0).meanX();
    double last = cloud.ranges().get(cloud.ranges().size() - 1).meanX();
    boolean wide = cloud.ranges().get(0).from() > 0 && last > 12 * first;
    return wide ? Axis.of(x.name(), x.unit(), Scale.LOG) : x;
  }

  private static List<Line> lines(Cloud cloud) {
    List<Point> dots = new ArrayList<>();
    for (Dot dot : cloud.dots()) {
      dots.add(new Point(dot.x(), dot.ms(), dot.requestId()));
    }
    List<Line> lines = new ArrayList<>();
    lines.add(new Line("single values", Form.DOTS, 5, 0, dots, List.of()));
    lines.add(Line.of("p50", 0, 0, points(cloud, Range::p50Ms)));
    lines.add(Line.of("p95", 1, 1, points(cloud, Range::p95Ms)));
    lines.removeIf(line -> line.points().isEmpty());
    return lines;
  }

  private static List<Point> points(Cloud cloud, Function<Range, @Nullable Double> figure) {
    return cloud.ranges().stream()
        .filter(range -> figure.apply(range) != null)
        .map(range -> new Point(range.meanX(), figure.apply(range)))
        .toList();
  }

  private static Html table(String title, Axis x, Axis y, Cloud cloud) {
    Table table =
        new Table(
            title, List.of(x.name(), "values", y.name() + " p50, " + y.unit(), "p95", "largest"));
    for (Range range : cloud.ranges()) {
      boolean one = range.to() - range.from() == 1;
      String name = NumberText.count(range.from());
      table
          .row(one ? name : name + "–" + NumberText.count(range.to() - 1), "")
          .cell(NumberText.count(range.count()))
          .cell(NumberText.number(range.p50Ms()));
      if (range.p95Ms() != null && range.count() < SURE_P95) {
        table.cell(NumberText.number(range.p95Ms()), "low");
      } else {
        table.cell(NumberText.number(range.p95Ms()));
      }
      table.cell(NumberText.number(range.maxMs())).end();
    }
    return table.html();
  }
}
