package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Series.LaneState.DECODE;
import static io.github.gatlingllm.figures.level.Series.LaneState.FAILED;
import static io.github.gatlingllm.figures.level.Series.LaneState.FILL;
import static io.github.gatlingllm.figures.level.Series.LaneState.PREFILL;
import static io.github.gatlingllm.figures.level.Series.LaneState.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.level.Series.LaneState;
import io.github.gatlingllm.figures.level.Series.SessionLane;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionTallyTest {

  private static final double SECONDS = 20;

  /** A cell is the 2048th part of the run. */
  private static final double CELL = SECONDS / 2_048;

  private static Series series(List<RequestRecord> records) {
    return Runs.figures(Runs.run(SECONDS, Runs.stage(2, 0, SECONDS * 1_000)), records).series();
  }

  private static Recorded turn(double ms, String session, boolean isEnd) {
    return at(ms).session(session, isEnd);
  }

  private static void assertStates(SessionLane lane, Object... secondsAndStates) {
    List<Object> expected = List.of(secondsAndStates);
    assertThat(lane.parts().values().stream().filter(state -> state != null))
        .containsExactlyElementsOf(
            expected.stream()
                .filter(LaneState.class::isInstance)
                .map(LaneState.class::cast)
                .toList());
    List<Double> instants = List.copyOf(lane.parts().keySet());
    for (int i = 0; i < instants.size(); i++) {
      assertThat(instants.get(i)).isCloseTo((Double) expected.get(2 * i), within(CELL / 2 + 0.001));
    }
  }

  /** The main agent waits from 3 s to 6 s for its sub-agent, and from 8 s to 10 s for a tool. */
  @Test
  void lanesHaveTheTimesOfTheirRequests() {
    Series series =
        series(
            List.of(
                turn(1_000, "c1/fix", false).tokens(500, 2_000).record(),
                turn(3_500, "c1/fix/read", false).tokens(1_000, 2_000).record(),
                turn(6_000, "c1/fix", false).tokens(1_500, 2_000).record(),
                turn(10_000, "c1/fix", true).tokens(250, 1_000).record(),
                turn(4_000, "c2", false).tokens(100).record(),
                turn(5_000, "c3/other", true)
                    .failed(RequestStatus.HTTP_ERROR, "HTTP 500")
                    .closed(2_000)
                    .record()));

    assertThat(series.sessions()).as("replays").isEqualTo(2);
    assertThat(series.lanes())
        .extracting(
            SessionLane::session, SessionLane::agent, SessionLane::end, SessionLane::requests)
        .containsExactly(
            tuple("c1/fix", "", "complete", 3L),
            tuple("c1/fix", "read", "complete", 1L),
            tuple("c3/other", "", "failed", 1L));
    SessionLane main = series.lanes().get(0);
    assertStates(
        main, 1.0, PREFILL, 1.5, DECODE, 3.0, WAITING, 6.0, PREFILL, 7.5, DECODE, 8.0, WAITING,
        10.0, PREFILL, 10.25, DECODE, 11.0);
    assertThat(main.seconds())
        .containsEntry(PREFILL, 2.25)
        .containsEntry(DECODE, 2.75)
        .containsEntry(WAITING, 5.0)
        .containsEntry(FAILED, 0.0);
    assertThat(main.startS()).isEqualTo(1);
    assertThat(main.lengthS()).isEqualTo(10);
    assertStates(series.lanes().get(1), 3.5, PREFILL, 4.5, DECODE, 5.5);
    assertStates(series.lanes().get(2), 5.0, FAILED, 7.0);
    assertThat(series.overTime())
        .extracting(Bucket::sessionsAlive)
        .startsWith(0.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0);
  }

  @Test
  void requestThatFillsTheCacheIsNotPrefill() {
    Series series =
        series(
            List.of(
                turn(0, "c1/a", false).phase(Phase.FILL).turn(4).tokens(500, 1_000).record(),
                turn(5_000, "c1/a", false).turn(5).tokens(500, 1_000).record(),
                turn(0, "c2/b", false).phase(Phase.FILL).turn(1).tokens(500, 1_000).record()));

    assertStates(series.lanes().get(0), 0.0, FILL, 1.0, WAITING, 5.0, PREFILL, 5.5, DECODE, 6.0);
    assertThat(series.lanes().get(0).end()).isEqualTo("cut");
    assertStates(series.lanes().get(1), 0.0, PREFILL, 0.5, DECODE, 1.0);
  }

  @Test
  void promptBeyondTheContextEndsASessionInItsOwnWay() {
    RequestRecord last =
        turn(1_000, "c1/a", true)
            .failed(RequestStatus.CONTEXT_EXCEEDED, "HTTP 400")
            .closed(100)
            .record();
    var run = Runs.run(SECONDS, Runs.stage(1, 0, SECONDS * 1_000));
    var figures = Runs.figures(run, List.of(last));

    assertThat(figures.series().lanes().get(0).end()).isEqualTo("out of context");
    assertThat(figures.summary().figures().number(Metric.SESSIONS_OUT_OF_CONTEXT)).isEqualTo(1);
    assertThat(figures.summary().figures().number(Metric.SESSIONS_FAILED)).isZero();
  }

  @Test
  void requestsShorterThanACellAreDrawn() {
    Series series =
        series(
            List.of(
                turn(1_000, "c1/a", false).tokens(2, 3).record(),
                turn(2_000, "c1/a", true).tokens(1, 3).record()));

    assertThat(series.lanes().get(0).parts().values())
        .startsWith(PREFILL, WAITING, DECODE)
        .hasSize(4);
  }

  /** 1,000 sessions of three agents: each eighth has its three lanes. */
  @Test
  void lanesOfManySessionsAreThoseOfEverySecondFourthOrEighth() {
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      for (String agent : List.of("", "/x", "/y")) {
        records.add(turn(i * 10, "c" + i + "/s" + agent, true).tokens(100, 200).record());
      }
    }
    Series series = series(records);

    assertThat(series.sessions()).isEqualTo(1_000);
    assertThat(series.lanes()).hasSize(3 * 125);
    assertThat(series.lanes().stream().map(SessionLane::session).distinct())
        .startsWith("c0/s", "c8/s", "c16/s");
    assertThat(series.overTime().get(5).sessionsAlive()).isCloseTo(20, within(0.1));
  }

  /** Requests of 30 ms: at full resolution 200 × 400 parts. */
  @Test
  void resolutionDependsOnTheNumberOfParts() {
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      for (int turn = 0; turn < 200; turn++) {
        records.add(turn(turn * 100, "c" + i + "/s", false).tokens(15, 30).record());
      }
    }
    Series series = series(records);

    assertThat(series.lanes()).hasSize(200);
    assertThat(series.lanes().stream().mapToInt(lane -> lane.parts().size()).sum())
        .isBetween(200, 12_000);
  }

  @Test
  void agentsOfASessionBeyondThirtyShareALane() {
    List<RequestRecord> records = new ArrayList<>();
    records.add(turn(0, "c1/s", false).tokens(100, 200).record());
    for (int i = 0; i < 40; i++) {
      records.add(turn(1_000 + i, "c1/s/agent" + i, false).tokens(100, 200).record());
    }

    assertThat(series(records).lanes())
        .hasSize(31)
        .last()
        .extracting(SessionLane::agent, SessionLane::requests)
        .containsExactly("(further agents)", 11L);
  }
}
