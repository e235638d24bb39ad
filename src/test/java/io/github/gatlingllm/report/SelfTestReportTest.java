package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.SelfTest.Errors;
import io.github.gatlingllm.record.SelfTest.Machine;
import io.github.gatlingllm.record.SelfTest.TestedLoad;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SelfTestReportTest {

  private static final Machine HERE = new Machine("A CPU", 2, 1_000, "A VM", List.of(), null);

  private static TestedLoad level(int streams, double eventsPerS, double scale) {
    return new TestedLoad(
        streams,
        100,
        eventsPerS,
        eventsPerS / 50,
        new Errors(0.1 * scale, 2 * scale, 3 * scale),
        new Errors(0.01 * scale, 0.4 * scale, 5 * scale),
        1.5);
  }

  private static final SelfTest TEST =
      SelfTest.of(
          1_795_322_477_000_000_000L,
          HERE,
          Map.of(),
          10,
          List.of(level(1, 100, 1), level(4, 400, 2), level(16, 1_600, 6)));

  /** Closed loops of these users, each with 100 tokens per second. */
  private static Summary summary(RunInfo run, int... users) {
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 0; i < users.length; i++) {
      for (int user = 0; user < users[i]; user++) {
        double[] tokens = IntStream.rangeClosed(1, 99).mapToDouble(k -> 10.0 * k).toArray();
        records.add(
            Recorded.at(1_000.0 * i).stage("c=" + users[i]).tokens(tokens).closed(1_000).record());
      }
    }
    return Runs.summary(
        run.stages(
            IntStream.range(0, users.length)
                .mapToObj(i -> Runs.stage(users[i], 1_000.0 * i, 1_000.0 * (i + 1)))
                .toList()),
        records);
  }

  private static String quote(@Nullable SelfTest test, int... users) {
    Summary summary = summary(Runs.run(users.length).selfTest(test), users);
    return RunText.fact(summary, RunText.MEASUREMENT_ERROR);
  }

  @Test
  void errorOfTheTestedLevelThatCoversTheLoad() {
    assertThat(quote(TEST, 3))
        .isEqualTo(
            "TTFT ± 0.200 ms (p99 4 ms), ITL ± 0.020 ms (p99 0.800 ms), as measured with 4 streams"
                + " and 400 events/s; self-test of 2026-11-22 on this machine");
  }

  @Test
  void operatingPointAndPeakOfASweepAreSeparate() {
    assertThat(quote(TEST, 1, 16))
        .startsWith("TTFT ± 0.600 ms (p99 12 ms)")
        .contains("16 streams and 1,600 events/s, beyond its ceiling; self-test of");
    Summary steady = summary(Runs.run(2).selfTest(TEST), 16, 1);
    assertThat(steady.selfTest()).isNotNull();
    assertThat(steady.selfTest().peak().streams()).isEqualTo(16);
  }

  @Test
  void errorBeyondTheTestedLoadIsUnknown() {
    assertThat(quote(TEST, 17))
        .isEqualTo(
            "not known: 17 streams and 1,683 events/s are beyond what the self-test measured;"
                + " self-test of 2026-11-22 on this machine");
  }

  @Test
  void onlyASelfTestHasATable() {
    Summary other = summary(Runs.run(1).selfTest(TEST), 1);
    assertThat(Tables.of(other).at("validity")).isEmpty();
    assertThat(RunText.ceiling(other)).isEmpty();
    Summary own = summary(Runs.run(1).selfTest(TEST).config(SelfTest.ENGINE, "4711"), 1);
    assertThat(Tables.of(own).at("validity").get(0).lines(100))
        .hasSize(5)
        .last()
        .asString()
        .endsWith("KO");
    assertThat(RunText.ceiling(own))
        .isEqualTo(
            "Ceiling: 4 streams and 400 events/s, 8 requests/s, with the p99 of both errors within"
                + " 10 ms");
  }

  @Test
  void ownSloOfASelfTestIsNotJudged() {
    RunInfo run = Runs.run(1).selfTest(TEST).slo(Slo.parse("e2e<1s"));
    assertThat(summary(run, 1).slo()).isNotNull();
    Summary own = summary(run.config(SelfTest.ENGINE, "4711"), 1);
    assertThat(own.slo()).isNull();
    assertThat(own.figures().goodput()).isNull();
  }
}
