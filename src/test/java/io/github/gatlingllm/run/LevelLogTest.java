package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures.Progress;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.PlanDriver.Users;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RunInfo.RunOutcome.Conclusion;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Run.RunClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** In fake nanoseconds, with a plan whose driver and run have one queue of tasks. */
class LevelLogTest {

  private static final long BOUND = Duration.ofSeconds(3).toNanos();

  private record Task(long nanoTime, Runnable action) {}

  private final RunClock clock = new RunClock(1_000_000, 0);
  private final LiveLevelTally tally = new LiveLevelTally(clock);
  private final List<Task> tasks = new ArrayList<>();
  private final List<String> events = new ArrayList<>();
  private final List<Long> edges = new ArrayList<>();
  private final FakeRun run = new FakeRun();
  private final LevelLog log = new LevelLog(clock, run);
  private final List<RunningLevel> begun = new ArrayList<>();
  private @Nullable PlanDriver driver;
  private long now;

  private final class FakeRun implements LevelLog.Host {
    @Override
    public void levelsChanged() {}

    @Override
    public void after(Duration delay, Runnable task) {
      tasks.add(new Task(now + delay.toNanos(), task));
    }

    @Override
    public void arrivalsDescribed(Run.Schedule schedule, String description) {
      events.add(schedule.level() + " " + description);
    }

    @Override
    public void arrivalsPlanned(Run.Schedule schedule, Iterator<Planned> arrivals, long start) {
      StringBuilder offsets = new StringBuilder();
      arrivals.forEachRemaining(arrival -> offsets.append(' ').append(arrival.offsetNanos()));
      events.add(schedule.scenario() + " " + schedule.target() + " " + schedule.level() + offsets);
    }

    @Override
    public void windowEdge(long nanoTime) {
      edges.add(nanoTime);
    }

    private int handedOver;
    private int counted;
    private final List<Runnable> waiting = new ArrayList<>();

    @Override
    public void tell(Consumer<RunObserver> event) {
      event.accept(tally);
      event.accept(
          new RunObserver() {
            @Override
            public String name() {
              return "lines";
            }

            @Override
            public void message(String line) {
              events.add(line);
            }
          });
    }

    @Override
    public LiveLevelTally results() {
      return tally;
    }

    @Override
    public void whenCounted(Runnable task) {
      if (counted == handedOver) {
        task.run();
      } else {
        waiting.add(task);
      }
    }

    private void count(LevelRecord record) {
      tally.requestEnded(record.record());
      counted++;
      waiting.forEach(Runnable::run);
      waiting.clear();
    }

    @Override
    public void countArrivals(
        Iterator<Planned> schedule, long fromNanos, long untilNanos, LongConsumer count) {
      events.add("count from " + fromNanos + " until " + untilNanos);
      count.accept(7);
    }

    @Override
    public void concluded(String target, String scenario, Conclusion conclusion) {
      events.add(conclusion.topic() + " " + conclusion.text());
    }

    @Override
    public TargetSlo slo(String target) {
      return new TargetSlo("", 90, Slo.Rule.PERCENTILES, Map.of(), Map.of());
    }
  }

  /** Users that begin an iteration and never end it. */
  private final class StuckUsers implements Users, PlanDriver.LoopingUser {
    @Override
    public void start() {
      tasks.add(
          new Task(
              now,
              () -> {
                RunningLevel level = driver == null ? null : driver.next(this, null);
                if (level != null) {
                  begun.add(level);
                  var unused = level.requestStarted(now);
                }
              }));
    }

    @Override
    public void start(Arrival arrival) {}

    @Override
    public void allStarted() {
      events.add("over");
    }

    @Override
    public void resume(RunningLevel level) {}

    @Override
    public void end() {}
  }

  /** Users whose iterations are a request of 3 ns. */
  private final class ShortUsers implements Users {
    @Override
    public void start() {
      tasks.add(new Task(now, () -> new ShortUser().goOn(null)));
    }

    @Override
    public void start(Arrival arrival) {}

    @Override
    public void allStarted() {}
  }

  private final class ShortUser implements PlanDriver.LoopingUser {
    private void goOn(@Nullable RunningLevel before) {
      RunningLevel level = driver == null ? null : driver.next(this, before);
      if (level != null) {
        resume(level);
      }
    }

    @Override
    public void resume(RunningLevel level) {
      level.requestAdmitted(now);
      tasks.add(
          new Task(
              now + 3,
              () -> {
                level.requestClosed(now);
                goOn(level);
              }));
    }

    @Override
    public void end() {}
  }

  /** Levels whose users never come, so that each ends with its measure phase. */
  static final Users NOBODY =
      new Users() {
        @Override
        public void start() {}

        @Override
        public void start(Arrival arrival) {}

        @Override
        public void allStarted() {}
      };

