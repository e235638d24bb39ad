package io.github.gatlingllm.run;

import io.github.gatlingllm.live.LiveView;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel.Injection;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.processes.ParentProcess;
import io.github.gatlingllm.processes.ParentProcess.LoadProgress;
import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.Recorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.TargetSlo;
import io.github.gatlingllm.report.ConsoleBlock;
import io.github.gatlingllm.selftest.SelfTestResults;
import io.github.gatlingllm.stats.LiveStats;
import io.github.gatlingllm.stats.LiveStats.LiveFigures;
import io.github.gatlingllm.stats.LiveStats.LiveFigures.Progress;
import io.github.gatlingllm.store.RunUpload;
import io.github.gatlingllm.store.S3Location;
import io.github.gatlingllm.telemetry.GeneratorLog;
import io.github.gatlingllm.telemetry.MetricsPage;
import io.github.gatlingllm.telemetry.ServerWatch;
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
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One run while it is on: numbers its requests, records them, prints how it goes, and makes its
 * report when Gatling has written its own. Safe for use by several threads.
 */
public final class Run {

  private static final long CONSOLE_SECONDS = 5;

  /** Longest wait for the records of cancelled requests; who sends a SIGTERM waits for us. */
  private static final Duration CANCELLING = Duration.ofSeconds(2);

  private static final Duration DRAIN = Duration.ofSeconds(30);

  private final RunDirectory directory;
  private final RunFiles files;
  private final RunClock clock;
  private final Recorder recorder;
  private final LiveStats live;
  private final Host host = new Host();
  private final LevelTally tally;
  private final LevelLog levels;
  private final InjectedLevels injected = new InjectedLevels();
  private final ArrivalLog arrivals;
  private final GeneratorLog generator;
  private final ServerWatch server;
  private final List<AutoCloseable> closedAtEnd = new CopyOnWriteArrayList<>();
  private final @Nullable LiveView view;

  /** Prints and saves; nothing that an event loop could wait for. */
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

  /** Of {@link System#nanoTime()}; 0 before. */
  private volatile long firstRequestNanos;

  private final boolean isLinesOnly = isLinesOnly(System.getenv());
  private String lastFailure = "";
  private volatile Consumer<Duration> beforeInterruption = atMost -> {};
  private volatile LongSupplier underWay = () -> 0;
  private RunInfo info;

