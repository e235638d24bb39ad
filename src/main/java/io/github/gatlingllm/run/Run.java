package io.github.gatlingllm.run;

import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.Recorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A run: a directory, a clock, a recorder and a list of observers. Numbers and records requests,
 * keeps {@code run.json}, and tells the observers what happens. Thread-safe.
 */
public final class Run {

  /** Longest wait for the records of cancelled requests: there is little time after a SIGTERM. */
  private static final Duration CANCELLING = Duration.ofSeconds(2);

  private static final Duration DRAIN = Duration.ofSeconds(30);

  private final RunDirectory directory;
  private final RunFiles files;
  private final RunClock clock;
  private final Recorder recorder;
  private final ObserverQueues observers;
  private final RunLevels levels;
  private final RunInfoFile infoFile;
  private final List<AutoCloseable> closedAtEnd = new CopyOnWriteArrayList<>();

  /** Saves, and tells the observers the time, so that no event loop waits for it. */
  private final ScheduledThreadPoolExecutor worker;

  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong started = new AtomicLong();
  private final AtomicLong inFlight = new AtomicLong();
  private final AtomicLong users = new AtomicLong();
  private final AtomicBoolean over = new AtomicBoolean();

  private volatile @Nullable GatlingExit exit;
  private volatile boolean isRefused;
  private volatile long unwritten;
  private volatile Consumer<Duration> beforeInterruption = atMost -> {};
  private volatile LongSupplier unrecordedRequests = () -> 0;

  Run(
      RunDirectory directory,
      String injector,
      RunClock clock,
      Consumer<String> complaints,
      Function<Run, List<RunObserver>> observing)
      throws IOException {
    this.directory = directory;
    this.clock = clock;
    observers = new ObserverQueues(complaints);
    files = new RunFiles(directory.path());
    levels = new RunLevels(this, observers);
    recorder =
        Recorder.open(
            files.requests(),
            record -> {
              levels.requestEnded(record);
              observers.requestEnded(record);
            });
    infoFile =
        new RunInfoFile(
            files.info(),
            RunInfo.started(
                    directory.id(),
                    directory.simulation(),
                    injector,
                    clock.unixNanos(System.nanoTime()))
                .machines(Map.of(injector, SelfTestResults.machineHere())),
            levels::all);
    worker = new ScheduledThreadPoolExecutor(1, threads("llm-run"));
    worker.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    save();
    observers.attach(observing.apply(this));
    var unused = worker.scheduleAtFixedRate(observers::secondPassed, 1, 1, TimeUnit.SECONDS);
  }

  static ThreadFactory threads(String name) {
    return new DefaultThreadFactory(name, true);
  }

