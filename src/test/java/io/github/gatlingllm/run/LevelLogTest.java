package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.figures.level.LiveStats.Progress;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.load.Arrival.OpenSchedule;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Injection;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Run.RunClock;
import io.github.gatlingllm.run.RunView.LevelView;
import io.github.gatlingllm.testing.VirtualUsers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In fake nanoseconds, but for the run and its observers, which have separate threads. */
@Timeout(120)
class LevelLogTest {

  private static final long NEVER = 1_000_000;

  @TempDir private Path folder;

  private final RunClock clock = new RunClock(1_000_000, 0);
  private final List<String> events = new CopyOnWriteArrayList<>();
  private volatile RunView view = RunView.OPENED;
  private final List<RunningLevel> begun = new ArrayList<>();
  private Run run;
  private RunLevels levels;
  private VirtualUsers users = VirtualUsers.none(0);

  static Run open(Path folder, RunClock clock, RunObserver... observers) throws IOException {
    return new Run(
        new RunDirectory("Sim", "sim-1", folder.resolve("sim-1")),
        "here",
        clock,
        line -> {},
        opened -> List.of(observers));
  }

  @BeforeEach
  void open() throws IOException {
    run = open(folder, clock, new Latest());
    levels = run.levels();
  }

  @AfterEach
  void close() {
    run.ending().complete(() -> {});
  }

  private final class Latest implements RunObserver {
    @Override
    public String name() {
      return "view";
    }

    @Override
    public void tick(RunView now) {
      view = now;
    }
  }

  /** Waits until the observers have received what was sent so far. */
  private void awaitObservers() {
    run.observers().await(next -> {}, (observer, now) -> {});
  }

