package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.LevelResult;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Run.RunClock;
import io.github.gatlingllm.testing.VirtualUsers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In nanoseconds; the epoch began 1,000 before the monotonic clock's 0. */
class LevelResultsTest {

  static final Phases PHASES = new Phases(0, 0, 200, 30, null);

  private final List<RunningLevel> started = new ArrayList<>();
  private final List<String> reported = new ArrayList<>();
  private String slo = "ttft<1s,e2e<1s";
  private Slo.Rule rule = Slo.Rule.PERCENTILES;
  private final Map<String, TargetSlo> tiers = new LinkedHashMap<>();
  private LevelResults results = closed();

  /** A level that starts at 0, or an open one 20 ms later. */
  LevelResults begin(LoadLevel level) {
    VirtualUsers.none(0)
        .begin(
            new LoadPlan.Sweep(List.of(level)),
            new RunningLevel.Listener() {
              @Override
              public void levelStarted(RunningLevel running, long nanoTime) {
                started.add(running);
              }
            },
            running -> null);
    RunningLevel running = started.get(started.size() - 1);
    TargetSlo judge = new TargetSlo(slo, 95, rule, Map.of(), Map.of());
    LevelInfo.Key key =
        new LevelInfo.Key(running.label(), LevelRecord.TARGET, LevelRecord.SCENARIO);
    results = new LevelResults(new RunClock(1_000, 0), key, running, judge, tiers);
    return results;
  }

  private LevelResults closed() {
    return begin(new LoadLevel.Closed(1, PHASES));
  }

  private static Recorded ok() {
    return LevelRecord.ok("c=1");
  }

  private static Recorded failed() {
    return LevelRecord.failed("c=1");
  }

  private static Recorded cancelled() {
    return ok().failed(RequestStatus.CANCELLED, null);
  }

  private static Recorded rateLimited() {
    return ok().failed(RequestStatus.RATE_LIMITED, null);
  }

  /** One whose first token came immediately, and its last immediately or after 2 s. */
  private static Recorded judged(Recorded request, boolean met) {
    return request.judged(met).tokens(1e-6, met ? 1e-6 : 2_000);
  }

  private void add(Recorded... records) {
    for (Recorded each : records) {
      RequestRecord record = each.record();
      RequestRecord.Identity id = record.identity();
      results.add(LevelInfo.Key.of(id, id.scenario()), record);
    }
  }

  /** Of 40 requests all answers meet the SLO; 2 of them are 5 %. */
  @ParameterizedTest
  @CsvSource({
    "RATE_LIMITED, 2, true",
    "RATE_LIMITED, 3, false",
    "TIMEOUT, 3, false",
    "HTTP_ERROR, 3, false"
  })
  void aLevelThatShedsItsLoadDoesNotHold(RequestStatus status, int count, boolean holds) {
    LevelResults level = closed();
    for (int i = 0; i < 40; i++) {
      add(i < count ? ok().failed(status, null) : judged(ok(), true));
    }
    LevelResult result = level.result();
    assertThat(result.failed() + result.refused()).isEqualTo(count);
    assertThat(result.holdsSlo()).isEqualTo(holds);
  }

  /**
   * Last tokens immediately, after 2 s and after 4 s; by 1, 3 and 5 s one, two and all are in time.
   */
  @Test
  void eachTierJudgesTheSameRequests() {
    for (int seconds : new int[] {1, 3, 5}) {
      Slo own = Slo.parse("e2e<" + seconds + "s", 90 + seconds, Slo.Rule.PERCENTILES);
      tiers.put(seconds + "s", TargetSlo.of(own, Map.of()));
    }
    LevelResults level = closed();
    add(ok().tokens(1, 2), ok().tokens(1, 2_000), ok().tokens(1, 4_000));
    assertThat(level.result().tiers())
        .extractingFromEntries(
            Map.Entry::getKey,
            tier -> tier.getValue().attempted(),
            tier -> tier.getValue().met(),
            tier -> tier.getValue().sloPercentile())
        .containsExactly(
            tuple("1s", 3L, 1L, 91.0), tuple("3s", 3L, 2L, 93.0), tuple("5s", 3L, 3L, 95.0));
    assertThat(level.result().tiers().get("5s").ended()).isEqualTo(3);
  }

