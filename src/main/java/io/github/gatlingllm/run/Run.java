package io.github.gatlingllm.run;

import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.prefs.BackingStoreException;
import java.util.prefs.Preferences;
import java.util.stream.Stream;

/**
 * A run: a directory, a clock, a recorder, the results of its levels and a list of observers.
 * Numbers and records requests, writes {@code run.json}, and passes on to the observers what
 * happens. Thread-safe.
 */
public final class Run {

  /** A field, because a logger without a reference loses its level. */
  private static final Logger PREFERENCES = Logger.getLogger("java.util.prefs");

  private final RunDirectory directory;
  private final RunFiles files;
  private final RunClock clock;
  private final WriteFailures failures;
  private final Recorder recorder;
  private final ObserverQueues observers;
  private final RunLevels levels;
  private final AfterRun ending;

  private final ScheduledThreadPoolExecutor worker;

  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong started = new AtomicLong();
  private final AtomicLong inFlight = new AtomicLong();
  private final AtomicLong users = new AtomicLong();
  private volatile RunInfo info;

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
    failures = new WriteFailures(files.folder(), complaints);
    levels = new RunLevels(this);
    recorder =
        Recorder.open(
            files.requests(),
            record -> {
              if (record.checked() == null) {
                observers.requestEnded(record);
                levels.requestEnded(record);
              }
            },
            failures);
    info =
        RunInfo.started(
                directory.id(),
                directory.simulation(),
                injector,
                clock.unixNanos(System.nanoTime()))
            .machines(Map.of(injector, SelfTestResults.machineHere()));
    worker = new ScheduledThreadPoolExecutor(1, threads("llm-run"));
    worker.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    ending = new AfterRun(this, recorder, worker);
    save();
    observers.attach(observing.apply(this));
    var unused = worker.scheduleAtFixedRate(observers::secondPassed, 1, 1, TimeUnit.SECONDS);
  }

  static ThreadFactory threads(String name) {
    return new DefaultThreadFactory(name, true);
  }

  /** Lets an executor end its tasks; returns whether it did in that time. */
  static boolean close(ExecutorService executor, Duration patience) {
    executor.shutdown();
    try {
      return executor.awaitTermination(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Checks that the results folder can be written, before Gatling's writers fail with a stack
   * trace, and silences {@code java.util.prefs}, in which Gatling's version check stores its date:
   * it would write at the end, when the disk may be full.
   *
   * @throws IllegalArgumentException if it cannot be; the message is one line
   */
  public static void checkResultsFolder() {
    PREFERENCES.setLevel(Level.OFF);
    if (RunDirectory.checkRoot()) {
      threads("llm-preferences").newThread(Run::writePreferences).start();
    }
  }

  private static void writePreferences() {
    try {
      Preferences.userRoot().flush();
    } catch (BackingStoreException | RuntimeException | AssertionError e) {
      // Without a writable home directory Gatling requests its newest version in each run.
    }
  }

  public static Path resultsFolder(Object statsEngine) {
    return Objects.requireNonNull(RunDirectory.of(statsEngine).path().getParent());
  }

  public static Run open(
      Object statsEngine,
      String injector,
      Observers observers,
      Iterable<? extends EventExecutor> eventLoops) {
    try {
      Run run =
          new Run(
              RunDirectory.of(statsEngine),
              injector,
              RunClock.system(),
              PrintableText::print,
              opened -> observers.of(opened, eventLoops));
      run.failures.replaceTraces();
      Runtime.getRuntime().addShutdownHook(new Thread(run.ending, "llm-report"));
      return run;
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "the run's folder cannot be written: " + RunFiles.reason(e), e);
    }
  }

  public String id() {
    return directory.id();
  }

  public String simulation() {
    return directory.simulation();
  }

  public RunFiles files() {
    return files;
  }

  ObserverQueues observers() {
    return observers;
  }

  WriteFailures failures() {
    return failures;
  }

  RunClock clock() {
    return clock;
  }

  /** The id of a request: unique also among injectors on one host that started at the same time. */
  public String requestId(long number) {
    InjectorShare share = info().share();
    return id() + (share == null ? "-" : "-" + share.index() + "-") + number;
  }

  public String injector() {
    return info().injector();
  }

  public long nanoTime(long unixNanos) {
    return clock.nanoTime(unixNanos);
  }

  public long unixNanos(long nanoTime) {
    return clock.unixNanos(nanoTime);
  }

  public void targetUsed(List<MetricsPage> pages) {
    observers.await(
        next -> next.pages = Stream.concat(next.pages.stream(), pages.stream()).toList(),
        RunObserver::start);
  }

  public void message(String line) {
    observers.change(next -> next.message(line));
  }

  /** The warm-up is over; waits for the observers. */
  public void beforeLoad() {
    observers.await(next -> {}, RunObserver::start);
    ending.beforeLoad();
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

  /** Read when the view changes, as two threads may change places. */
  private void usersChanged() {
    observers.change(next -> next.isIdle = users.get() == 0);
  }

  /** Takes the number of the next request, from 0. */
  public long nextRequest() {
    long number = requests.getAndIncrement();
    if (number == 0) {
      observers.change(next -> next.beganNanos = System.nanoTime());
    }
    return number;
  }

  boolean hasRequests() {
    return requests.get() > 0;
  }

  /** A record will follow. */
  public void started() {
    started.incrementAndGet();
  }

  public void admitted() {
    inFlight.incrementAndGet();
  }

  public void ended() {
    inFlight.decrementAndGet();
  }

  public long inFlight() {
    return inFlight.get();
  }

  public long waitingRecords() {
    return recorder.waiting();
  }

  long startedRequests() {
    return started.get();
  }

  public long lostRecords() {
    return recorder.dropped() + recorder.failed();
  }

  /** Records a request; never blocks. */
  public void record(RequestRecord record) {
    boolean unused = recorder.record(record);
  }

  /** Runs a short task when the levels have counted all records so far. */
  void whenCounted(Runnable task) {
    recorder.then(task);
  }

  public RunLevels levels() {
    return levels;
  }

  void after(Duration delay, Runnable task) {
    try {
      var unused = worker.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The run has ended and was saved.
    }
  }

  /** Changes the information and writes {@code run.json}, with the load levels so far. */
  public synchronized void describe(UnaryOperator<RunInfo> more) {
    info = more.apply(info);
    List<LevelInfo> all = levels.all();
    info = info.stages(all).planned(LevelInfo.planned(all));
    try {
      info.write(files.info());
    } catch (IOException e) {
      failures.add("run.json", e);
    }
  }

  /** Waits for no disk. */
  RunInfo info() {
    return info;
  }

  void save() {
    describe(info -> info);
  }

  public AfterRun ending() {
    return ending;
  }

  /** Converts monotonic to epoch time with one anchor per run. */
  record RunClock(long anchorUnixNanos, long anchorNanoTime) {

    static RunClock system() {
      return anchor(InstantSource.system(), System::nanoTime);
    }

    static RunClock anchor(InstantSource wall, LongSupplier nanoClock) {
      long before = nanoClock.getAsLong();
      Instant now = wall.instant();
      long after = nanoClock.getAsLong();
      return new RunClock(
          now.getEpochSecond() * 1_000_000_000L + now.getNano(), before + (after - before) / 2);
    }

    long nanoTime(long unixNanos) {
      return anchorNanoTime + (unixNanos - anchorUnixNanos);
    }

    long unixNanos(long nanoTime) {
      return anchorUnixNanos + (nanoTime - anchorNanoTime);
    }
  }
}