  Run(RunDirectory directory, String injector, RunClock clock, LiveView.Options watched)
      throws IOException {
    this.directory = directory;
    this.clock = clock;
    files = new RunFiles(directory.path());
    live = new LiveStats(System::nanoTime);
    tally = new LevelTally(clock);
    levels = new LevelLog(clock, tally, host);
    generator = new GeneratorLog(files.generator(), injector, clock::unixNanos, this::load);
    server =
        new ServerWatch(
            files.server(),
            clock::unixNanos,
            System::nanoTime,
            line -> System.out.println(ConsoleBlock.visible(line)));
    view = LiveView.open(watched(), watched, System.out::println);
    if (view != null) {
      generator.listen(view::fared);
    }
    recorder =
        Recorder.open(
            files.requests(),
            record -> {
              tally.accept(record);
              injected.accept(record);
              if (!tally.hasLevels()) {
                live.accept(record);
              }
              generator.accept(record);
              if (view != null) {
                view.ended(record);
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
    every(CONSOLE_SECONDS, this::print);
    every(1, generator::write);
  }

  private LiveView.Watched watched() {
    return new LiveView.Watched(
        directory.simulation(),
        directory.id(),
        files.page(),
        clock.unixNanos(System.nanoTime()),
        () -> figures(levels.peek(), live::peek),
        this::levels);
  }

  private void every(long seconds, Runnable task) {
    var unused = worker.scheduleAtFixedRate(task, seconds, seconds, TimeUnit.SECONDS);
  }

  /** Has the event loops that read and send watched: how late they are is in the run's files. */
  public void watch(Iterable<? extends EventExecutor> eventLoops) {
    generator.watch(eventLoops);
  }

  /** Closes it at the end of the run; null for nothing. */
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

  /** Has pages of metrics read from now on; waits for the first time, at most a second. */
  public void watchServer(List<MetricsPage> pages) {
    server.add(pages);
  }

  /** Has them read now, right before the load, and waits for that. */
  public void refreshServer() {
    server.refresh();
  }

  /** A virtual user has started. */
  public void userCame() {
    users.incrementAndGet();
    server.usersCame();
  }

  /** A virtual user has left; with the last one the server may go too. */
  public void userLeft() {
    if (users.decrementAndGet() == 0) {
      server.usersLeft();
    }
  }

  private GeneratorLog.Load load() {
    return new GeneratorLog.Load(
        inFlight.get(), recorder.waiting(), recorder.dropped() + recorder.failed());
  }

  /**
   * Opens the run's files, and registers what happens after it.
   *
   * @throws UncheckedIOException in one line, if nothing can be recorded
   * @throws IllegalArgumentException in one line, where a setting of the process is wrong
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

  /**
   * The id of a request; of several injectors on one host, which may have begun at once, none has
   * that of another.
   */
  public String requestId(long number) {
    InjectorShare share = info.share();
    return id() + (share == null ? "-" : "-" + share.index() + "-") + number;
  }

  /** The load generator's name. */
  public String injector() {
    return info.injector();
  }

  /** The number of the request that starts now, from 0. */
  public long nextRequest() {
    long number = requests.getAndIncrement();
    if (number == 0) {
      firstRequestNanos = System.nanoTime();
      server.begin();
    }
    return number;
  }

  /** Whether any request was sent. */
  boolean hasRequests() {
    return requests.get() > 0;
  }

  /** The reading of {@link System#nanoTime()} at that epoch time. */
  public long nanoTime(long unixNanos) {
    return clock.nanoTime(unixNanos);
  }

  /** Epoch time of a reading of {@link System#nanoTime()}. */
  public long unixNanos(long nanoTime) {
    return clock.unixNanos(nanoTime);
  }

  /** A request has started whose record is to come. */
  public void started() {
    started.incrementAndGet();
  }

  /** A request was admitted. */
  public void admitted() {
    inFlight.incrementAndGet();
  }

  /** An admitted request is over. */
  public void ended() {
    inFlight.decrementAndGet();
  }

  /** Keeps a request; never blocks. */
  public void record(RequestRecord record) {
    if (recorder.record(record)) {
      tally.handedOver();
    }
  }

  /**
   * Who is told of the levels of that load plan for a scenario against a target. To be asked for
   * before the load starts: how far the run is depends on all its plans.
   *
   * @param cancel ends, soon, the requests of a level that are still under way
   */
  public RunningLevel.Listener levels(
      String target, String scenario, LoadPlan plan, Consumer<RunningLevel> cancel) {
    return levels.listener(target, scenario, plan.plannedNanos(), cancel);
  }

  /** What the levels of the run's load plans are noted in. */
  private final class Host implements LevelLog.Host {
    @Override
    public void levelsChanged() {
      after(Duration.ZERO, Run.this::save);
    }

    /** Once the run is over nothing waits for a task, and it is dropped. */
    @Override
    public void after(Duration delay, Runnable task) {
      try {
        var unused = worker.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) {
        // The run is over, and was saved as it was then.
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
    public void say(String line) {
      after(Duration.ZERO, () -> System.out.println(line));
    }

    @Override
    public void finished(String level, LiveFigures figures) {
      System.out.println(ConsoleBlock.finished(level, figures));
      if (view != null) {
        view.finished(level, figures);
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

  /** What load plans had to say at their end, a line each. */
  List<String> conclusions() {
    return List.copyOf(conclusions);
  }

  /**
   * Whose arrivals they are.
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
   * Notes when users of a schedule are planned to arrive; returns at once.
   *
   * @param description how they arrive, seeds included
   * @param arrivals drawn on the thread that writes them; nobody else's iterator
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
    host.say("LLM arrivals of " + name + ": " + description);
    host.after(Duration.ZERO, () -> describe(info -> info.config("arrivals " + name, description)));
  }

  /** Notes more about the run in {@code run.json}. */
  public synchronized void describe(UnaryOperator<RunInfo> more) {
    info = more.apply(info);
    save();
  }

  /**
   * What is to be done before an interrupted run is closed.
   *
   * @param cancelling ends what is under way, within the time that it is given
   * @param left how many requests have no record yet; those that it did not suffice for are dropped
   */
  public void beforeInterruption(Consumer<Duration> cancelling, LongSupplier left) {
    beforeInterruption = cancelling;
    underWay = left;
  }

  /** All is sent and has ended: nothing more comes. */
  public void complete() {
    end(RunInfo.State.COMPLETE);
  }

  /** Gatling stops it while load is on: what is under way is cancelled, and all is kept. */
  public void stopped() {
    if (!isOver()) {
      exit = new GatlingExit();
      end(RunInfo.State.INTERRUPTED);
    }
  }

  /** No load is sent, for a reason that is said elsewhere: no report is made. */
  public void refuse() {
    isRefused = true;
  }

  /** Whether no load is sent. */
  boolean isRefused() {
    return isRefused;
  }

  /** Whether it has ended: nothing more is noted. */
  public boolean isOver() {
    return over.get();
  }

  /** Whether a load level has begun and not ended. */
  public boolean isLevelRunning() {
    return levels.progress(System.nanoTime()) != null;
  }

  RunFiles files() {
    return files;
  }

  /**
   * How the build learns of a missed assertion; null where it is not Gatling that ended the run.
   */
  @Nullable GatlingExit exit() {
    return exit;
  }

  /** Whether records could not be written: what is made of the others is not the whole run. */
  boolean isRecordLost() {
    return unwritten > 0;
  }

  /** Ends it, if nothing has: what was recorded by then is what the report is made of. */
  RunInfo end(RunInfo.State state) {
    if (over.compareAndSet(false, true)) {
      worker.shutdown(); // A line that is being written is written to its end.
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
      long unrecorded = state == RunInfo.State.INTERRUPTED ? underWay.getAsLong() : 0;
      if (!whole || unrecorded > 0) {
        System.out.println(
            "LLM: not all records could be written in time; run.json has their number (dropped)");
      }
      generator.close();
      unwritten = recorder.failed();
      if (unwritten > 0) {
        System.out.println(
            String.format(
                Locale.ROOT,
                "LLM records: those of %,d of %,d requests could not be kept; the run is invalid",
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

  /** Notes what is known of the load generator's own error, once the run has ended. */
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

  /** In order of time. */
  private List<LevelInfo> levels() {
    List<LevelInfo> all = new ArrayList<>(levels.levels());
    all.addAll(injected.levels(info.endUnixNanos(), clock.unixNanos(System.nanoTime())));
    all.sort(Comparator.comparingLong(Run::begin));
    return all;
  }

  private static long begin(LevelInfo level) {
    return level.phases().isEmpty() ? Long.MAX_VALUE : level.phases().get(0).startUnixNanos();
  }

  /**
   * Where a program reads along, a line per level is all that is said: {@code CI} is what build
   * servers set, {@code TERM=dumb} what consoles without a cursor do. Maven's load tests never have
   * a terminal of their own, so that none proves nothing.
   */
  static boolean isLinesOnly(Map<String, String> environment) {
    String ci = environment.getOrDefault("CI", "");
    boolean isBuildServer = !ci.isEmpty() && !ci.equals("false") && !ci.equals("0");
    return isBuildServer || "dumb".equals(environment.get("TERM"));
  }

  /** Those of the current load level; of the run where it has no levels. */
  private @Nullable LiveFigures figures(
      @Nullable LiveFigures ofLevel, Supplier<LiveFigures> ofRun) {
    LiveFigures figures = ofLevel == null && !tally.hasLevels() ? ofRun.get() : ofLevel;
    return figures == null
        ? null
        : figures.withInFlight(inFlight.get()).withProgress(levels.progress(System.nanoTime()));
  }

  private static LoadProgress progress(LiveFigures figures) {
    Progress at = figures.progress();
    Phase phase = at == null ? null : at.phase();
    Double tokens = figures.tokensPerSecondNow();
    Long open = figures.inFlight();
    return new LoadProgress(
        (at == null ? "" : at.stage()) + (phase == null ? "" : " " + phase.key()),
        open == null ? 0 : open,
        figures.ok(),
        figures.failed(),
        tokens == null ? 0 : tokens);
  }

  private void print() {
    try {
      long first = firstRequestNanos;
      if (first == 0 || isLinesOnly) {
        return;
      }
      LiveFigures figures = figures(levels.figures(), live::snapshot);
      ParentProcess parent = ParentProcess.ofProcess();
      if (figures != null && parent != null) {
        parent.report(progress(figures));
      } else if (figures != null) {
        System.out.println(ConsoleBlock.of(figures, System.nanoTime() - first));
      }
    } catch (RuntimeException e) {
      System.out.println("LLM console block failed: " + e);
    }
  }
}