  private void begin(LoadPlan plan, Users users) {
    driver =
        new PlanDriver(
            plan.source(),
            () -> now,
            (nanoTime, action) -> tasks.add(new Task(nanoTime, action)),
            users,
            log.listener(
                LevelRecord.TARGET,
                LevelRecord.SCENARIO,
                plan.plannedNanos(),
                level -> events.add("cancel " + level.label())),
            level -> null);
    driver.begin();
  }

  private static LoadPlan.Sweep closed(Phases... phases) {
    List<LoadLevel> levels = new ArrayList<>();
    for (Phases each : phases) {
      levels.add(new LoadLevel.Closed(levels.size() + 1, each));
    }
    return new LoadPlan.Sweep(levels);
  }

  private void goTo(long nanoTime) {
    now = nanoTime;
    for (int i = 0; i < tasks.size(); i++) {
      Task task = tasks.get(i);
      if (task.nanoTime() <= now) {
        tasks.remove(i);
        task.action().run();
        i = -1;
      }
    }
  }

  @Test
  void progressOfATimedPlanIsItsShareOfTime() {
    begin(closed(new Phases(20, 20, 60, 30, null), new Phases(0, 0, 100, 30, null)), NOBODY);
    assertThat(log.progress(10)).isEqualTo(new Progress("c=1", Phase.FILL, 0.05, 190L));
    assertThat(log.progress(50)).isEqualTo(new Progress("c=1", Phase.MEASURE, 0.25, 150L));
    goTo(40);
    goTo(100);
    assertThat(log.progress(150)).isEqualTo(new Progress("c=2", Phase.MEASURE, 0.75, 50L));
    goTo(200);
    assertThat(log.progress(200)).isNull();
  }

  @Test
  void progressOfACountedPlanIsUnknown() {
    begin(closed(new Phases(20, 20, 60, 30, null), new Phases(0, 0, 0, 30, 5)), NOBODY);
    assertThat(log.progress(50)).isEqualTo(new Progress("c=1", Phase.MEASURE, null, null));
  }

  @Test
  void recordsPhasesInEpochTimeWithTheLastOneOpen() {
    begin(closed(new Phases(20, 0, 60, 30, null)), NOBODY);
    goTo(20);
    assertThat(log.levels())
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
    begin(closed(new Phases(20, 20, 60, 30, null), new Phases(0, 0, 100, 30, null)), NOBODY);
    goTo(20);
    assertThat(edges).as("it fills and settles, and the start is known").containsOnly(40L);
    goTo(40);
    assertThat(edges).as("the end is known").contains(100L).containsOnly(40L, 100L);
    goTo(100);
    assertThat(edges).as("drained at once").contains(200L).containsOnly(40L, 100L, 200L);
    goTo(200);
    assertThat(edges).containsOnly(40L, 100L, 200L);
  }

  @Test
  void writesThePlannedArrivalsOfOpenLevels() {
    LoadLevel open = new LoadLevel.Open(5, Arrivals.constant(5), new Phases(0, 0, 1, 1, null));
    begin(new LoadPlan.Sweep(List.of(open)), NOBODY);
    assertThat(events).containsExactly("r=5 evenly spaced at 5 users/s", "count from 0 until 1");
    assertThat(log.levels()).extracting(LevelInfo::unit).containsExactly("requests/s");
    assertThat(log.levels()).extracting(LevelInfo::kind).containsExactly("open loop");
  }

  /** 5 per second over 1 s from 0.02 s on, of which nobody comes. */
  @Test
  void writesThePlannedArrivalsWhenALevelEnds() {
    Phases phases = new Phases(0, 0, 1_000_000_000, 1, null);
    begin(new LoadPlan.Sweep(List.of(new LoadLevel.Open(5, Arrivals.constant(5), phases))), NOBODY);
    goTo(1_020_000_000);
    goTo(1_020_000_001);
    assertThat(events)
        .containsExactly(
            "r=5 evenly spaced at 5 users/s",
            "count from 0 until 1000000000", // as it is to be
            "count from 0 until 1000000000", // as it was
            "scenario target r=5 0 200000000 400000000 600000000 800000000",
            "cancel r=5");
  }

  /** After 0.5 s of it. */
  @Test
  void writesThePlannedArrivalsUpToAnInterruption() {
    LoadLevel open = new LoadLevel.Open(5, Arrivals.constant(5), Phases.DEFAULT);
    begin(new LoadPlan.Sweep(List.of(open)), NOBODY);
    log.interrupted(520_000_001);
    assertThat(events).last().isEqualTo("scenario target r=5 0 200000000 400000000");
  }

