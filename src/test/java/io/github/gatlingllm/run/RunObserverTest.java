package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.run.Observers.LevelHooks;
import io.github.gatlingllm.run.Run.RunClock;
import io.github.gatlingllm.run.RunView.Stage;
import io.github.gatlingllm.storage.S3Location;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No observer is needed by a run, and none can harm it. */
@Timeout(120)
class RunObserverTest {

  private static final int RECORDS = 20;
  private static final int ALL = 6;

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

  private record Task(long nanoTime, Runnable action) {}

  /** A run of two levels whose plan is driven in fake time; nobody comes, and records fall in. */
  private void run(Run run) throws IOException {
    run.targetUsed(List.of());
    run.loadAhead();
    run.userStarted();
    PriorityQueue<Task> tasks =
        new PriorityQueue<>((one, other) -> Long.compare(one.nanoTime(), other.nanoTime()));
    long[] now = {System.nanoTime()};
    LoadPlan plan =
        new LoadPlan.Sweep(
            Stream.of(1, 2)
                .<LoadLevel>map(
                    users -> new LoadLevel.Closed(users, new Phases(10, 10, 100, 10, null)))
                .toList());
    new PlanDriver(
            plan.source(),
            () -> now[0],
            (nanoTime, action) -> tasks.add(new Task(nanoTime, action)),
            LevelLogTest.NOBODY,
            run.levels()
                .listener(
                    LevelRecord.TARGET, LevelRecord.SCENARIO, plan, level -> {}, LevelHooks.NONE),
            level -> null)
        .begin();
    for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
      now[0] = task.nanoTime();
      task.action().run();
    }
    for (int i = 0; i < RECORDS; i++) {
      var unused = run.nextRequest();
      run.started();
      run.record(LevelRecord.ok(i % 2 == 0 ? "c=1" : "c=2").record());
    }
    run.observers().secondPassed();
    run.message("LLM: a line");
    run.userEnded();
    run.ending().complete();
    run.observers().await(view -> view.at(Stage.RECORDED), RunObserver::tick);
    run.observers().await(view -> view.at(Stage.REPORTED), RunObserver::tick);
    run.observers().close();
  }

  private void assertWhole(Run run) throws IOException {
    RunInfo info = RunInfo.read(run.files().info()).orElseThrow();
    assertThat(info.state()).isEqualTo(RunInfo.State.COMPLETE);
    assertThat(info.outcome().started()).isEqualTo(RECORDS);
    assertThat(info.outcome().dropped()).isZero();
    assertThat(info.stages()).extracting(LevelInfo::label).containsExactly("c=1", "c=2");
    List<RequestRecord> read = new ArrayList<>();
    RecordFile.read(run.files().requests(), read::add);
    assertThat(read).hasSize(RECORDS);
  }

  /** With all, and without each. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, ALL})
  void aRunIsWholeWithoutAnyObserver(int without) throws IOException {
    Run run =
        open(
            opened -> {
              List<RunObserver> all =
                  new ArrayList<>(
                      new Observers(
                              Observers.Address.parse("0"),
                              "http://127.0.0.1:1/v1/metrics",
                              new S3Location("nowhere", "here"))
                          .of(opened, List.of()));
              assertThat(all).hasSize(ALL);
              if (without < ALL) {
                all.remove(without).stop(RunView.OPENED);
              }
              all.removeIf(observer -> observer instanceof UploadObserver);
              return all;
            });
    run(run);
    assertWhole(run);
    assertThat(complaints).isEmpty();
  }

  static Stream<Method> events() {
    return Arrays.stream(RunObserver.class.getMethods())
        .filter(method -> method.getReturnType() == void.class);
  }

  static Stream<Arguments> faults() {
    return events()
        .flatMap(
            method ->
                Arrays.stream(Fault.values()).map(fault -> Arguments.of(method.getName(), fault)));
  }

  /** An observer that does nothing but, at one event, harm. */
  private RunObserver broken(String event, Fault fault, Runnable happens) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          if (method.getName().equals(event)) {
            happens.run();
            if (fault == Fault.THROWS) {
              throw new IllegalStateException("broken");
            }
            testIsOver.await();
          }
          return switch (method.getName()) {
            case "name" -> "broken";
            case "patience" -> Duration.ofMillis(50);
            case "isOutputLost", "equals" -> false;
            default -> null;
          };
        };
    return (RunObserver)
        Proxy.newProxyInstance(
            RunObserver.class.getClassLoader(), new Class<?>[] {RunObserver.class}, handler);
  }

  private static final class Hearing implements RunObserver {
    private volatile RunView seen = RunView.OPENED;
    private final AtomicInteger requests = new AtomicInteger();

    @Override
    public String name() {
      return "hearing";
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
  void aBrokenObserverCostsOneLine(String event, Fault fault) throws Exception {
    CountDownLatch broke = new CountDownLatch(1);
    Hearing other = new Hearing();
    Run run = open(opened -> List.of(broken(event, fault, broke::countDown), other));
    run(run);
    assertThat(broke.await(60, TimeUnit.SECONDS)).as("the event came").isTrue();
    assertWhole(run);
    assertThat(complaints).hasSize(1);
    assertThat(complaints.get(0)).startsWith("LLM broken: ");
    assertThat(other.seen.lines()).contains("LLM: a line");
    assertThat(other.seen.stage()).isEqualTo(Stage.REPORTED);
    assertThat(other.requests.get()).isEqualTo(RECORDS);
  }

  /** Blocked for as many seconds as the run waits before it says so. */
  @Test
  void blockedObserverIsReportedDuringTheRun() throws Exception {
    CountDownLatch broke = new CountDownLatch(1);
    ObserverQueues queues = new ObserverQueues(complaints::add);
    queues.attach(List.of(broken("tick", Fault.BLOCKS, broke::countDown)));
    queues.change(view -> view.message("a"));
    broke.await();
    for (int second = 0; second < 3; second++) {
      assertThat(complaints).isEmpty();
      queues.secondPassed();
    }
    assertThat(complaints).singleElement().asString().contains("blocked");
    queues.close();
  }

  /** As by a console that nobody reads, where the line of a complaint waits. */
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
    queues.attach(List.of(broken("tick", Fault.BLOCKS, broke::countDown)));
    queues.change(view -> view.message("a"));
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
    queues.change(view -> view.message("b"));
    assertThat(worker.isAlive()).isTrue();
    queues.close();
  }

  /** Twice as many records as fit come while it is in the event. */
  @ParameterizedTest
  @ValueSource(strings = {"records", "tick"})
  void fullQueueLosesTheEventsOfItsObserverOnly(String event) throws Exception {
    CountDownLatch broke = new CountDownLatch(1);
    Hearing other = new Hearing();
    ObserverQueues queues = new ObserverQueues(complaints::add);
    queues.attach(List.of(broken(event, Fault.BLOCKS, broke::countDown), other));
    RequestRecord record = LevelRecord.ok("c=1").record();
    queues.requestEnded(record);
    queues.change(view -> view.message("a"));
    broke.await();
    for (int i = 0; i < 2 * ObserverQueues.CAPACITY; i++) {
      queues.requestEnded(record);
      if (i % 10_000 == 0) {
        queues.await(view -> view, (observer, view) -> {}); // the other one keeps up
      }
    }
    queues.await(view -> view, (observer, view) -> {});
    queues.secondPassed();
    assertThat(other.requests.get()).isEqualTo(2 * ObserverQueues.CAPACITY + 1);
    assertThat(complaints).hasSize(1);
    queues.close();
  }
}
