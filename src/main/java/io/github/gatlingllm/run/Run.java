package io.github.gatlingllm.run;

import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel.Injection;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.Recorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.TargetSlo;
import io.github.gatlingllm.report.ConsoleBlock;
import io.github.gatlingllm.run.health.GeneratorLog;
import io.github.gatlingllm.run.live.LiveView;
import io.github.gatlingllm.run.server.MetricsPage;
import io.github.gatlingllm.run.server.ServerWatch;
import io.github.gatlingllm.storage.RunUpload;
import io.github.gatlingllm.storage.S3Location;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A run: numbers and records its requests, prints its progress, and makes its report after Gatling
 * has written its own. Thread-safe.
 */
public final class Run {

  private static final long CONSOLE_SECONDS = 5;

  /** Longest wait for the records of cancelled requests: there is little time after a SIGTERM. */
  private static final Duration CANCELLING = Duration.ofSeconds(2);

  private static final Duration DRAIN = Duration.ofSeconds(30);

  private final RunDirectory directory;
  private final RunFiles files;
  private final RunClock clock;
  private final Recorder recorder;
  private final Host host = new Host();
  private final LevelTally tally;
  private final LevelLog levels;
  private final RunConsole console;
  private final InjectedLevels injected = new InjectedLevels();
  private final ArrivalLog arrivals;
  private final GeneratorLog generator;
  private final ServerWatch server;
  private final List<AutoCloseable> closedAtEnd = new CopyOnWriteArrayList<>();
  private final @Nullable LiveView view;

  /** Prints and saves, so that no event loop waits for it. */
  private final ScheduledThreadPoolExecutor worker;

  private final List<String> conclusions = new CopyOnWriteArrayList<>();
  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong started = new AtomicLong();
  private final AtomicLong inFlight = new AtomicLong();
  private final AtomicLong users = new AtomicLong();

  private final AtomicBoolean over = new AtomicBoolean();

  private volatile @Nullable GatlingExit exit;
  private volatile boolean isRefused;
  private volatile long unwritten;

  private String lastFailure = "";
  private volatile Consumer<Duration> beforeInterruption = atMost -> {};
  private volatile LongSupplier unrecordedRequests = () -> 0;
  private RunInfo info;

  Run(RunDirectory directory, String injector, RunClock clock, LiveView.Options watched)
      throws IOException {
    this.directory = directory;
    this.clock = clock;
    files = new RunFiles(directory.path());
    tally = new LevelTally(clock);
    levels = new LevelLog(clock, tally, host);
    console = new RunConsole(levels, tally, inFlight::get);
    generator = new GeneratorLog(files.generator(), injector, clock::unixNanos, this::load);
    server =
        new ServerWatch(
            files.server(),
            clock::unixNanos,
            System::nanoTime,
            line -> System.out.println(ConsoleBlock.visible(line)));
    view = LiveView.open(watched(), watched, System.out::println);
    if (view != null) {
      generator.listen(view::generatorSecond);
    }
    recorder =
        Recorder.open(
            files.requests(),
            record -> {
              tally.accept(record);
              injected.accept(record);
              console.accept(record);
              generator.accept(record);
              if (view != null) {
                view.requestEnded(record);
              }
            });
    info =
        RunInfo.started(
                directory.id(),
                directory.simulation(),
                injector,
                clock.unixNanos(System.nanoTime()))
            .machines(Map.of(injector, SelfTestResults.machineHere()));
    worker = new ScheduledThreadPoolExecutor(1, new DefaultThreadFactory("llm-run", true));
    worker.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    arrivals =
        new ArrivalLog(
            files.arrivals(),
            clock,
            Executors.newSingleThreadExecutor(new DefaultThreadFactory("llm-arrivals", true)));
    save();
    every(CONSOLE_SECONDS, console::print);
    every(1, generator::write);
  }

  private LiveView.Watched watched() {
    return new LiveView.Watched(
        directory.simulation(),
        directory.id(),
        files.page(),
        clock.unixNanos(System.nanoTime()),
        console::peek,
        this::levels);
  }

