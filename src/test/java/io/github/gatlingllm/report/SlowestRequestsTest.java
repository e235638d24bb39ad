package io.github.gatlingllm.report;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RunInfo;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SlowestRequestsTest {

  private static final RunInfo RUN = Runs.run(60, Runs.stage(1, 0, 60_000));

  /** TTFT grows with the number, its gap falls: 1, 2, … 40 ms and 400, 390, … 10 ms. */
  private static Summary fortyRequests() {
    Recorded[] all =
        IntStream.rangeClosed(1, 40)
            .mapToObj(i -> at(i * 1_000).tokens(i, i + 410 - 10 * i).ids("trace" + i, "answer" + i))
            .toArray(Recorded[]::new);
    return Runs.summary(RUN, all);
  }

  @Test
  void tenOfEachOrderAreKeptSlowestFirst() {
    Summary summary = fortyRequests();
    assertThat(ms(summary, Metric.TTFT_MS))
        .containsExactly(40.0, 39.0, 38.0, 37.0, 36.0, 35.0, 34.0, 33.0, 32.0, 31.0);
    assertThat(ms(summary, Metric.STALL_MS))
        .containsExactly(400.0, 390.0, 380.0, 370.0, 360.0, 350.0, 340.0, 330.0, 320.0, 310.0);
    assertThat(summary.slowest().get(Metric.STALL_MS).get(0).identity().traceId())
        .isEqualTo("trace1");
  }

  private static List<Double> ms(Summary summary, Metric metric) {
    return summary.slowest().get(metric).stream().map(each -> metric.of(each, 0)).toList();
  }

  @Test
  void tableHasBothIds() {
    List<Table> tables = Tables.of(fortyRequests()).at("slowest");
    assertThat(tables).hasSize(1);
    assertThat(tables.get(0).markdown())
        .contains("| trace id | answer id |", "trace40 | answer40", "trace1 | answer1")
        .doesNotContain("trace20 ");
  }

  @Test
  void onlyMeasuredRequestsWithAnIdAreInIt() {
    Summary summary =
        Runs.summary(
            RUN,
            at(0).tokens(900),
            at(10).tokens(800).phase(Phase.DRAIN).ids("t", "a"),
            at(20).tokens(700).ids(null, "only-answer"),
            at(30).tokens(600).ids("only-trace", null));
    assertThat(ms(summary, Metric.TTFT_MS)).containsExactly(700.0, 600.0);
    Summary without = Runs.summary(RUN, at(0).tokens(900));
    assertThat(Tables.of(without).at("slowest")).isEmpty();
  }
}