  /** What is planned is measured time; it does not pass while a level settles. */
  @Test
  void settlingIsNotPlannedTime() {
    Phases phases = new Phases(null, null, 10_000_000_000L, true, 0, null);
    begin(closed(phases, phases), NOBODY);
    goTo(9_000_000_000L);
    assertThat(log.progress(now))
        .isEqualTo(new Progress("c=1", Phase.STABILIZE, 0.0, 20_000_000_000L));
    goTo(10_000_000_000L);
    assertThat(events)
        .containsExactly(
            "LLM c=1 (target, scenario): measuring from 10 s, the longest wait (0 of 1 users had an"
                + " answer): measure longer, or set how long to stabilize");
    assertThat(log.progress(12_000_000_000L))
        .isEqualTo(new Progress("c=1", Phase.MEASURE, 0.1, 18_000_000_000L));
  }

  @Test
  void recordsThePlannedRequestsWhenALevelEnds() {
    LoadLevel open = new LoadLevel.Open(5, Arrivals.constant(5), new Phases(0, 10, 50, 1, null));
    LoadLevel byTime = new LoadLevel.Closed(2, new Phases(0, 0, 100, 30, null));
    begin(new LoadPlan.Sweep(List.of(open, byTime)), NOBODY);
    assertThat(log.levels()).extracting(LevelInfo::planned).containsExactly((Long) null);
    goTo(20_000_010);
    goTo(20_000_060);
    goTo(20_000_061);
    assertThat(events).contains("count from 10 until 60");
    assertThat(log.levels()).extracting(LevelInfo::planned).containsExactly(7L, null);
    assertThat(LevelInfo.planned(log.levels())).as("one level does not say").isNull();
  }

  @Test
  void aNumberOfRequestsIsThePlannedCount() {
    begin(
        new LoadPlan.Sweep(
            List.of(
                new LoadLevel.Closed(1, new Phases(0, 0, 0, 30, 5)),
                new LoadLevel.Batch(4, 3, 30))),
        new ShortUsers());
    for (int time = 0; time < 100; time++) {
      goTo(time);
    }
    assertThat(log.levels()).extracting(LevelInfo::planned).containsExactly(5L, 12L);
    assertThat(LevelInfo.planned(log.levels())).isEqualTo(17);
  }

  /** A user whose requests of 3 ns follow each other without a break. */
  @Test
  void recordsRequestsInFlight() {
    begin(closed(new Phases(0, 0, 60, 30, null)), new ShortUsers());
    for (int time = 0; time <= 60; time++) {
      goTo(time);
    }
    assertThat(log.levels())
        .extracting(LevelInfo::inFlight)
        .containsExactly(new LevelInfo.InFlight(1, 1));
  }

  @Test
  void cancelsRequestsThatOutlastTheDrainTime() {
    begin(closed(new Phases(0, 0, 60, 30, null)), new StuckUsers());
    goTo(0);
    goTo(60);
    assertThat(events).isEmpty();
    goTo(90);
    assertThat(events).containsExactly("cancel c=1", "over");
  }

  private void beginLevelsThatDependOnEachOther() {
    Phases phases = new Phases(0, 0, 60, 30, null);
    begin(closed(phases, phases).stopWhen(List.of(StopRule.errorsAbove(50))), new StuckUsers());
    goTo(0);
    goTo(60);
    goTo(90);
  }

  @Test
  void nextLevelWaitsForTheLastRecordToBeCounted() {
    beginLevelsThatDependOnEachOther();
    assertThat(log.levels()).as("the request has no record").hasSize(1);
    run.handedOver++;
    begun.get(0).requestRecorded();
    goTo(91);
    assertThat(log.levels()).as("the record waits in the recorder").hasSize(1);
    run.count(LevelRecord.ok("c=1"));
    goTo(92);
    assertThat(log.levels()).hasSize(2);
    goTo(BOUND + 200);
    assertThat(log.levels()).as("settled once").hasSize(2);
  }

  @Test
  void theWaitForAMissingRecordIsBounded() {
    beginLevelsThatDependOnEachOther();
    goTo(10 * BOUND);
    assertThat(log.levels()).as("the request is under way").hasSize(1);
    run.handedOver++;
    begun.get(0).requestRecorded();
    goTo(11 * BOUND - 1);
    assertThat(log.levels()).hasSize(1);
    goTo(11 * BOUND);
    assertThat(log.levels()).hasSize(2);
  }

  @Test
  void resultsEndASweep() {
    beginLevelsThatDependOnEachOther();
    run.handedOver++;
    begun.get(0).requestRecorded();
    run.count(LevelRecord.failed("c=1"));
    goTo(91);
    assertThat(events)
        .containsExactly(
            "cancel c=1",
            "stopped early after c=1, 1 level left out: 100.0 % of 1 requests failed",
            "over");
  }
}