  private void every(long seconds, Runnable task) {
    var unused = worker.scheduleAtFixedRate(task, seconds, seconds, TimeUnit.SECONDS);
  }

  /** Starts to measure the lag of these event loops. */
  public void watch(Iterable<? extends EventExecutor> eventLoops) {
    generator.watch(eventLoops);
  }

  /** Registers a server to be closed at the end of the run; null is ignored. */
  public void closeAtEnd(@Nullable AutoCloseable server) {
    if (server != null) {
      closedAtEnd.add(server);
    }
  }

  private static void close(AutoCloseable server) {
    try {
      server.close();
    } catch (Exception e) {
      System.out.println("LLM: a server of the simulation could not be closed: " + e);
    }
  }

  /** Starts to read metrics pages once a second; waits for the first reading, at most a second. */
  public void watchServer(List<MetricsPage> pages) {
    server.add(pages);
  }

  /** Reads the metrics pages now, right before the load, and waits for that. */
  public void refreshServer() {
    server.refresh();
  }

  /** A virtual user has started. */
  public void userStarted() {
    users.incrementAndGet();
    server.userStarted();
  }

  /** A virtual user has left. After the last one the server may be stopped. */
  public void userEnded() {
    if (users.decrementAndGet() == 0) {
      server.allUsersEnded();
    }
  }

  private GeneratorLog.Load load() {
    return new GeneratorLog.Load(
        inFlight.get(), recorder.waiting(), recorder.dropped() + recorder.failed());
  }

