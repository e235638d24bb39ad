package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.PlanDriver.Users;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.run.Run.RunClock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A generator that loses users on their way, in virtual time: the records that it writes are
 * flawless, and only the plan knows of those that were never sent.
 */
class LostArrivalsTest {

  private static final long SECOND = 1_000_000_000L;

  private record Task(long nanoTime, long order, Runnable action) {}

  @TempDir Path folder;

  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Task::nanoTime).thenComparingLong(Task::order));
  private final RunClock clock = new RunClock(Recorded.ORIGIN, 0);
  private final List<RequestRecord> records = new ArrayList<>();
  private long now;
  private long order;
  private PlanDriver driver;

  private void at(long nanoTime, Runnable action) {
    tasks.add(new Task(Math.max(now, nanoTime), order++, action));
  }

  private Summary run(LoadLevel.Open level, int lost) throws IOException {
    return run(level, lost, 0);
  }

  /**
   * Requests take 250 ms. Of so many users that are to arrive one never does, of so many records
   * one is not written; 0 for none.
   */
  private Summary run(LoadLevel.Open level, int lost, int lostRecords) throws IOException {
    Run run = LevelLogTest.open(folder, clock);
    RunLevels levels = run.levels();
    LoadPlan plan = new LoadPlan.Sweep(List.of(level));
    driver =
        new PlanDriver(
            plan.source(),
            () -> now,
            this::at,
            new LosingUsers(lost),
            levels.listener("a", "scn", plan, running -> {}),
            index -> null);
    driver.begin();
    for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
      now = task.nanoTime();
      task.action().run();
    }
    run.ending().complete();
    RunInfo info =
        Recorded.run(now / 1e9)
            .stages(levels.all())
            .planned(LevelInfo.planned(levels.all()))
            .started((long) records.size());
    List<RequestRecord> written = new ArrayList<>();
    for (int i = 0; i < records.size(); i++) {
      if (lostRecords == 0 || i % lostRecords > 0) {
        written.add(records.get(i));
      }
    }
    return Recorded.summary(info, written);
  }

  private final class LosingUsers implements Users {
    private final int lost;
    private int arrived;

    private LosingUsers(int lost) {
      this.lost = lost;
    }

    @Override
    public void start() {}

    @Override
    public void start(Arrival arrival) {
      arrived++;
      if (lost == 0 || arrived % lost > 0) {
        at(arrival.plannedNanos(), () -> send(arrival));
      } else {
        // Gatling loses it: it is never heard of again, and leaves its place.
        at(arrival.plannedNanos(), () -> driver.userExited(levelOf(arrival)));
      }
    }

    @Override
    public void allStarted() {}
  }

  private static RunningLevel levelOf(Arrival arrival) {
    return Objects.requireNonNull(arrival.level());
  }

  private void send(Arrival arrival) {
    RunningLevel level = levelOf(arrival);
    Phase phase = level.phaseAt(now);
    double startMs = now / 1e6;
    level.requestAdmitted(now);
    at(
        now + SECOND / 4,
        () -> {
          level.requestClosed(now);
          records.add(
              Recorded.at(startMs)
                  .stage(level.label())
                  .phase(phase)
                  .offset(arrival.scheduledOffsetNanos() / 1e6)
                  .tokens(100, 250)
                  .record());
          driver.userExited(level);
        });
  }

  private static Check check(Summary summary, String id) {
    return summary.checks().stream().filter(c -> c.id().equals(id)).findFirst().orElseThrow();
  }

  private static LoadLevel.Open tenPerSecond() {
    // 10 s are stabilized, 60 s measured: 600 arrivals, which begin 20 ms after the plan.
    return new LoadLevel.Open(
        10, Arrivals.constant(10), new Phases(0, 10 * SECOND, 60 * SECOND, 10 * SECOND, null));
  }

  @Test
  void missingRequestsAreReported() throws IOException {
    Summary summary = run(tenPerSecond(), 3);
    assertThat(summary.figures().counts().planned()).isEqualTo(600);
    assertThat(summary.figures().counts().started()).isEqualTo(400);
    Check accounted = check(summary, "all_accounted");
    assertThat(accounted.level()).isEqualTo(Check.Level.WARNING);
    assertThat(accounted.value()).isEqualTo(200);
    assertThat(accounted.message())
        .isEqualTo(
            "Of 600 requests planned for measure windows 400 were sent; 467 requests started, 467"
                + " ended or cancelled.");
    assertThat(check(summary, "arrivals").level()).isEqualTo(Check.Level.WARNING);
    assertThat(check(summary, "arrivals").message())
        .startsWith("Planned 10 requests/s, realised 6.67 requests/s");
    // What was sent was in flight as the records have it.
    assertThat(check(summary, "littles_law").level()).isEqualTo(Check.Level.OK);
  }

  @Test
  void aCompleteRunHasNoFindings() throws IOException {
    Summary summary = run(tenPerSecond(), 0);
    assertThat(check(summary, "all_accounted").level()).isEqualTo(Check.Level.OK);
    assertThat(check(summary, "arrivals").level()).isEqualTo(Check.Level.OK);
    // 10/s × 250 ms.
    assertThat(summary.stages().get(0).meanInFlight()).isEqualTo(2.5);
    assertThat(check(summary, "littles_law").value()).isLessThan(1e-9);
  }

  /** Every tenth record is lost on its way to the file: 2.25 of 2.5 in flight are left. */
  @Test
  void lostRecordsAreReported() throws IOException {
    Summary summary = run(tenPerSecond(), 0, 10);
    assertThat(check(summary, "littles_law").level()).isEqualTo(Check.Level.WARNING);
    assertThat(check(summary, "littles_law").value()).isEqualTo(0.1, within(1e-9));
    assertThat(check(summary, "all_accounted").message())
        .isEqualTo(
            "Of 600 requests planned for measure windows 540 were sent; 700 requests started, 630"
                + " ended or cancelled.");
  }
}
