package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.run.Run.RunClock;
import io.github.gatlingllm.run.RunView.Stage;
import io.github.gatlingllm.storage.S3Location;
import io.github.gatlingllm.testing.VirtualUsers;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** No observer is needed by a run and its rules, and none can harm it. */
@Timeout(120)
class RunObserverTest {

  /** Of two levels; a rule ends the sweep before the third. */
  private static final int RECORDS = 20;

  private enum Event {
    START,
    RECORDS,
    TICK,
    STOP
  }

  private enum Fault {
    THROWS,
    BLOCKS
  }

  @TempDir private Path folder;
  private final List<String> complaints = new CopyOnWriteArrayList<>();

  @AutoClose("countDown")
  private final CountDownLatch testIsOver = new CountDownLatch(1);

  private Run open(Function<Run, List<RunObserver>> observers) throws IOException {
    return new Run(
        new RunDirectory("Sim", "sim-1", folder.resolve("sim-1")),
        "here",
        RunClock.system(),
        complaints::add,
        observers);
  }

  /** In virtual time: all requests of the second of three levels fail, which ends the sweep. */
  private void run(Run run) throws IOException {
    run.targetUsed(List.of());
    run.beforeLoad();
    run.userStarted();
    LoadPlan plan =
        new LoadPlan.Sweep(
                Stream.of(1, 2, 3)
                    .<LoadLevel>map(
                        users -> new LoadLevel.Closed(users, Phases.DEFAULT.withRequests(10)))
                    .toList())
            .stopWhen(List.of(StopRule.errorsAbove(50)));
    VirtualUsers users =
        new VirtualUsers(System.nanoTime(), (level, user) -> request(run, level, user));
    users.begin(
        plan,
        run.levels()
            .listener(LevelRecord.TARGET, LevelRecord.SCENARIO, plan, level -> {}, LevelHooks.NONE),
        level -> null);
    while (!users.hasAllStarted()) {
      if (users.due() == null) {
        LockSupport.parkNanos(1_000_000);
      } else {
        users.step();
      }
    }
    run.observers().secondPassed();
    run.message("LLM: a line");
    run.userEnded();
    run.ending().complete(() -> {});
    run.observers().await(next -> next.stage = Stage.RECORDED, RunObserver::tick);
    run.observers().await(next -> next.stage = Stage.REPORTED, RunObserver::tick);
    run.observers().close();
  }

  private static void request(Run run, RunningLevel level, VirtualUsers.User user) {
    var unused = run.nextRequest();
    run.started();
    boolean measured = level.requestStarted(level.measureStartNanos());
    level.requestEnded(measured, 1, user.isNew());
    boolean fails = level.label().equals("c=2");
    run.record((fails ? LevelRecord.failed("c=2") : LevelRecord.ok(level.label())).record());
    level.requestRecorded();
    user.next();
  }

  private void assertComplete(Run run) throws IOException {
    RunInfo info = RunInfo.read(run.files().info()).orElseThrow();
    assertThat(info.state()).isEqualTo(RunInfo.State.COMPLETE);
    assertThat(info.outcome().started()).isEqualTo(RECORDS);
    assertThat(info.outcome().dropped()).isZero();
    assertThat(info.outcome().conclusions())
        .extracting(Conclusion::topic)
        .containsExactly("stopped early");
    assertThat(info.stages()).extracting(LevelInfo::label).containsExactly("c=1", "c=2");
    List<RequestRecord> read = new ArrayList<>();
    RecordFile.read(run.files().requests(), read::add);
    assertThat(read).hasSize(RECORDS);
  }

  private static final List<String> OBSERVERS =
      List.of(
          "console",
          "generator health",
          "server metrics",
          "live page",
          "meters",
          "traces",
          "upload");

  static List<String> observers() {
    return OBSERVERS;
  }

  /** The upload is never there, as it has no server. */
  @ParameterizedTest
  @MethodSource("observers")
  void aRunAndItsRulesNeedNoObserver(String missing) throws IOException {
    Run run =
        open(
            opened -> {
              List<RunObserver> all =
                  new Observers(
                          Observers.address("0"),
                          "http://127.0.0.1:1/v1/metrics",
                          URI.create("http://127.0.0.1:1/v1/traces"),
                          new S3Location("nowhere", "here"))
                      .of(opened, List.of());
              assertThat(all).extracting(RunObserver::name).containsExactlyElementsOf(OBSERVERS);
              List<RunObserver> rest = new ArrayList<>();
              for (RunObserver each : all) {
                if (each.name().equals(missing)) {
                  each.stop(RunView.OPENED);
                } else if (!each.name().equals("upload")) {
                  rest.add(each);
                }
              }
              return rest;
            });
    run(run);
    assertComplete(run);
    assertThat(complaints).isEmpty();
  }

  static Stream<Arguments> faults() {
    return Stream.of(Event.values())
        .flatMap(event -> Stream.of(Fault.values()).map(fault -> Arguments.of(event, fault)));
  }

