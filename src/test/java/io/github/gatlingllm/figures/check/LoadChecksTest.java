package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.check.AnswerChecksTest.tokenizers;
import static io.github.gatlingllm.figures.check.ChecksTest.Case.finds;
import static io.github.gatlingllm.figures.check.ChecksTest.RUN;
import static io.github.gatlingllm.figures.check.ChecksTest.STEADY;
import static io.github.gatlingllm.figures.check.ChecksTest.one;
import static io.github.gatlingllm.figures.check.ChecksTest.steady;
import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.check;
import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.check.ChecksTest.Case;
import io.github.gatlingllm.figures.level.Levels;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.InFlightCount;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.LevelInfo.PlannedArrival;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks of the load: did the run go as planned, and is all of it recorded? */
class LoadChecksTest {

  static Stream<Case> cases() {
    Recorded[] atBoth = {at(0).tokens(STEADY), at(0).target("b").tokens(STEADY)};
    List<RequestRecord> crossing =
        List.of(
            at(0).tokens(100, 20_000).record(), at(8_000).tokens(100, 20_000).closed(900).record());
    RunInfo turns = open(600L).notSent(Map.of("ask: it would not fit into the context", 188L));
    RunInfo mistaken = open(600L).notSent(Map.of("ask: " + RunInfo.NOT_BUILT, 188L));
    Conclusion early =
        new Conclusion("stopped early", "during r=10", false, null, null, null, null).on("a", null);
    return Stream.of(
        finds("littles_law", CheckLevel.WARNING, () -> inFlight(1.06)),
        finds("littles_law", CheckLevel.WARNING, () -> inFlight(0.94)),
        finds("littles_law", null, one(r -> {})),
        finds("littles_law", 0, () -> inFlight(1)),
        // Requests cross both edges of the window: 1 of 9 s, 9 of 9 s.
        finds("littles_law", 0, () -> inFlight(1.1, crossing)),
        finds("same_model", null, one(r -> {})),
        finds("same_model", CheckLevel.WARNING, () -> summary(tokenizers("x", "y"), atBoth)),
        finds("same_model", CheckLevel.OK, () -> summary(tokenizers("x", "x"), atBoth)),
        finds("all_accounted", 12, () -> sent(400, 412)),
        finds("all_accounted", null, () -> summary(open(null), sent(412))),
        finds("arrivals", null, () -> summary(open(null), sent(412))),
        // The run counted this number that started, and has the records of 10.
        finds("all_accounted", 1, () -> steady(RUN.started(11L))),
        finds("all_accounted", 0, () -> steady(RUN.started(11L).dropped(1))),
        finds("all_accounted", 1, () -> steady(RUN.started(9L))),
        finds("all_accounted", 0, () -> steady(RUN.started(10L))).with("[], 10, 10]"),
        // 5 users send 10 requests: a plan of a closed loop counts users, who may send several.
        finds("all_accounted", CheckLevel.OK, () -> ofUsers(5)),
        finds("all_accounted", 2, () -> ofUsers(12)),
        // Missing requests with a reason are named, and no warning.
        finds("all_accounted", CheckLevel.OK, () -> summary(turns, sent(412)))
            .with("[all_accounted.reason[ask: it would not fit into the context, 188]]"),
        finds("all_accounted", 88, () -> summary(open(600L).dropped(100), sent(412))),
        finds(
            "all_accounted", CheckLevel.OK, () -> summary(open(600L).conclusion(early), sent(412))),
        finds("all_accounted", CheckLevel.WARNING, () -> summary(mistaken, sent(412)))
            .with("[all_accounted.reason[ask: it could not be built, 188]]"),
        // A level is measured for longer than planned when the run is interrupted.
        finds("all_accounted", CheckLevel.OK, () -> summary(interrupted(400), sent(412))),
        finds("all_accounted", CheckLevel.OK, () -> summary(interrupted(600), sent(412)))
            .with("[all_accounted.reason[all_accounted.interrupted[], 188]]"),
        // In the order of load the last level, c=16, delivers less than c=12.
        finds("knee", CheckLevel.NOTE, levels("4:40 16:110:400 8:80 12:120"))
            .with("knee.open[c=16, c=12]"),
        finds("knee", CheckLevel.NOTE, levels("4:40 16:160 8:80")).with("knee.open[c=16, null]"),
        finds("knee", CheckLevel.NOTE, levels("4:30 8:31:200 16:30:400")).with("knee.flat[]"),
        // Headlines quote two users; that one user alone asks little is not a fault of the run.
        finds("low_n", CheckLevel.OK, levels("1:10 2:1000")),
        finds("steady_state", CheckLevel.NOTE, levels("1:60 2:39:110"))
            .with("steady_state.unjudged[[c=1, c=2]]"),
        finds(
                "window_length",
                CheckLevel.WARNING,
                () -> Levels.of("8:400").waiting(64, 64).summary())
            .with("c=64: window_length.empty[]"));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void levelIs(Case wanted) {
    wanted.mustHold();
  }

  /** 10 requests by this number of planned users: how many each sends is not planned. */
  private static Summary ofUsers(long planned) {
    LevelInfo level = Runs.planned(planned, Runs.stage(1, 0, 10_000));
    return steady(Runs.run(10, level).planned(planned));
  }

  /** An arrival counts where it was planned, however long its user took to its request. */
  @Test
  void arrivalsThatSendTheirRequestAfterTheWindowWereSent() {
    List<RequestRecord> records = new ArrayList<>(sent(599));
    records.add(at(60_002).phase(Phase.DRAIN).stage("r=10").offset(59_999).tokens(5).record());
    Summary summary = summary(open(600L), records);
    assertThat(summary.figures().counts().planned()).isEqualTo(600);
    assertThat(check(summary, "all_accounted").level()).isEqualTo(CheckLevel.OK);
  }

  private static RunInfo open(@Nullable Long planned) {
    LevelInfo level = Runs.rate(10, 0, 60_000);
    return Runs.run(60, planned == null ? level : Runs.planned(planned, level)).planned(planned);
  }

  private static RunInfo interrupted(long planned) {
    return open(planned).ended(Recorded.ORIGIN + 60_000_000_000L, RunInfo.State.INTERRUPTED);
  }

  /** A plan for 60 s, and how many of its requests were sent. */
  static Summary sent(long planned, int sent) {
    List<PlannedArrival> plan =
        LongStream.range(0, planned)
            .mapToObj(i -> Runs.arrival("r=10", i * 60_000.0 / planned))
            .toList();
    return Runs.figures(open(planned), plan, sent(sent)).summary();
  }

  /** Requests over 60 s, each 2 ms after its arrival was planned. */
  private static List<RequestRecord> sent(int requests) {
    return Recorded.requests(
        requests, i -> at(60_000.0 * i / requests + 2).lag(2).stage("r=10").tokens(5));
  }

  @Test
  void fewValues() {
    Check some = check(Levels.of("1:10 2:400").summary(), "low_n");
    assertThat(some.level()).isEqualTo(CheckLevel.NOTE);
    assertThat(some.message()).startsWith("c=2: ").contains("400");
    assertThat(some.remedy()).startsWith("For a p99, measure 3 s or longer (duration=3s)");
    assertThat(some.remedy()).doesNotContain("SLO");
    Summary judged = Levels.of("1:10 2:400").figures(Slo.parse("ttft<200ms")).summary();
    assertThat(check(judged, "low_n").remedy()).as("another number").contains("the SLO");
    // headlines quote TTFT, which answers in one body do not have
    List<RequestRecord> mixed = Recorded.requests(60, i -> at(0).tokens(100));
    mixed.addAll(Collections.nCopies(1_000, at(0).body(400, 10).record()));
    assertThat(check(summary(Runs.run(1, Runs.stage(1, 0, 1_000)), mixed), "low_n"))
        .extracting(Check::level, Check::value)
        .containsExactly(CheckLevel.WARNING, 60.0);
  }

  static Supplier<Summary> levels(String text) {
    return () -> Levels.of(text).summary();
  }

  /** One user, requests of 300 ms back to back, while this number is recorded as in flight. */
  static Summary inFlight(double mean) {
    return inFlight(mean, Recorded.requests(30, i -> at(i * 300).tokens(100, 300)));
  }

  private static Summary inFlight(double mean, List<RequestRecord> records) {
    List<PhaseWindow> windows = Runs.stage(1, 0, 9_000).phases();
    InFlightCount counted = new InFlightCount(mean, 2);
    LevelInfo level =
        new LevelInfo(
            "c=1", "a", null, "closed loop", 1.0, "users", windows, null, null, counted, List.of());
    return summary(Runs.run(9, level), records);
  }

  /** 400 requests over a minute, TTFT from 1.2 s. */
  static Summary ttftGrowsTo(double lastMs) {
    return summary(Runs.run(60, Runs.stage(64, 0, 60_000)), ttftGrowingTo(lastMs));
  }

  private static List<RequestRecord> ttftGrowingTo(double lastMs) {
    List<RequestRecord> records = new ArrayList<>();
    for (int i = -40; i < 400; i++) {
      double ttft = 1_200 + (lastMs - 1_200) * Math.max(0, i) / 400;
      Phase phase = i < 0 ? Phase.STABILIZE : Phase.MEASURE;
      records.add(at(i * 150).phase(phase).stage("c=64").tokens(ttft, ttft + 1_000).record());
    }
    return records;
  }

  /** A level of 60 s whose TTFT grows to this value, and one of 20 s with 24 requests. */
  @ParameterizedTest
  @CsvSource({"1200, NOTE", "1350, NOTE", "5200, WARNING"})
  void windowsTooShortToBeJudgedAreNamed(double lastMs, CheckLevel level) {
    RunInfo run = Runs.run(80, Runs.stage(64, 0, 60_000), Runs.stage(2, 60_000, 80_000));
    List<RequestRecord> records = ttftGrowingTo(lastMs);
    records.addAll(Recorded.requests(24, i -> at(60_000 + i * 800).stage("c=2").tokens(100, 300)));
    Check check = check(summary(run, records), "steady_state");
    assertThat(check.level()).isEqualTo(level);
    assertThat(check.message()).endsWith(" c=2.");
  }
}
