package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LatencyOriginTest {

  /**
   * So many requests a second for one second against a gate of 8; each holds its place for 2 s and
   * has its first token after 200 ms. The k-th is admitted with group g = ⌊k ÷ 8⌋, g × (2 s − 8 ÷
   * rate) after its arrival.
   *
   * <pre>
   * rate   longest wait           TTFT from schedule p99
   *  4, 8  0                                      200 ms
   *   16   1 × (2 − 8/16) =  1.5 s              1,700 ms
   *   32   3 × (2 − 8/32) =  5.25 s             5,450 ms
   *   64   7 × (2 − 8/64) = 13.125 s           13,325 ms
   * </pre>
   */
  private static Summary gate(Slo slo, int... rates) {
    List<LevelInfo> stages = new ArrayList<>();
    List<RequestRecord> records = new ArrayList<>();
    for (int rate : rates) {
      String label = "r=" + rate;
      double from = stages.size() * 100_000.0;
      stages.add(
          Recorded.stage(label, "a", "open loop", (double) rate, "requests/s", from, from + 1_000));
      for (int k = 0; k < rate; k++) {
        double wait = Math.floorDiv(k, 8) * (2_000 - 8_000.0 / rate);
        double at = from + k * 1_000.0 / rate;
        records.add(Recorded.at(at).lag(0).gate(wait).stage(label).tokens(200, 2_000).record());
      }
    }
    double seconds = stages.size() * 100.0;
    return Recorded.summary(
        Recorded.run(seconds, stages.toArray(LevelInfo[]::new)).slo(slo), records);
  }

  @Test
  void headlinesNameTheClockFromSchedule() {
    Summary summary = gate(Slo.NONE, 64);
    assertThat(summary.verdict()).contains("TTFT from schedule p50 5,829 ms of 64 requests.");
    assertThat(summary.figures().metric(Metric.TTFT_MS).p99()).isEqualTo(200, within(0.2));
  }

  /** Half of the 64 are in groups 0 to 3: the median waits 3 × 1.875 s = 5.625 s, E2E 7.625 s. */
  @Test
  void theKneeCountsFromTheSchedule() {
    assertThat(gate(Slo.NONE, 64).knee().medianE2eMs()).isEqualTo(7_625, within(8.0));
  }

  @Test
  void objectivesNameTheClockFromSchedule() {
    assertThat(gate(Slo.parse("ttft<1s"), 4, 8, 16, 32, 64).verdict())
        .startsWith(
            "Does not keep up with 16 requests/s: the queue grew to 16."
                + " TTFT from schedule p99 < 1 s is met up to 8 requests/s");
  }

  @Test
  void theSloIsQuotedWithItsClock() {
    assertThat(gate(Slo.parse("ttft<1s,tpot<50ms"), 4, 64).figures().goodput().slo())
        .isEqualTo("ttft<1s,tpot<50ms (ttft from schedule)");
    assertThat(gate(Slo.parse("tpot<50ms"), 64).figures().goodput().slo()).isEqualTo("tpot<50ms");
  }

  @Test
  void closedLoopsWithoutAGateDoNotNameTheClock() {
    Summary summary = new Levels().level(8, 50, 100).figures(Slo.parse("ttft<1s")).summary();
    assertThat(summary.figures().goodput().slo()).isEqualTo("ttft<1s");
    assertThat(summary.clock().name(Metric.TTFT_MS)).isEqualTo("TTFT");
  }

  /** 3 ms of 100 ms is more than 1 %. */
  @Test
  void closedLoopsBehindAGateNameTheClock() {
    Summary summary =
        Recorded.summary(
            Recorded.run(1, Recorded.stage(8, 0, 1_000)),
            Recorded.at(0).stage("c=8").gate(3.0).tokens(100));
    assertThat(summary.clock().name(Metric.TTFT_MS)).isEqualTo("TTFT from schedule");
    assertThat(summary.clock().name(Metric.TPOT_MS)).isEqualTo("TPOT");
  }
}