  private void awaitLevels(int count) {
    while (levels.all().size() < count) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Offsets of the arrivals in the file of the run, in tenths of a second. */
  private List<Integer> writtenTenths() throws IOException {
    levels.close(Duration.ofMinutes(1));
    List<Integer> tenths = new ArrayList<>();
    for (String line : Files.readAllLines(run.files().arrivals())) {
      JsonNode arrival = new ObjectMapper().readTree(line);
      tenths.add(
          arrival.get("scheduled_offset_s").decimalValue().movePointRight(1).intValueExact());
    }
    return tenths;
  }

  /** Users whose iterations are a request of these nanoseconds. */
  private VirtualUsers requestsOf(long nanos) {
    return new VirtualUsers(
        0,
        (level, user) -> {
          long start = users.now();
          begun.add(level);
          var unused = level.requestStarted(start);
          level.requestAdmitted(start);
          users.at(
              start + nanos,
              () -> {
                level.requestClosed(users.now());
                level.requestRecorded();
                user.next();
              });
        });
  }

  private void begin(LoadPlan plan, VirtualUsers by) {
    users = by;
    users.whenAllStarted(() -> events.add("over"));
    users.begin(
        plan,
        levels.listener(
            LevelRecord.TARGET,
            LevelRecord.SCENARIO,
            plan,
            level -> events.add("cancel " + level.label()),
            LevelHooks.NONE),
        level -> null);
  }

  private static LoadPlan.Sweep closed(Phases... phases) {
    List<LoadLevel> levels = new ArrayList<>();
    for (Phases each : phases) {
      levels.add(new LoadLevel.Closed(levels.size() + 1, each));
    }
    return new LoadPlan.Sweep(levels);
  }

  @Test
  void progressOfATimedPlanIsItsShareOfTime() {
    begin(
        closed(new Phases(20, 20, 60, 30, null), new Phases(0, 0, 100, 30, null)),
        VirtualUsers.none(0));
    assertThat(levels.progress(10)).isEqualTo(new Progress("c=1", Phase.FILL, 0.05, 190L));
    assertThat(levels.progress(50)).isEqualTo(new Progress("c=1", Phase.MEASURE, 0.25, 150L));
    users.runTo(40);
    users.runTo(100);
    assertThat(levels.progress(150)).isEqualTo(new Progress("c=2", Phase.MEASURE, 0.75, 50L));
    users.runTo(200);
    assertThat(levels.progress(200)).isNull();
  }

  @Test
  void recordsPhasesInEpochTimeWithTheLastOneOpen() {
    begin(closed(new Phases(20, 0, 60, 30, null)), VirtualUsers.none(0));
    users.runTo(20);
    assertThat(levels.all())
        .containsExactly(
            new LevelInfo(
                "c=1",
                LevelRecord.TARGET,
                LevelRecord.SCENARIO,
                "closed loop",
                1.0,
                "concurrent",
                List.of(
                    new PhaseWindow(Phase.FILL, 1_000_000, 1_000_020L),
                    new PhaseWindow(Phase.MEASURE, 1_000_020, null))));
  }

  @Test
  void reportsTheEdgesOfMeasureWindows() {
    begin(
        closed(new Phases(20, 20, 60, 30, null), new Phases(0, 0, 100, 30, null)),
        VirtualUsers.none(0));
    users.runTo(20);
    awaitObservers();
    assertThat(view.edges).as("it fills and settles, and the start is known").containsOnly(40L);
    users.runTo(40);
    awaitObservers();
    assertThat(view.edges).as("the end is known").contains(100L).containsOnly(40L, 100L);
    users.runTo(100);
    awaitObservers();
    assertThat(view.edges).as("drained immediately").contains(200L).containsOnly(40L, 100L, 200L);
    users.runTo(200);
    awaitObservers();
    assertThat(view.edges).containsOnly(40L, 100L, 200L);
  }

  /** An open level without arrivals. */
  private void beginFivePerSecond(long nanos) {
    Phases phases = new Phases(0, 0, nanos, 1, null);
    begin(
        new LoadPlan.Sweep(List.of(new LoadLevel.Open(5, Arrivals.constant(5), phases))),
        VirtualUsers.none(0));
  }

  @Test
  void describesOpenLevels() {
    beginFivePerSecond(1);
    awaitObservers();
    assertThat(view.lines)
        .containsExactly("LLM arrivals of scenario r=5: evenly spaced at 5 users/s");
    assertThat(levels.all()).extracting(LevelInfo::unit).containsExactly("requests/s");
    assertThat(levels.all()).extracting(LevelInfo::kind).containsExactly("open loop");
  }

  /** 5 per second over 1 s from 0.02 s on, without arrivals. */
  @Test
  void writesThePlannedArrivalsWhenALevelEnds() throws IOException {
    beginFivePerSecond(1_000_000_000);
    users.runTo(1_020_000_000);
    users.runTo(1_020_000_001);
    assertThat(events).containsExactly("cancel r=5", "over");
    assertThat(writtenTenths()).containsExactly(0, 2, 4, 6, 8);
    assertThat(levels.all()).extracting(LevelInfo::planned).containsExactly(5L);
  }

  /** After 0.5 s of it; the number is known although the level has not ended. */
  @Test
  void writesThePlannedArrivalsUpToAnInterruption() throws IOException {
    beginFivePerSecond(1_000_000_000);
    levels.interrupted(520_000_001);
    assertThat(writtenTenths()).containsExactly(0, 2, 4);
    assertThat(levels.all()).extracting(LevelInfo::planned).containsExactly(5L);
  }

  /** What is planned is measured time; it does not pass while a level settles. */
  @Test
  void settlingIsNotPlannedTime() {
    Phases phases = new Phases(null, null, 10_000_000_000L, true, 0, null);
    begin(closed(phases, phases), VirtualUsers.none(0));
    users.runTo(9_000_000_000L);
    assertThat(levels.progress(users.now()))
        .isEqualTo(new Progress("c=1", Phase.STABILIZE, 0.0, 20_000_000_000L));
    users.runTo(10_000_000_000L);
    awaitObservers();
    assertThat(view.lines)
        .singleElement()
        .asString()
        .startsWith("LLM c=1 (target, scenario): measuring from 10 s, the longest wait");
    assertThat(levels.progress(12_000_000_000L))
        .isEqualTo(new Progress("c=1", Phase.MEASURE, 0.1, 18_000_000_000L));
  }

  @Test
  void recordsThePlannedRequestsWhenALevelEnds() {
    Phases phases = new Phases(0, 10_000, 50_000, 1, null);
    LoadLevel open = new LoadLevel.Open(1e6, Arrivals.constant(1e6), phases);
    LoadLevel byTime = new LoadLevel.Closed(2, new Phases(0, 0, 100, 30, null));
    begin(new LoadPlan.Sweep(List.of(open, byTime)), VirtualUsers.none(0));
    assertThat(levels.all()).extracting(LevelInfo::planned).containsExactly((Long) null);
    users.runTo(20_010_000);
    users.runTo(20_060_000);
    users.runTo(20_060_001);
    levels.close(Duration.ofMinutes(1));
    assertThat(levels.all()).extracting(LevelInfo::planned).containsExactly(50L, null);
    assertThat(LevelInfo.planned(levels.all())).as("one level has no number").isNull();
  }

  @Test
  void aNumberOfRequestsIsThePlannedCount() {
    begin(
        new LoadPlan.Sweep(
            List.of(
                new LoadLevel.Closed(1, new Phases(0, 0, 0, 30, 5)),
                new LoadLevel.FixedBatch(4, 3, 30))),
        requestsOf(3));
    users.runTo(100);
    assertThat(levels.all()).extracting(LevelInfo::planned).containsExactly(5L, 12L);
    assertThat(LevelInfo.planned(levels.all())).isEqualTo(17);
  }

  /** A user whose requests of 3 ns follow each other without a break. */
  @Test
  void recordsRequestsInFlight() {
    begin(closed(new Phases(0, 0, 60, 30, null)), requestsOf(3));
    users.runTo(60);
    assertThat(levels.all())
        .extracting(LevelInfo::inFlight)
        .containsExactly(new LevelInfo.InFlightCount(1, 1));
  }

  @Test
  void cancelsRequestsThatOutlastTheDrainTime() {
    begin(closed(new Phases(0, 0, 60, 30, null)), requestsOf(NEVER));
    users.runTo(0);
    users.runTo(60);
    assertThat(events).isEmpty();
    users.runTo(90);
    assertThat(events).containsExactly("cancel c=1", "over");
  }

  private void beginLevelsThatDependOnEachOther() {
    Phases phases = new Phases(0, 0, 60, 30, null);
    begin(closed(phases, phases).stopWhen(List.of(StopRule.errorsAbove(50))), requestsOf(NEVER));
    users.runTo(0);
    users.runTo(60);
    users.runTo(90);
  }

  private void record(Recorded record) {
    run.record(record.record());
    begun.get(0).requestRecorded();
  }

  @Test
  void nextLevelWaitsForTheLastRecord() {
    beginLevelsThatDependOnEachOther();
    awaitObservers();
    assertThat(levels.all()).as("the request has no record").hasSize(1);
    record(LevelRecord.ok("c=1"));
    awaitLevels(2);
  }

  /** As the recorder hangs. */
  @Test
  void theWaitForAMissingRecordIsBounded() {
    beginLevelsThatDependOnEachOther();
    CompletableFuture<String> testIsOver = new CompletableFuture<>();
    run.whenCounted(testIsOver::join);
    record(LevelRecord.failed("c=1"));
    awaitLevels(2);
    testIsOver.complete("yes");
  }

  @ParameterizedTest
  @CsvSource({"false, 1", "true, "})
  void theSloOfASelfTestIsNotShown(boolean isSelfTest, @Nullable Double shown) {
    run.describe(
        info ->
            info.slo(Slo.parse("ttft<1s")).config(SelfTest.ENGINE, isSelfTest ? "http://a" : null));
    beginLevelsThatDependOnEachOther();
    record(LevelRecord.ok("c=1").judged(true).tokens(1e-6));
    awaitLevels(2);
    awaitObservers();
    assertThat(view.levels)
        .filteredOn(LevelView::isOver)
        .extracting(level -> Objects.requireNonNull(level.figures()).sloShare())
        .containsExactly(shown);
  }

  @Test
  void resultsEndASweep() {
    beginLevelsThatDependOnEachOther();
    record(LevelRecord.failed("c=1"));
    while (!events.contains("over")) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(events).containsExactly("cancel c=1", "over");
    awaitObservers();
    assertThat(view.lines)
        .singleElement()
        .asString()
        .startsWith("LLM stopped early (target, scenario): after c=1, 1 level skipped: 100 % of ");
  }

  private static final LevelInfo.Key INJECTED =
      new LevelInfo.Key(LevelInfo.ENTIRE_RUN, LevelRecord.TARGET, "chat");

  /** In epoch time it starts at 1,000,100. */
  private void inject(Injection injection, Planned... arrivals) {
    levels.injectionStarted(
        INJECTED, injection, 100, new OpenSchedule("a plan", () -> Stream.of(arrivals)));
    levels.close(Duration.ofMinutes(1));
  }

  private List<PhaseWindow> injected(@Nullable Long runEnd, long now) {
    return levels.all(runEnd, now).get(0).phases();
  }

  private static PhaseWindow measure(long from, @Nullable Long until) {
    return new PhaseWindow(Phase.MEASURE, from, until);
  }

  @Test
  void injectionStepsDefineTheMeasureWindow() {
    inject(new Injection(5.0, Injection.RATE, 10, 50), new Planned(0, 10, null));
    assertThat(injected(null, 1_000_120)).containsExactly(measure(1_000_110, null));
    assertThat(injected(null, 1_000_160))
        .containsExactly(
            measure(1_000_110, 1_000_150L), new PhaseWindow(Phase.DRAIN, 1_000_150, null));
    assertThat(injected(1_000_200L, 1_000_200))
        .as("no request outlasts it")
        .containsExactly(measure(1_000_110, 1_000_150L));
    assertThat(injected(1_000_130L, 1_000_130))
        .as("interrupted")
        .containsExactly(measure(1_000_110, 1_000_130L));
    assertThat(levels.all())
        .extracting(LevelInfo::offered, LevelInfo::planned)
        .containsExactly(tuple(5.0, 1L));
  }

  /** A request that ends at 180, of steps that end at 150, or of users who start together. */
  @ParameterizedTest
  @CsvSource({"50, 150", "0, 181"})
  void theLastEndIsMeasured(long untilNanos, long measuredUntil) {
    inject(new Injection(null, Injection.RATE, 0, untilNanos));
    levels.requestEnded(
        LevelRecord.between(1_000_100, 1_000_180)
            .scenario("chat")
            .stage(LevelInfo.ENTIRE_RUN)
            .record());
    assertThat(injected(1_000_200L, 1_000_200))
        .first()
        .isEqualTo(measure(1_000_100, 1_000_000 + measuredUntil));
    assertThat(levels.all(1_000_200L, 1_000_200).get(0).measured())
        .contains(measure(1_000_100, 1_000_181L));
  }

  private List<String> arrivals() throws IOException {
    return Files.exists(run.files().arrivals())
        ? Files.readAllLines(run.files().arrivals())
        : List.of();
  }

  @Test
  void plannedArrivalsHaveTheirScheduleAndEpochTime() throws IOException {
    inject(
        new Injection(5.0, Injection.RATE, 0, 600),
        new Planned(0, 0, null),
        new Planned(1, 500, new Arrivals.Lengths(7, null)));
    assertThat(arrivals()).hasSize(2).allMatch(line -> line.contains("\"scenario\":\"chat\""));
    assertThat(arrivals().get(0)).contains("1000100").doesNotContain("7");
    assertThat(arrivals().get(1)).contains("1000600").contains("7");
  }

  @Test
  void halfOfASurrogatePairIsReplaced() throws IOException {
    levels.injectionStarted(
        new LevelInfo.Key("all", "\ude00b", "a\ud83d"),
        new Injection(5.0, Injection.RATE, 0, 1),
        0,
        new OpenSchedule("a plan", () -> Stream.of(new Planned(0, 0, null))));
    levels.close(Duration.ofMinutes(1));
    assertThat(arrivals())
        .singleElement()
        .asString()
        .contains("\"a\ufffd\",\"target\":\"\ufffdb\"");
  }

  /** It ends with the run, and no number of it is known; later ones are not written. */
  @Test
  void anEndlessScheduleEndsInACompleteLine() throws IOException {
    levels.injectionStarted(
        INJECTED,
        new Injection(5.0, Injection.RATE, 0, 1),
        0,
        new OpenSchedule("a plan", () -> Stream.generate(() -> new Planned(0, 1, null))));
    levels.close(Duration.ZERO);
    inject(new Injection(5.0, Injection.RATE, 0, 1), new Planned(0, 77_777, null));
    assertThat(levels.all()).extracting(LevelInfo::planned).containsExactly((Long) null);
    assertThat(arrivals()).allMatch(line -> line.endsWith("}")).noneMatch(l -> l.contains("77777"));
  }
}