  /** An observer that does nothing but, at one event, harm. */
  private final class Broken implements RunObserver {
    private final Event harm;
    private final Fault fault;
    private final CountDownLatch happens;

    Broken(Event harm, Fault fault, CountDownLatch happens) {
      this.harm = harm;
      this.fault = fault;
      this.happens = happens;
    }

    private void at(Event event) {
      if (event == harm) {
        happens.countDown();
        if (fault == Fault.THROWS) {
          throw new IllegalStateException("broken");
        }
        assertThatCode(testIsOver::await).doesNotThrowAnyException();
      }
    }

    @Override
    public String name() {
      return "broken";
    }

    @Override
    public Duration patience() {
      return Duration.ofMillis(50);
    }

    @Override
    public void start(RunView view) {
      at(Event.START);
    }

    @Override
    public void records(List<RequestRecord> batch) {
      at(Event.RECORDS);
    }

    @Override
    public void tick(RunView view) {
      at(Event.TICK);
    }

    @Override
    public void stop(RunView view) {
      at(Event.STOP);
    }
  }

  private static final class Listening implements RunObserver {
    private volatile RunView seen = RunView.OPENED;
    private final AtomicInteger requests = new AtomicInteger();

    @Override
    public String name() {
      return "listening";
    }

    @Override
    public void records(List<RequestRecord> batch) {
      requests.addAndGet(batch.size());
    }

    @Override
    public void tick(RunView view) {
      seen = view;
    }
  }

  /** Longer than its patience, whichever event it is in: the run ends, with one line. */
  @ParameterizedTest
  @MethodSource("faults")
  void aBrokenObserverCostsOneLine(Event event, Fault fault) throws Exception {
    CountDownLatch broke = new CountDownLatch(1);
    Listening other = new Listening();
    Run run = open(opened -> List.of(new Broken(event, fault, broke), other));
    run(run);
    assertThat(broke.await(60, TimeUnit.SECONDS)).as("the event came").isTrue();
    assertComplete(run);
    assertThat(complaints).hasSize(1);
    assertThat(complaints.get(0)).startsWith("LLM broken: ");
    assertThat(other.seen.lines).contains("LLM: a line");
    assertThat(other.seen.stage).isEqualTo(Stage.REPORTED);
    assertThat(other.requests.get()).isEqualTo(RECORDS);
  }

  /** Blocked for as many seconds as the run waits before it complains. */
  @Test
  void blockedObserverIsReportedDuringTheRun() throws Exception {
    CountDownLatch broke = new CountDownLatch(1);
    ObserverQueues queues = new ObserverQueues(complaints::add);
    queues.attach(List.of(new Broken(Event.TICK, Fault.BLOCKS, broke)));
    queues.change(next -> next.message("a"));
    broke.await();
    for (int second = 0; second < 3; second++) {
      assertThat(complaints).isEmpty();
      queues.secondPassed();
    }
    assertThat(complaints).singleElement().asString().contains("blocked");
    queues.close();
  }

  /** As by a console that is not read, where the line of a complaint waits. */
  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aComplaintThatIsBlockedHoldsBackNothing() throws Exception {
    CountDownLatch broke = new CountDownLatch(1);
    CountDownLatch complained = new CountDownLatch(1);
    ObserverQueues queues =
        new ObserverQueues(
            line -> {
              complained.countDown();
              assertThatCode(testIsOver::await).doesNotThrowAnyException();
            });
    queues.attach(List.of(new Broken(Event.TICK, Fault.BLOCKS, broke)));
    queues.change(next -> next.message("a"));
    broke.await();
    Thread worker =
        new Thread(
            () -> {
              for (int second = 0; second < 3; second++) {
                queues.secondPassed();
              }
            });
    worker.setDaemon(true);
    worker.start();
    complained.await();
    queues.change(next -> next.message("b"));
    assertThat(worker.isAlive()).isTrue();
    queues.close();
  }

  /** Twice as many records as fit come while it is in the event. */
  @ParameterizedTest
  @EnumSource(
      value = Event.class,
      names = {"RECORDS", "TICK"})
  void fullQueueLosesTheEventsOfItsObserverOnly(Event event) throws Exception {
    CountDownLatch broke = new CountDownLatch(1);
    Listening other = new Listening();
    ObserverQueues queues = new ObserverQueues(complaints::add);
    queues.attach(List.of(new Broken(event, Fault.BLOCKS, broke), other));
    RequestRecord record = LevelRecord.ok("c=1").record();
    queues.requestEnded(record);
    queues.change(next -> next.message("a"));
    broke.await();
    for (int i = 0; i < 2 * ObserverQueues.CAPACITY; i++) {
      queues.requestEnded(record);
      if (i % 10_000 == 0) {
        queues.await(next -> {}, (observer, view) -> {}); // the other one keeps up
      }
    }
    queues.await(next -> {}, (observer, view) -> {});
    queues.secondPassed();
    assertThat(other.requests.get()).isEqualTo(2 * ObserverQueues.CAPACITY + 1);
    assertThat(complaints).hasSize(1);
    queues.close();
  }
}