  /**
   * Opens the run's files, and registers the shutdown hook that makes the report.
   *
   * @throws UncheckedIOException with one line, if records cannot be written
   */
  public static Run open(
      RunDirectory directory, String injector, Function<Run, List<RunObserver>> observing) {
    try {
      Run run = new Run(directory, injector, RunClock.system(), System.out::println, observing);
      Runtime.getRuntime().addShutdownHook(new Thread(new AfterRun(run, System.out), "llm-report"));
      return run;
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  /** The run's id: the name of its directory. */
  public String id() {
    return directory.id();
  }

  /** Class name of the simulation. */
  public String simulation() {
    return directory.simulation();
  }

  public RunFiles files() {
    return files;
  }

  ObserverQueues observers() {
    return observers;
  }

  RunClock clock() {
    return clock;
  }

  /** The id of a request: unique also among injectors on one host that started at the same time. */
  public String requestId(long number) {
    InjectorShare share = info().share();
    return id() + (share == null ? "-" : "-" + share.index() + "-") + number;
  }

  /** The name of this load generator. */
  public String injector() {
    return info().injector();
  }

  /** Converts epoch time to {@link System#nanoTime()}. */
  public long nanoTime(long unixNanos) {
    return clock.nanoTime(unixNanos);
  }

  /** Converts {@link System#nanoTime()} to epoch time. */
  public long unixNanos(long nanoTime) {
    return clock.unixNanos(nanoTime);
  }

  /** The observer of that type; null if the run has none. */
  public <T extends RunObserver> @Nullable T observer(Class<T> type) {
    return observers.find(type);
  }

  /** Tells the user something, in one line. */
  public void message(String line) {
    observers.tell(observer -> observer.message(line));
  }

  /** Registers a server to be closed at the end of the run; null is ignored. */
  public void closeAtEnd(@Nullable AutoCloseable server) {
    if (server != null) {
      closedAtEnd.add(server);
    }
  }

  /** The warm-up is over; waits for the observers. */
  public void loadAhead() {
    observers.await(RunObserver::loadAhead);
  }

  public void userStarted() {
    if (users.getAndIncrement() == 0) {
      usersChanged();
    }
  }

  /** A virtual user has left. After the last one the server may be stopped. */
  public void userEnded() {
    if (users.decrementAndGet() == 0) {
      usersChanged();
    }
  }

  /** Read when the event is delivered, as events of two threads may change places. */
  private void usersChanged() {
    observers.tell(observer -> observer.usersChanged(users.get() > 0));
  }

  /** Takes the number of the next request, from 0. */
  public long nextRequest() {
    long number = requests.getAndIncrement();
    if (number == 0) {
      observers.tell(RunObserver::runBegan);
    }
    return number;
  }

  /** Whether any request was sent. */
  boolean hasRequests() {
    return requests.get() > 0;
  }

  /** A request has started, whose record will follow. */
  public void started() {
    started.incrementAndGet();
  }

  /** A request was admitted. */
  public void admitted() {
    inFlight.incrementAndGet();
  }

  /** An admitted request has ended. */
  public void ended() {
    inFlight.decrementAndGet();
  }

  /** Admitted requests that have not ended. */
  public long inFlight() {
    return inFlight.get();
  }

  /** Records that wait to be written. */
  public long waitingRecords() {
    return recorder.waiting();
  }

  /** Records lost so far. */
  public long lostRecords() {
    return recorder.dropped() + recorder.failed();
  }

  /** Records a request; never blocks. */
  public void record(RequestRecord record) {
    if (recorder.record(record)) {
      observers.handedOver();
    }
  }

  /** The load levels. */
  public RunLevels levels() {
    return levels;
  }

  /** Identifies a schedule of arrivals. */
  public record Schedule(String scenario, String target, String level) {}

  /** Runs a task on the run's own thread, unless the run has ended. */
  void after(Duration delay, Runnable task) {
    try {
      var unused = worker.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The run has ended and was saved.
    }
  }

  /** Changes {@code run.json}. */
  public void describe(UnaryOperator<RunInfo> more) {
    infoFile.change(more);
  }

  RunInfo info() {
    return infoFile.info();
  }

  void save() {
    infoFile.change(info -> info);
  }

  /** Sets what is done before an interrupted run is closed. */
  public void beforeInterruption(Consumer<Duration> cancelling, LongSupplier unrecorded) {
    beforeInterruption = cancelling;
    unrecordedRequests = unrecorded;
  }

  /** All requests have ended, and no more are sent. */
  public void complete() {
    end(RunInfo.State.COMPLETE);
  }

  /**
   * Gatling stops the run while load is on: requests in flight are cancelled, and all records are
   * kept.
   */
  public void stopped() {
    if (!isOver()) {
      exit = new GatlingExit();
      end(RunInfo.State.INTERRUPTED);
    }
  }

  /** No load is sent, for a reason that was printed: no report is made. */
  public void refuse() {
    isRefused = true;
  }

  boolean isRefused() {
    return isRefused;
  }

  /** Whether the run has ended and accepts no more records. */
  public boolean isOver() {
    return over.get();
  }

  /** Sets the exit code of the build; null if it was not Gatling that ended the run. */
  @Nullable GatlingExit exit() {
    return exit;
  }

  /** Ends the run, unless it has ended; the report is made from the records so far. */
  RunInfo end(RunInfo.State state) {
    if (over.compareAndSet(false, true)) {
      closeWorker();
      boolean isComplete = state == RunInfo.State.COMPLETE;
      if (isComplete) {
        exit = new GatlingExit();
      } else {
        levels.interrupted();
        beforeInterruption.accept(CANCELLING);
      }
      levels.close(isComplete ? DRAIN : Duration.ofSeconds(1));
      closeRecorder(isComplete);
      observers.await(observer -> {}); // the last levels have ended now
      observers.ask(observer -> observer.runEnded(info())).forEach(this::describe);
      closedAtEnd.forEach(Run::close);
    }
    return info();
  }

  /** A file that is being written is completed. */
  private void closeWorker() {
    worker.shutdown();
    try {
      var unused = worker.awaitTermination(1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeRecorder(boolean isComplete) {
    boolean isWhole = isComplete ? recorder.close(DRAIN) : recorder.freeze();
    long unrecorded = isComplete ? 0 : unrecordedRequests.getAsLong();
    if (!isWhole || unrecorded > 0) {
      System.out.println(
          "LLM: not all records could be written in time; run.json has the number of missing ones"
              + " (dropped)");
    }
    unwritten = recorder.failed();
    if (unwritten > 0) {
      System.out.println(
          String.format(
              Locale.ROOT,
              "LLM records: %,d of %,d could not be written; the run is invalid",
              unwritten,
              started.get()));
    }
    long lost = lostRecords() + unrecorded;
    long now = clock.unixNanos(System.nanoTime());
    RunInfo.State state = isComplete ? RunInfo.State.COMPLETE : RunInfo.State.INTERRUPTED;
    describe(info -> info.ended(now, state).dropped(lost).started(started.get()));
  }

  private static void close(AutoCloseable server) {
    try {
      server.close();
    } catch (Exception e) {
      System.out.println("LLM: a server of the simulation could not be closed: " + e);
    }
  }

  /** Whether records or other output was lost, so that the build fails. */
  boolean isOutputLost() {
    return unwritten > 0 || observers.ask(RunObserver::isOutputLost).contains(true);
  }
}
