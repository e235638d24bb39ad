package io.github.gatlingllm.report;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.ComparePage.RunSide;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Lines per run, target and scenario, never figures of several levels pooled. */
class CompareCurvesTest {

  /**
   * Two targets and two scenarios at c=1 and c=2, each for 10 s. Of the 10 requests of a level each
   * has its first token after {@code ttftMs} × users × (1 + scenario) × (1 + target), then two gaps
   * of 10 ms and one of 10 × users ms.
   */
  private static RunSide run(String name, double ttftMs, int... users) {
    List<LevelInfo> levels = new ArrayList<>();
    List<RequestRecord> records = new ArrayList<>();
    for (String target : List.of("a", "b")) {
      for (String scenario : List.of("S", "T")) {
        for (int c : users) {
          double from = levels.size() * 10_000.0;
          LevelInfo of = Recorded.stage(target, c, from, from + 10_000);
          levels.add(
              new LevelInfo(
                  of.label(), target, scenario, of.kind(), of.offered(), of.unit(), of.phases()));
          double first = ttftMs * c * (scenario.equals("T") ? 2 : 1) * (target.equals("b") ? 2 : 1);
          for (int i = 0; i < 10; i++) {
            records.add(
                at(from + i * 100)
                    .target(target)
                    .scenario(scenario)
                    .stage(of.label())
                    .prompt(scenario.equals("T") ? 200 : 100)
                    .tokens(first, first + 10, first + 20, first + 20 + 10 * c)
                    .record());
          }
        }
      }
    }
    return new RunSide(
        name,
        Recorded.figures(
            Recorded.run(levels.size() * 10, levels.toArray(LevelInfo[]::new))
                .seed(7L)
                .slo(Slo.parse("ttft<100ms")),
            records));
  }

  private static final List<RunSide> SIDES = List.of(run("old", 10, 1, 2), run("new", 20, 2, 1));

  private static Map<String, Chart> charts(List<RunSide> sides) {
    return new CompareCurves(sides)
        .section().groups().stream()
            .flatMap(group -> group.charts().stream())
            .collect(Collectors.toMap(Chart::id, chart -> chart));
  }

  @Test
  void everyRunTargetAndScenarioHasALineInEveryChart() {
    Map<String, Chart> charts = charts(SIDES);

    assertThat(charts)
        .containsOnlyKeys(
            "load-curve",
            "load-ttft",
            "load-tpot",
            "load-jitter",
            "load-goodput",
            "percentiles-ttft-ms",
            "percentiles-itl-ms",
            "percentiles-tpot-ms",
            "percentiles-e2e-ms");
    assertThat(charts.get("load-ttft").series())
        .extracting(Line::name)
        .containsExactly(
            "old, S at a",
            "old, T at a",
            "old, S at b",
            "old, T at b",
            "new, S at a",
            "new, T at a",
            "new, S at b",
            "new, T at b");
    assertThat(charts.get("load-ttft").series())
        .as("a colour per engine, a dash pattern per scenario")
        .extracting(line -> List.of(line.color(), line.dash()))
        .containsExactly(
            List.of(0, 0),
            List.of(0, 1),
            List.of(1, 0),
            List.of(1, 1),
            List.of(2, 0),
            List.of(2, 1),
            List.of(3, 0),
            List.of(3, 1));
  }

  @Test
  void figuresAreDrawnAgainstLoad() {
    Map<String, Chart> charts = charts(SIDES);

    assertThat(charts.get("load-ttft").x().categories()).containsExactly("c=1", "c=2");
    assertThat(values(charts, "load-ttft", "new, T at b")).containsExactly(80.0, 160.0);
    assertThat(values(charts, "load-tpot", "old, S at a")).containsExactly(10.0, 13.3);
    assertThat(values(charts, "load-jitter", "old, S at a")).containsExactly(1.0, 2.0);
    // 160 ms misses the SLO of 100 ms
    assertThat(values(charts, "load-goodput", "new, T at b")).containsExactly(1.0, 0.0);
  }

  /** Values in order of load, within the bins of percentiles. */
  private static List<Double> values(Map<String, Chart> charts, String id, String line) {
    return line(charts.get(id), line).points().stream()
        .sorted((one, other) -> Double.compare(one.x(), other.x()))
        .map(point -> Math.round(point.y() * 10) / 10.0)
        .toList();
  }

  private static Line line(Chart chart, String name) {
    return chart.series().stream().filter(l -> l.name().equals(name)).findFirst().orElseThrow();
  }

  /** T at b of the new run has its own operating point, c=1, and is drawn at that of the base. */
  @Test
  void percentilesAreThoseOfTheOperatingPointOfTheBase() {
    Map<String, Chart> charts = charts(SIDES);

    Line one = line(charts.get("percentiles-ttft-ms"), "new, T at b at c=2");
    assertThat(one.points())
        .isNotEmpty()
        .allSatisfy(point -> assertThat(point.y()).isCloseTo(160, within(0.2)));
    Map<String, Chart> without = charts(List.of(SIDES.get(0), run("one", 20, 1)));
    Line own = line(without.get("percentiles-ttft-ms"), "one, T at b at c=1");
    assertThat(own.points())
        .extracting(Point::y)
        .allSatisfy(y -> assertThat(y).isCloseTo(80, within(0.1)));
  }
}