  /**
   * Opens the run's files, and registers the shutdown hook that makes the report.
   *
   * @throws UncheckedIOException with one line, if records cannot be written
   * @throws IllegalArgumentException with one line, if a setting of the process is invalid
   */
  public static Run open(RunDirectory directory, String injector) {
    try {
      LiveView.Options watched = LiveView.Options.of(System.getProperties(), System.getenv());
      S3Location uploadTo = S3Location.ofProcess(System.getProperties(), System.getenv());
      check(uploadTo);
      Run run = new Run(directory, injector, RunClock.system(), watched);
      Runtime.getRuntime()
          .addShutdownHook(new Thread(new AfterRun(run, System.out, uploadTo), "llm-report"));
      return run;
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  private static void check(@Nullable S3Location uploadTo) {
    try {
      if (uploadTo != null) {
        RunUpload.check(uploadTo);
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          S3Location.UPLOAD_PROPERTY + ": " + e.getMessage() + "; no load is sent", e);
    }
  }

  /** The run's id: the name of its directory. */
  public String id() {
    return directory.id();
  }

  /** The id of a request: unique also among injectors on one host that started at the same time. */
  public String requestId(long number) {
    InjectorShare share = info.share();
    return id() + (share == null ? "-" : "-" + share.index() + "-") + number;
  }

  /** The name of this load generator. */
  public String injector() {
    return info.injector();
  }

  /** Takes the number of the next request, from 0. */
  public long nextRequest() {
    long number = requests.getAndIncrement();
    if (number == 0) {
      console.begin();
      server.begin();
    }
    return number;
  }

  /** Whether any request was sent. */
  boolean hasRequests() {
    return requests.get() > 0;
  }

  /** Converts epoch time to {@link System#nanoTime()}. */
  public long nanoTime(long unixNanos) {
    return clock.nanoTime(unixNanos);
  }

  /** Converts {@link System#nanoTime()} to epoch time. */
  public long unixNanos(long nanoTime) {
    return clock.unixNanos(nanoTime);
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

  /** Records a request; never blocks. */
  public void record(RequestRecord record) {
    if (recorder.record(record)) {
      tally.handedOver();
    }
  }

  /**
   * The listener of a load plan. Must be requested before the load starts, since the progress of
   * the run depends on all its plans.
   *
   * @param cancel cancels the requests of a level that are still in flight
   */
  public RunningLevel.Listener levels(
      String target, String scenario, LoadPlan plan, Consumer<RunningLevel> cancel) {
    return levels.listener(target, scenario, plan.plannedNanos(), cancel);
  }

  /** Connects the load levels with the run. */
  private final class Host implements LevelLog.Host {
    @Override
    public void levelsChanged() {
      after(Duration.ZERO, Run.this::save);
    }

    /** Drops the task if the run has ended. */
    @Override
    public void after(Duration delay, Runnable task) {
      try {
        var unused = worker.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) {
        // The run has ended and was saved.
      }
    }

    @Override
    public void arrivalsDescribed(Schedule schedule, String description) {
      Run.this.arrivalsDescribed(schedule, description);
    }

    @Override
    public void arrivalsPlanned(Schedule schedule, Iterator<Planned> planned, long startNanos) {
      arrivals.write(schedule, planned, startNanos, written -> {});
    }

    @Override
    public void windowEdge(long nanoTime) {
      generator.edge(nanoTime);
      long toGo = Math.max(0, nanoTime - System.nanoTime());
      after(Duration.ofNanos(toGo), generator::cut);
    }

    @Override
    public void print(String line) {
      after(Duration.ZERO, () -> System.out.println(line));
    }

    @Override
    public void finished(String level, @Nullable LiveFigures figures) {
      if (figures == null) {
        System.out.println("LLM " + level + ": ended before its measure window began");
        return;
      }
      System.out.println(ConsoleBlock.finished(level, figures));
      if (view != null) {
        view.levelFinished(level, figures);
      }
    }

    @Override
    public void countArrivals(
        Iterator<Planned> schedule, long fromNanos, long untilNanos, LongConsumer count) {
      arrivals.count(schedule, fromNanos, untilNanos, count);
    }

    @Override
    public void concluded(String target, String scenario, LoadPlan.Conclusion conclusion) {
      String line =
          "LLM %s (%s, %s): %s".formatted(conclusion.topic(), target, scenario, conclusion.text());
      conclusions.add(line);
      System.out.println(line);
      describe(
          info ->
              info.config(conclusion.topic() + " " + target, conclusion.text())
                  .conclusion(
                      new RunInfo.Conclusion(
                          conclusion.topic(),
                          target,
                          scenario,
                          conclusion.text(),
                          conclusion.sound(),
                          conclusion.value(),
                          conclusion.threshold(),
                          conclusion.holdsAt(),
                          conclusion.failsAt())));
    }

    @Override
    public TargetSlo slo(String target) {
      synchronized (Run.this) {
        return info.judgeOf(target);
      }
    }
  }

  /** The conclusions of load plans, one line each. */
  List<String> conclusions() {
    return List.copyOf(conclusions);
  }

  /**
   * Identifies a schedule of arrivals.
   *
   * @param scenario name of the scenario
   * @param target label of the target
   * @param level label of the load level, {@link LevelInfo#WHOLE_RUN} outside load plans
   */
  public record Schedule(String scenario, String target, String level) {}

  /**
   * Gatling's own injection has started its first user of a scenario.
   *
   * @param startNanos when its first step began, on {@link System#nanoTime()}
   */
  public void injectionStarted(Schedule schedule, Injection injection, long startNanos) {
    injected.begin(schedule, injection, clock.unixNanos(startNanos));
    host.windowEdge(startNanos + injection.fromNanos());
    host.windowEdge(startNanos + injection.untilNanos());
    host.levelsChanged();
  }

  /**
   * Writes the planned arrivals of a schedule; returns at once.
   *
   * @param description the arrival process in words, with seeds
   * @param arrivals iterated on another thread; must not be shared
   * @param startNanos start of the schedule on {@link System#nanoTime()}
   */
  public void arrivalsPlanned(
      Schedule schedule, String description, Iterator<Planned> arrivals, long startNanos) {
    arrivalsDescribed(schedule, description);
    this.arrivals.write(
        schedule,
        arrivals,
        startNanos,
        count -> {
          injected.planned(schedule, count);
          host.levelsChanged();
        });
  }

  private void arrivalsDescribed(Schedule schedule, String description) {
    boolean whole = schedule.level().equals(LevelInfo.WHOLE_RUN);
    String name = whole ? schedule.scenario() : schedule.scenario() + " " + schedule.level();
    host.print("LLM arrivals of " + name + ": " + description);
    host.after(Duration.ZERO, () -> describe(info -> info.config("arrivals " + name, description)));
  }

  /** Changes {@code run.json}. */
  public synchronized void describe(UnaryOperator<RunInfo> more) {
    info = more.apply(info);
    save();
  }

  /**
   * Sets what is done before an interrupted run is closed.
   *
   * @param cancelling cancels the requests in flight within the given time
   * @param left number of requests without a record, which are then counted as dropped
   */
  public void beforeInterruption(Consumer<Duration> cancelling, LongSupplier left) {
    beforeInterruption = cancelling;
    unrecordedRequests = left;
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

  /** Whether no load is sent. */
  boolean isRefused() {
    return isRefused;
  }

  /** Whether the run has ended and accepts no more records. */
  public boolean isOver() {
    return over.get();
  }

  /** Whether a load level is running. */
  public boolean isLevelRunning() {
    return levels.progress(System.nanoTime()) != null;
  }

  RunFiles files() {
    return files;
  }

  /** Sets the exit code of the build; null if it was not Gatling that ended the run. */
  @Nullable GatlingExit exit() {
    return exit;
  }

  /** Whether records could not be written, so that the report is incomplete. */
  boolean isRecordLost() {
    return unwritten > 0;
  }

  /** Ends the run, unless it has ended; the report is made from the records so far. */
  RunInfo end(RunInfo.State state) {
    if (over.compareAndSet(false, true)) {
      worker.shutdown(); // a line that is being written is completed
      if (state == RunInfo.State.INTERRUPTED) {
        levels.interrupted(System.nanoTime());
        beforeInterruption.accept(CANCELLING);
      } else {
        exit = new GatlingExit();
      }
      server.close();
      closedAtEnd.forEach(Run::close);
      arrivals.close(state == RunInfo.State.COMPLETE ? DRAIN : Duration.ofSeconds(1));
      boolean whole = state == RunInfo.State.COMPLETE ? recorder.close(DRAIN) : recorder.freeze();
      long unrecorded = state == RunInfo.State.INTERRUPTED ? unrecordedRequests.getAsLong() : 0;
      if (!whole || unrecorded > 0) {
        System.out.println(
            "LLM: not all records could be written in time; run.json has the number of missing ones"
                + " (dropped)");
      }
      generator.close();
      unwritten = recorder.failed();
      if (unwritten > 0) {
        System.out.println(
            String.format(
                Locale.ROOT,
                "LLM records: %,d of %,d could not be written; the run is invalid",
                unwritten,
                started.get()));
      }
      long lost = recorder.dropped() + unwritten + unrecorded;
      long now = clock.unixNanos(System.nanoTime());
      describe(info -> info.ended(now, state).dropped(lost).started(started.get()));
      if (view != null) {
        view.close();
      }
    }
    return info;
  }

  /** Adds the results of the self-test to the run, after its end. */
  void selfTest(SelfTestResults results, Consumer<String> say) {
    SelfTest known = results.atEndOf(info, files, clock::unixNanos, say);
    describe(info -> info.selfTest(known));
  }

  private synchronized void save() {
    List<LevelInfo> all = levels();
    info = info.stages(all).planned(LevelInfo.planned(all));
    try {
      info.write(files.info());
    } catch (IOException e) {
      String failure = "LLM run.json could not be written: " + e.getMessage();
      if (!failure.equals(lastFailure)) {
        lastFailure = failure;
        System.out.println(failure);
      }
    }
  }

  /** All load levels by start time. */
  private List<LevelInfo> levels() {
    List<LevelInfo> all = new ArrayList<>(levels.levels());
    all.addAll(injected.levels(info.endUnixNanos(), clock.unixNanos(System.nanoTime())));
    all.sort(Comparator.comparingLong(Run::begin));
    return all;
  }

  private static long begin(LevelInfo level) {
    return level.phases().isEmpty() ? Long.MAX_VALUE : level.phases().get(0).startUnixNanos();
  }
}
