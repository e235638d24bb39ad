package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Run.RunClock;
import io.github.gatlingllm.run.RunObserver.ObservedLevel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** In nanoseconds; the epoch began 1,000 before the monotonic clock's 0. */
class LiveLevelTallyTest {

  private static final Phases PHASES = new Phases(0, 0, 200, 30, null);
  private static final LevelRecord OK = LevelRecord.ok("c=1");
  private static final LevelRecord FAILED = LevelRecord.failed("c=1");

  private LiveLevelTally tally = new LiveLevelTally(new RunClock(1_000, 0));
  private final List<RunningLevel> started = new ArrayList<>();
  private String slo = "ttft<1s,e2e<1s";
  private Slo.Rule rule = Slo.Rule.PERCENTILES;

  /** A level that starts at 0, or an open one 20 ms later. */
  private ObservedLevel begin(LoadLevel level) {
    new PlanDriver(
            new LoadPlan.Sweep(List.of(level)).source(),
            () -> 0,
            (nanoTime, task) -> {},
            LevelLogTest.NOBODY,
            new RunningLevel.Listener() {
              @Override
              public void levelStarted(RunningLevel running, long nanoTime) {
                started.add(running);
              }
            },
            running -> null)
        .begin();
    RunningLevel running = started.get(started.size() - 1);
    TargetSlo judge = new TargetSlo(slo, 95, rule, Map.of(), Map.of());
    ObservedLevel observed =
        new ObservedLevel(
            running,
            new LevelInfo.Key(running.label(), LevelRecord.TARGET, LevelRecord.SCENARIO),
            judge);
    tally = new LiveLevelTally(new RunClock(1_000, 0));
    tally.levelBegan(observed);
    return observed;
  }

  private ObservedLevel closed() {
    return begin(new LoadLevel.Closed(1, PHASES));
  }

  private void add(LevelRecord... records) {
    for (LevelRecord record : records) {
      tally.requestEnded(record.record());
    }
  }

  @Test
  void figuresAreThoseOfTheMeasurePhase() {
    ObservedLevel level = closed();
    add(
        OK.judged(true),
        OK.judged(false),
        FAILED.judged(false),
        FAILED.in(Phase.STABILIZE).judged(false),
        OK.in(Phase.DRAIN).judged(true),
        LevelRecord.ok("c=2").judged(true));

    assertThat(tally.result(level))
        .isEqualTo(
            new LevelResult(
                "c=1",
                3,
                1L,
                95,
                3,
                1,
                null,
                2,
                false,
                "e2e<1s",
                new LevelResult.FailedInARow(2, "timeout"),
                Map.of()));
  }

  /** All first tokens are in time, two of three last ones: E2E decides, 1 of 3 missed. */
  @Test
  void theObjectiveThatFewestMeetDecides() {
    for (Slo.Rule each : Slo.Rule.values()) {
      rule = each;
      ObservedLevel level = closed();
      add(OK.judged(true), OK.judged(true), OK.judged(false));
      assertThat(tally.result(level).met()).isEqualTo(2);
      assertThat(tally.result(level).attempted()).isEqualTo(3);
    }
  }

  /** One of five cannot be told: too many to say that the level holds. */
  @Test
  void requestsThatCannotBeJudgedLeaveTheLevelOpen() {
    ObservedLevel level = closed();
    add(OK.judged(true), OK.judged(true), OK.judged(true), OK.judged(true), OK.cancelled());
    assertThat(tally.result(level).holdsSlo()).isNull();
    add(OK.judged(false));
    assertThat(tally.result(level).holdsSlo()).as("not even if it had been met").isFalse();
  }

  @Test
  void withoutAnSloNothingIsMet() {
    slo = "";
    ObservedLevel level = closed();
    add(OK);
    assertThat(tally.result(level).met()).isNull();
  }

  /**
   * The measure phase of an open level is from 20,001,000 to 20,001,200 in epoch time: 40 come, one
   * each 5 ns, and take 20 ns, then 15 more each; what came before is in flight when it begins.
   */
  @Test
  void openLevelsHaveAQueue() {
    ObservedLevel level = begin(new LoadLevel.Open(1, Arrivals.constant(1), PHASES));
    LevelRecord record = LevelRecord.ok("r=1");
    long from = 20_001_000;
    add(record.at(from - 50, from - 1), record.at(from - 5, from + 5));
    for (long n = 0; n < 40; n++) {
      add(record.at(from + 5 * n, from + 5 * n + 20 + 15 * n));
    }
    Backlog.Queue queue = tally.result(level).queue();
    assertThat(queue.start()).isEqualTo(1);
    assertThat(queue.end())
        .as("the first 10 have ended: 20 n + 20 < 200 up to n = 8")
        .isEqualTo(31);
    assertThat(queue.held()).isFalse();
  }

  @Test
  void levelsBoundedByACountHaveNoQueue() {
    ObservedLevel level =
        begin(new LoadLevel.Open(1, Arrivals.constant(1), PHASES.withRequests(5)));
    add(LevelRecord.ok("r=1"));
    assertThat(tally.result(level).queue()).isNull();
  }

  @Test
  void tooManyFailuresAreReportedOnceInAnyPhase() {
    List<String> told = new ArrayList<>();
    ObservedLevel level = closed();
    tally.watchFailures(
        level, new LoadPlan.FailureLimits(1, Long.MAX_VALUE), () -> told.add("too many"));
    add(FAILED.in(Phase.FILL), OK, FAILED.cancelled());
    assertThat(told).isEmpty();
    add(FAILED);
    assertThat(told).containsExactly("too many");
    add(FAILED, FAILED);
    assertThat(told).hasSize(1);
  }

  @Test
  void failuresInARowAreThoseWithoutASuccessBetween() {
    List<String> told = new ArrayList<>();
    ObservedLevel level = closed();
    tally.watchFailures(
        level, new LoadPlan.FailureLimits(Long.MAX_VALUE, 2), () -> told.add("too many"));
    add(FAILED.in(Phase.FILL), FAILED, OK, FAILED, FAILED.cancelled(), FAILED);
    assertThat(told).isEmpty();
    add(FAILED);
    assertThat(told).containsExactly("too many");
    add(OK);
    assertThat(tally.result(level).failedInARow())
        .isEqualTo(new LevelResult.FailedInARow(3, "timeout"));
  }

  @Test
  void rateLimitedRequestsAreNoFailuresAndNeitherContinueNorEndARowOfThem() {
    List<String> told = new ArrayList<>();
    ObservedLevel level = closed();
    tally.watchFailures(level, new LoadPlan.FailureLimits(2, 2), () -> told.add("too many"));
    add(FAILED.rateLimited(), FAILED.rateLimited(), FAILED.rateLimited(), FAILED.rateLimited());
    add(FAILED, FAILED.rateLimited(), FAILED);
    assertThat(told).isEmpty();
    assertThat(tally.result(level))
        .extracting(LevelResult::ended, LevelResult::failed, LevelResult::failures)
        .containsExactly(7L, 2L, 2L);
    add(FAILED);
    assertThat(told).containsExactly("too many");
  }
}