  @Test
  void figuresAreThoseOfTheMeasurePhase() {
    LevelResults level = closed();
    add(
        judged(ok(), true),
        judged(ok(), false),
        judged(failed(), false),
        judged(failed().phase(Phase.STABILIZE), false),
        judged(ok().phase(Phase.DRAIN), true),
        judged(LevelRecord.ok("c=2"), true));

    assertThat(level.result())
        .isEqualTo(
            new LevelResult(
                "c=1",
                3,
                1L,
                95,
                3,
                1,
                0,
                null,
                2,
                false,
                "e2e<1s",
                new LevelResult.FailedInARow(2, "timeout"),
                Map.of(),
                Map.of()));
  }

  /** All first tokens are in time, two of three last ones: E2E decides, 1 of 3 missed. */
  @Test
  void theObjectiveThatFewestMeetDecides() {
    for (Slo.Rule each : Slo.Rule.values()) {
      rule = each;
      LevelResults level = closed();
      add(judged(ok(), true), judged(ok(), true), judged(ok(), false));
      assertThat(level.result().met()).isEqualTo(2);
      assertThat(level.result().attempted()).isEqualTo(3);
    }
  }

  /** One of five cannot be reported: too many to decide that the level holds. */
  @Test
  void requestsThatCannotBeJudgedLeaveTheLevelOpen() {
    LevelResults level = closed();
    for (int i = 0; i < 4; i++) {
      add(judged(ok(), true));
    }
    add(cancelled());
    assertThat(level.result().holdsSlo()).isNull();
    add(judged(ok(), false));
    assertThat(level.result().holdsSlo()).as("not even if it had been met").isFalse();
  }

  @Test
  void withoutAnSloNothingIsMet() {
    slo = "";
    LevelResults level = closed();
    add(ok());
    assertThat(level.result().met()).isNull();
  }

  /**
   * The measure phase of an open level is from 20,001,000 to 20,001,200 in epoch time: 40 come, one
   * each 5 ns, and take 20 ns, then 15 more each; what came before is in flight when it begins.
   */
  @Test
  void openLevelsHaveAQueue() {
    LevelResults level = begin(new LoadLevel.Open(1, Arrivals.constant(1), PHASES));
    long from = 20_001_000;
    add(LevelRecord.between(from - 50, from - 1).stage("r=1"));
    add(LevelRecord.between(from - 5, from + 5).stage("r=1"));
    for (long n = 0; n < 40; n++) {
      add(LevelRecord.between(from + 5 * n, from + 20 * n + 20).stage("r=1"));
    }
    Backlog.Queue queue = level.result().queue();
    assertThat(queue.start()).isEqualTo(1);
    assertThat(queue.end())
        .as("the first 10 have ended: 20 n + 20 < 200 up to n = 8")
        .isEqualTo(31);
    assertThat(queue.held()).isFalse();
  }

  @Test
  void levelsBoundedByACountHaveNoQueue() {
    LevelResults level = begin(new LoadLevel.Open(1, Arrivals.constant(1), PHASES.withRequests(5)));
    add(LevelRecord.ok("r=1"));
    assertThat(level.result().queue()).isNull();
  }

  private LevelResults watched(long max, long inARow) {
    LevelResults level = closed();
    level.watchFailures(max, inARow, () -> reported.add("too many"));
    return level;
  }

  @Test
  void tooManyFailuresAreReportedOnceInAnyPhase() {
    var unused = watched(1, Long.MAX_VALUE);
    add(failed().phase(Phase.FILL), ok(), cancelled());
    assertThat(reported).isEmpty();
    add(failed());
    assertThat(reported).containsExactly("too many");
    add(failed(), failed());
    assertThat(reported).hasSize(1);
  }

  @Test
  void failuresInARowAreThoseWithoutASuccessBetween() {
    LevelResults level = watched(Long.MAX_VALUE, 2);
    add(failed().phase(Phase.FILL), failed(), ok(), failed(), cancelled(), failed());
    assertThat(reported).isEmpty();
    add(failed());
    assertThat(reported).containsExactly("too many");
    add(ok());
    assertThat(level.result().failedInARow()).isEqualTo(new LevelResult.FailedInARow(3, "timeout"));
  }

  @Test
  void rateLimitedRequestsAreNoFailuresAndNeitherContinueNorEndARowOfThem() {
    LevelResults level = watched(2, 2);
    add(rateLimited(), rateLimited(), rateLimited(), rateLimited());
    add(failed(), rateLimited(), failed());
    assertThat(reported).isEmpty();
    assertThat(level.result())
        .extracting(LevelResult::ended, LevelResult::failed, LevelResult::failures)
        .containsExactly(7L, 2L, 2L);
    add(failed());
    assertThat(reported).containsExactly("too many");
  }
}
