package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.load.LevelResult.FailedInARow;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.LevelSource;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class StopRuleTest {
  private static final LoadLevel C1 = new LoadLevel.Closed(1, Phases.DEFAULT);
  private static final LoadLevel C2 = new LoadLevel.Closed(2, Phases.DEFAULT);
  private static final LoadLevel C4 = new LoadLevel.Closed(4, Phases.DEFAULT);

  private static LevelResult slo(String label, long met, long attempted) {
    return FakeLoad.result(label, attempted, met, null);
  }

  private static Conclusion stopped(String text, boolean sound) {
    return new Conclusion("stopped early", text, sound, null, null, null, null);
  }

  private static LevelResult errors(long failed, long ended) {
    return new LevelResult(
        "c=1", 0, null, 99, ended, failed, 0, null, 0, false, null, null, Map.of(), Map.of());
  }

  private static LevelResult backlog(@Nullable Queue queue) {
    return FakeLoad.result("r=1", 0, null, queue);
  }

  static Stream<Arguments> levels() {
    StopRule slo = StopRule.sloBelow(50);
    StopRule share = StopRule.errorsAbove(10);
    StopRule count = StopRule.errorCountAbove(50);
    StopRule queue = StopRule.OVER_SATURATED;
    return Stream.of(
        arguments(slo, slo("c=1", 49, 100), "stopped.slo[0.49, 100]"),
        arguments(slo, slo("c=1", 50, 100), null),
        arguments(slo, slo("c=1", 0, 0), null),
        arguments(slo, errors(1, 1), null),
        arguments(share, errors(11, 100), "stopped.errors[0.11, 100]"),
        arguments(share, errors(10, 100), null),
        arguments(share, errors(0, 0), null),
        arguments(StopRule.errorsAbove(0), errors(1, 1000), "stopped.errors[0.001, 1000]"),
        arguments(count, failures(50, null), null),
        arguments(count, failures(51, null), "stopped.count[51, 50.0]"),
        // It counts requests of all phases, not shares of those measured.
        arguments(count, errors(100, 100), null),
        arguments(
            queue,
            backlog(new Queue(true, false, 0, 80)),
            "stopped.queue[false, queue[false, the load, queue.reason[false, 80]]]"),
        arguments(queue, backlog(new Queue(false, false, 0, 80)), null),
        arguments(queue, backlog(null), null));
  }

  @ParameterizedTest
  @MethodSource("levels")
  void isBrokenBy(StopRule rule, LevelResult level, @Nullable String how) {
    assertThat(Objects.toString(rule.brokenBy(level), null)).isEqualTo(how);
  }

  @Test
  void limitsMustBePossible() {
    assertThat(StopRule.errorCountAbove(50).maxFailures()).isEqualTo(50);
    assertThatThrownBy(() -> StopRule.errorCountAbove(-1))
        .hasMessage("errorCountAbove(-1) is always broken; expected 0 or more");
    assertThatThrownBy(() -> StopRule.errorsInARowAbove(0))
        .hasMessage("errorsInARowAbove(0) is always broken; expected 1 or more");
  }

  private static LevelResult failures(long failures, @Nullable FailedInARow row) {
    return new LevelResult(
        "c=2", 0, null, 99, 0, 0, 0, null, failures, true, null, row, Map.of(), Map.of());
  }

  /** The lowest number counts; a level that it cut ends the sweep, also the last one. */
  @Test
  void cutLevelEndsTheSweep() {
    LoadPlan.Sweep sweep =
        new LoadPlan.Sweep(List.of(C1, C2))
            .stopWhen(
                List.of(
                    StopRule.errorCountAbove(50),
                    StopRule.errorsAbove(10),
                    StopRule.errorCountAbove(5)));
    LevelSource source = sweep.source();
    assertThat(source.maxFailures()).isEqualTo(5);
    assertThat(source.maxFailuresInARow()).isEqualTo(100);
    assertThat(source.next(null)).isEqualTo(C1);
    assertThat(source.next(slo("c=1", 90, 100))).isEqualTo(C2);
    assertThat(source.next(failures(7, null))).isNull();
    assertThat(source.conclusion())
        .isEqualTo(stopped("during c=2: 7 requests failed, more than 5", false));
  }

  @Test
  void serverThatIsDownEndsAnySweepWithoutTheRuleNever() {
    LevelSource source = new LoadPlan.Sweep(List.of(C1, C2)).source();
    assertThat(source.maxFailures()).isEqualTo(Long.MAX_VALUE);
    assertThat(source.maxFailuresInARow()).isEqualTo(100);
    assertThat(source.needsResults()).as("levels follow immediately").isFalse();
    assertThat(source.next(null)).isEqualTo(C1);
    assertThat(source.next(failures(130, new FailedInARow(101, "refused")))).isNull();
    Conclusion found = Objects.requireNonNull(source.conclusion());
    assertThat(found.text())
        .containsSubsequence("during c=2, 1 level skipped: 101 requests failed", "refused");
    assertThat(found.sound()).isFalse();
    assertThat(found.value()).isEqualTo(101);
    assertThat(found.threshold()).isEqualTo(100);

    LoadPlan.Sweep sweep = new LoadPlan.Sweep(List.of(C1));
    StopRule seven = StopRule.errorsInARowAbove(7);
    assertThat(sweep.stopWhen(List.of(StopRule.NEVER)).rules()).isEmpty();
    assertThat(sweep.stopWhen(List.of(seven)).rules()).containsExactly(seven);
    assertThat(sweep.stopWhen(List.of(StopRule.OVER_SATURATED)).rules())
        .containsExactly(StopRule.OVER_SATURATED, StopRule.DEFAULT);
  }

  @ParameterizedTest
  @CsvSource({
    "slo<50%,SLO_SHARE",
    "'errors > 10 %',ERROR_SHARE",
    "errors>50,ERROR_COUNT",
    "errorsInARow>7,ERRORS_IN_A_ROW",
    "never,NEVER",
    "overSaturated,OVER_SATURATED"
  })
  void parsesEveryRule(String text, String name) {
    assertThat(StopRule.parse(text).condition()).hasToString(name);
    assertThat(StopRule.parse(text)).hasToString(text.replace(" ", ""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "slo>50%",
        "slo<50",
        "errors>x%",
        "errors>200%",
        "errors>-1",
        "errors>1.5",
        "slo<0%",
        "ttft<1s"
      })
  void rejectsOtherText(String text) {
    assertThatThrownBy(() -> StopRule.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void sweepEndsAfterTheFirstLevelThatBreaksARule() {
    LevelSource source =
        new LoadPlan.Sweep(List.of(C1, C2, C4))
            .stopWhen(List.of(StopRule.errorsAbove(10), StopRule.sloBelow(50)))
            .source();
    assertThat(source.next(null)).isEqualTo(C1);
    assertThat(source.next(slo("c=1", 90, 100))).isEqualTo(C2);
    assertThat(source.next(slo("c=2", 10, 100))).isNull();
    assertThat(source.conclusion())
        .isEqualTo(
            stopped("after c=2, 1 level skipped: only 10.0 % of 100 requests met the SLO", true));
  }

  @Test
  void sweepWithoutABrokenRuleHasNoConclusion() {
    LevelSource source =
        new LoadPlan.Sweep(List.of(C1, C2)).stopWhen(List.of(StopRule.sloBelow(50))).source();
    assertThat(source.next(null)).isEqualTo(C1);
    assertThat(source.next(slo("c=1", 90, 100))).isEqualTo(C2);
    assertThat(source.next(slo("c=2", 0, 100))).as("it was the last anyway").isNull();
    assertThat(source.conclusion()).isNull();
  }
}
