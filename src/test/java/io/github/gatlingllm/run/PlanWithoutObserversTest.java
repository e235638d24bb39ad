package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Run.RunClock;
import io.github.gatlingllm.testing.VirtualUsers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stop rules, the guard against dead servers and searches, in a run without observers. Time is
 * fake; the recorder and the run have separate threads, for which it waits.
 */
@Timeout(120)
class PlanWithoutObserversTest {

  private static final long SECOND = 1_000_000_000L;

  /** Records after which time waits until they are counted. */
  private static final int BATCH = 50;

  @TempDir private Path folder;
  private final VirtualUsers users = new VirtualUsers(0, this::request);
  private Run run;
  private Function<RunningLevel, Recorded> server = level -> answer(0);
  private int uncounted;

  @BeforeEach
  void open() throws IOException {
    run = LevelLogTest.open(folder, new RunClock(SECOND, 0));
    run.describe(info -> info.slo(Slo.parse("ttft<1s")));
  }

  @AfterEach
  void close() {
    run.ending().complete(() -> {});
  }

  /** A request that takes no time; in a closed loop the next follows after a second. */
  private void request(RunningLevel level, VirtualUsers.User user) {
    long scheduled = users.now();
    boolean isMeasured = level.requestStarted(scheduled);
    level.requestEnded(isMeasured, 1, true);
    run.record(
        server
            .apply(level)
            .stage(level.label())
            .phase(level.phaseAt(scheduled))
            .unixNanos(run.unixNanos(scheduled))
            .record());
    level.requestRecorded();
    uncounted++;
    users.at(
        level.level() instanceof LoadLevel.Closed ? scheduled + SECOND : scheduled, user::next);
  }

  /** An answer whose first token comes after that time. */
  private static Recorded answer(double ms) {
    return LevelRecord.between(0, 1).tokens(ms + 1e-6);
  }

  private static Recorded failure() {
    return answer(0).failed(RequestStatus.TIMEOUT, null);
  }

  private List<Conclusion> conclusions(LoadPlan plan) throws InterruptedException {
    RunningLevel.Listener listener =
        run.levels()
            .listener(LevelRecord.TARGET, LevelRecord.SCENARIO, plan, level -> {}, LevelHooks.NONE);
    users.begin(plan, listener, level -> null);
    while (!users.hasAllStarted()) {
      Long due = users.due();
      if (due == null) {
        LockSupport.parkNanos(1_000_000);
      } else {
        awaitCounted(due);
        users.step();
      }
    }
    return run.info().outcome().conclusions();
  }

  /** Before time passes by the end of the measure window, and from time to time. */
  private void awaitCounted(long next) throws InterruptedException {
    LevelResults running = run.levels().running();
    boolean isDecided =
        running == null || next >= running.level().measureEndNanosOr(Long.MAX_VALUE) - SECOND / 50;
    if (uncounted >= BATCH || (uncounted > 0 && isDecided)) {
      CountDownLatch counted = new CountDownLatch(1);
      run.whenCounted(counted::countDown);
      counted.await();
      uncounted = 0;
    }
  }

  private List<String> labels() {
    return run.levels().all().stream().map(LevelInfo::label).toList();
  }

  /** Two levels of 300 requests each, one after the other. */
  private static LoadPlan.Sweep sweep() {
    Phases phases = new Phases(0, 0, 300 * SECOND, SECOND, null);
    return new LoadPlan.Sweep(
        Stream.of(1, 2).<LoadLevel>map(users -> new LoadLevel.Closed(users, phases)).toList());
  }

  @Test
  void aDeadServerEndsTheSweep() throws InterruptedException {
    server = level -> failure();
    assertThat(conclusions(sweep()))
        .singleElement()
        .extracting(Conclusion::text)
        .asString()
        .contains("requests failed one after the other");
    assertThat(labels()).containsExactly("c=1");
  }

  /** It answers in time up to 25 requests/s. */
  @Test
  void aSearchFindsTheHighestRate() throws InterruptedException {
    server = level -> answer(level.level().offered() <= 25 ? 0 : 2_000);
    Phases phases = new Phases(0, 0, 10 * SECOND, SECOND, null);
    assertThat(conclusions(LoadPlan.search(10, 0.5, 7, phases)))
        .singleElement()
        .satisfies(
            found -> {
              assertThat(found.topic()).isEqualTo("search");
              assertThat(found.holdsAt()).isEqualTo(25);
              assertThat(found.failsAt()).isEqualTo(30);
            });
    assertThat(labels()).startsWith("r=10", "r=20", "r=40", "r=30", "r=25");
  }

  /** It answers in time up to 3 users. */
  @Test
  void aSearchFindsTheHighestNumberOfUsers() throws InterruptedException {
    server = level -> answer(level.level().offered() <= 3 ? 0 : 2_000);
    Phases phases = new Phases(0, 0, 300 * SECOND, SECOND, null);
    assertThat(conclusions(LoadPlan.searchUsers(1, 0.5, phases)))
        .singleElement()
        .satisfies(
            found -> {
              assertThat(found.holdsAt()).isEqualTo(3);
              assertThat(found.failsAt()).isEqualTo(4);
            });
    assertThat(labels()).containsExactly("c=1", "c=2", "c=4", "c=3", "c=3 again", "c=4 again");
  }
}
