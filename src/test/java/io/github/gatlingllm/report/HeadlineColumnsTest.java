package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.report.Table.Heading;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Times next to "in SLO" and the knee use the clock of the SLO, which their headings name. */
class HeadlineColumnsTest {

  /**
   * 4 and 64 requests in one second with maxInFlight=8; each lasts 2 s and has its first token
   * after 200 ms: the k-th of 64 waits ⌊k ÷ 8⌋ × (2 s − 8 ÷ 64 s), at most 13,125 ms, so that TTFT
   * p99 is 13,325 ms from schedule and 200 ms from admission; its median is that of group 3, 5,625
   * + 200 ms, and of E2E 5,625 + 2,000 ms.
   *
   * @param kind kind of the load
   * @param unit unit of the load
   */
  private static Summary gate(String kind, String unit) {
    List<LevelInfo> levels = new ArrayList<>();
    List<RequestRecord> records = new ArrayList<>();
    for (int rate : List.of(4, 64)) {
      double from = levels.size() * 100_000.0;
      String label = "r=" + rate;
      levels.add(Recorded.stage(label, "a", kind, (double) rate, unit, from, from + 1_000));
      for (int k = 0; k < rate; k++) {
        double wait = Math.floorDiv(k, 8) * (2_000 - 8_000.0 / rate);
        double at = from + k * 1_000.0 / rate;
        Recorded request = Recorded.at(at).gate(wait).stage(label).tokens(200, 2_000);
        records.add(unit.equals("users") ? request.record() : request.lag(0).record());
      }
    }
    return Recorded.figures(
            Recorded.run(200, levels.toArray(LevelInfo[]::new)).slo(Slo.parse("ttft<1s")), records)
        .summary();
  }

  /** The cell of the last row in the column with this heading. */
  private static String last(Table table, String heading) {
    int column = table.headings().stream().map(Heading::text).toList().indexOf(heading);
    assertThat(column).as("%s of %s", heading, table.headings()).isPositive();
    List<List<Table.Cell>> rows = table.groups().get(0).rows();
    return rows.get(rows.size() - 1).get(column).text();
  }

  /** The figure of the last row, within the 0.1 % resolution of the histograms. */
  private static void assertLast(Table table, String heading, double figure) {
    assertThat(Double.parseDouble(last(table, heading).replace(",", "").replace("*", "")))
        .isCloseTo(figure, withinPercentage(0.1));
  }

  @Test
  void openLoadHasTimesFromSchedule() {
    Summary summary = gate("open loop", "requests/s");
    Table text = KeyFigureTables.levels(summary);
    assertLast(text, "TTFT from schedule p50", 5_825);
    assertLast(text, "TTFT from schedule p99", 13_325);
    assertThat(last(text, "in SLO")).isEqualTo("12.5 %");
    Table page = KeyFigureTables.byLevel(summary, "");
    assertLast(page, "TTFT p99", 13_325);
    assertLast(page, "E2E p50", 7_625);
    assertThat(page.headings().get(0).text()).isEqualTo("Load level, times in ms from schedule");
    assertLast(KeyFigureTables.byTarget(summary, summary.targets()), "E2E p95", 15_125);
  }

  @Test
  void closedLoopWithMaxInFlightHasTimesFromSchedule() {
    Summary summary = gate("closed loop", "users");
    assertLast(KeyFigureTables.levels(summary), "TTFT from schedule p99", 13_325);
    assertLast(KeyFigureTables.levels(summary), "E2E from schedule p50", 7_625);
    assertThat(SummaryText.markdown(summary)).contains("| TTFT from schedule p99 |");
  }

  /** Many columns: headings take three lines, and names of levels are complete. */
  @Test
  void namesOfLevelsAreNotClipped() {
    String console = SummaryText.console(gate("open loop", "requests/s"));
    assertThat(console).contains("\n> r=4 ", "\n> r=64 ").doesNotContain("…");
    assertThat(console.lines()).allMatch(line -> line.length() <= 120);
  }

  @Test
  void closedLoopWithoutQueueWaitHasShortNames() {
    Summary summary =
        Recorded.figures(
                Recorded.run(2, Recorded.stage(1, 0, 1_000), Recorded.stage(8, 1_000, 2_000)),
                Recorded.at(0).stage("c=1").tokens(100).record(),
                Recorded.at(1_000).stage("c=8").tokens(300).record())
            .summary();
    assertLast(KeyFigureTables.levels(summary), "TTFT p99", 300);
    assertLast(KeyFigureTables.byLevel(summary, ""), "E2E p95", 300);
  }

  /** One of four requests failed, so there is no value at p99. */
  @Test
  void objectivesWithoutAValueNameTheReason() {
    Summary summary =
        Recorded.figures(
                Recorded.run(1, Recorded.stage(8, 0, 1_000)).slo(Slo.parse("ttft<1s")),
                Recorded.at(0).stage("c=8").tokens(100).record(),
                Recorded.at(0).stage("c=8").tokens(100).record(),
                Recorded.at(0).stage("c=8").tokens(100).record(),
                Recorded.at(0).stage("c=8").failed(RequestStatus.TIMEOUT, "timeout").record())
            .summary();
    String reason = "25.0 % of 4 requests failed or had none";
    assertThat(SummaryText.markdown(summary))
        .contains("| ttft | < 1 s | none: " + reason + " | – | 75.0 % | KO |");
    assertThat(SummaryText.console(summary)).contains("\n> 1 × timeout: timeout\n");
  }
}
