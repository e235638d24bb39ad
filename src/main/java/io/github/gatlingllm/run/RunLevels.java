package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.LiveStats.Progress;
import io.github.gatlingllm.load.Arrival.OpenSchedule;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Injection;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.LevelInfo.PlannedArrival;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.SelfTest;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** The load levels of a run, with their planned arrivals and conclusions. Thread-safe. */
public final class RunLevels {

  private final Run run;
  private final List<LevelResults> entries = new CopyOnWriteArrayList<>();
  private final List<PlannedTime> planned = new ArrayList<>();
  private final Map<LevelInfo.Key, InjectedLevel> injected = new LinkedHashMap<>();

  /** Live figures without a level. */
  private final LiveStats unleveled = new LiveStats(System::nanoTime);

  /** Writes {@code arrivals.jsonl}. */
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(Run.threads("llm-arrivals"));

  RunLevels(Run run) {
    this.run = run;
  }

  /** The listener of a load plan, to be requested before the load: progress depends on all. */
  public synchronized RunningLevel.Listener listener(
      String target,
      String scenario,
      LoadPlan plan,
      Consumer<RunningLevel> cancel,
      LevelHooks hooks) {
    String repeats = plan instanceof LoadPlan.Sweep sweep ? sweep.repeatsText() : "";
    if (!repeats.isEmpty()) {
      run.after(
          Duration.ZERO,
          () -> run.describe(info -> info.config("repeats of " + scenario, repeats)));
    }
    PlannedTime time = new PlannedTime(plan.plannedNanos());
    planned.add(time);
    return new LevelLog(run, this, target, scenario, time, cancel, hooks);
  }

  synchronized void add(LevelResults entry) {
    entries.add(entry);
  }

  public boolean isAnyRunning() {
    return running() != null;
  }

  synchronized @Nullable LevelResults running() {
    for (int i = entries.size() - 1; i >= 0; i--) {
      if (!entries.get(i).isEnded()) {
        return entries.get(i);
      }
    }
    return null;
  }

  /** Progress of the plan whose level started last; null if no level is running. */
  synchronized @Nullable Progress progress(long nanoTime) {
    LevelResults entry = running();
    return entry == null
        ? null
        : new Progress(
            entry.level().label(),
            entry.level().phaseAt(nanoTime),
            PlannedTime.share(planned, nanoTime),
            PlannedTime.leftNanos(planned, nanoTime));
  }

  /** Live figures of the level that started last, or of the run if it has none; null without. */
  @Nullable LiveFigures figures(boolean isSnapshot) {
    LevelResults entry = running();
    LiveFigures figures =
        entry != null
            ? entry.figures(isSnapshot)
            : !entries.isEmpty() ? null : isSnapshot ? unleveled.snapshot() : unleveled.peek();
    return figures == null
        ? null
        : figures.with(sloShare(figures), run.inFlight(), progress(System.nanoTime()));
  }

  /**
   * Live figures of each level that is running, if they are several: of classes of traffic by their
   * names, of targets by theirs.
   */
  Map<String, LiveFigures> sideBySide() {
    List<LevelResults> running = entries.stream().filter(entry -> !entry.isEnded()).toList();
    boolean isByTarget =
        running.stream().map(entry -> entry.key().target()).distinct().count() == running.size();
    Map<String, LiveFigures> all = new LinkedHashMap<>();
    for (LevelResults entry : running.size() < 2 ? List.<LevelResults>of() : running) {
      LiveFigures figures = entry.figures(false);
      if (figures != null) {
        String name = isByTarget ? entry.key().target() : entry.key().scenario();
        all.put(
            String.valueOf(name),
            figures.with(sloShare(figures), entry.level().inFlightNow(), null));
      }
    }
    return all;
  }

  @Nullable Double sloShare(LiveFigures figures) {
    return SelfTest.isLoadOf(run.info()) ? null : figures.sloShare();
  }

  List<LevelInfo> all() {
    return all(run.info().endUnixNanos(), run.unixNanos(System.nanoTime()));
  }

  List<LevelInfo> all(@Nullable Long runEnd, long now) {
    List<LevelInfo> all = new ArrayList<>();
    entries.forEach(entry -> all.add(entry.info()));
    synchronized (injected) {
      injected.forEach((key, level) -> all.add(level.info(key, runEnd, now)));
    }
    all.sort(
        Comparator.comparingLong(
            level ->
                level.phases().isEmpty()
                    ? Long.MAX_VALUE
                    : level.phases().get(0).startUnixNanos()));
    return all;
  }

  /** Called on the recorder's thread, once for each record. */
  void requestEnded(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    LevelInfo.Key key = LevelInfo.Key.of(id, id.scenario());
    Long closed = record.timing().closedUnixNanos();
    synchronized (injected) {
      InjectedLevel level = injected.get(key);
      if (closed != null && level != null) {
        level.lastClosed = Math.max(level.lastClosed, closed);
      }
    }
    entries.forEach(entry -> entry.add(key, record));
    if (entries.isEmpty()) {
      unleveled.accept(record);
    }
  }

  /** Gatling's own injection has started; its arrivals are written if it follows a plan. */
  public void injectionStarted(
      LevelInfo.Key level, Injection injection, long startNanos, @Nullable OpenSchedule plan) {
    synchronized (injected) {
      injected.putIfAbsent(level, new InjectedLevel(injection, run.unixNanos(startNanos)));
    }
    windowEdge(startNanos + injection.fromNanos());
    windowEdge(startNanos + injection.untilNanos());
    changed();
    if (plan != null) {
      describeArrivals(level, plan.description());
      write(
          level,
          plan.planned().iterator(),
          startNanos,
          count -> {
            synchronized (injected) {
              Objects.requireNonNull(injected.get(level)).planned = count;
            }
            changed();
          });
    }
  }

  /** The run is interrupted: writes the arrivals that were planned until then. */
  void interrupted(long nanoTime) {
    List<LevelResults> running;
    synchronized (this) {
      running = entries.stream().filter(entry -> !entry.isEnded()).toList();
    }
    running.forEach(entry -> writeArrivals(entry, nanoTime));
  }

  void writeArrivals(LevelResults entry, long nanoTime) {
    RunningLevel level = entry.level();
    if (level.level() instanceof LoadLevel.Open open) {
      write(entry.key(), level.arrivalsBefore(open, nanoTime), level.startNanos(), written -> {});
    }
  }

  void describeArrivals(LevelInfo.Key level, String description) {
    boolean isEntireRun = level.label().equals(LevelInfo.ENTIRE_RUN);
    String name = level.scenario() + (isEntireRun ? "" : " " + level.label());
    run.message("LLM arrivals of " + name + ": " + description);
    run.after(
        Duration.ZERO, () -> run.describe(info -> info.config("arrivals " + name, description)));
  }

  void changed() {
    run.after(Duration.ZERO, run::save);
  }

  /** Passes on to the observers an edge of a measure window, now and once it has passed. */
  void windowEdge(long nanoTime) {
    Runnable change = () -> run.observers().change(next -> next.windowEdge(nanoTime));
    change.run();
    run.after(Duration.ofNanos(Math.max(0, nanoTime - System.nanoTime())), change);
  }

  void concluded(String target, String scenario, Conclusion conclusion) {
    run.message(
        "LLM %s (%s, %s): %s".formatted(conclusion.topic(), target, scenario, conclusion.text()));
    run.describe(
        info ->
            info.config(conclusion.topic() + " " + target, conclusion.text())
                .conclusion(conclusion.on(target, scenario)));
  }

  /** Writes a schedule line by line, iterated on the writer's thread; returns immediately. */
  private void write(
      LevelInfo.Key level, Iterator<Planned> arrivals, long anchorNanos, LongConsumer written) {
    execute(() -> append(level, arrivals, run.unixNanos(anchorNanos), written));
  }

  /** Counts the arrivals in a window since the start of the schedule; returns immediately. */
  void countArrivals(
      Iterator<Planned> arrivals, long fromNanos, long untilNanos, LongConsumer counted) {
    execute(
        () -> {
          long count = 0;
          long offset = Long.MIN_VALUE;
          while (arrivals.hasNext() && offset < untilNanos) {
            if (Thread.currentThread().isInterrupted()) {
              return;
            }
            offset = arrivals.next().offsetNanos();
            count += offset >= fromNanos && offset < untilNanos ? 1 : 0;
          }
          counted.accept(count);
        });
  }

  private void execute(Runnable task) {
    try {
      writer.execute(task);
    } catch (RejectedExecutionException e) {
      // The run has ended; its plan is no longer needed.
    }
  }

  private void append(
      LevelInfo.Key level, Iterator<Planned> arrivals, long startUnixNanos, LongConsumer written) {
    try {
      long count =
          PlannedArrival.append(
              run.files().arrivals(), arrivals, each -> planned(level, each, startUnixNanos));
      if (!arrivals.hasNext()) {
        written.accept(count);
      }
    } catch (IOException e) {
      run.failures().add("arrivals.jsonl", e);
    }
  }

  private static PlannedArrival planned(LevelInfo.Key level, Planned arrival, long startUnixNanos) {
    Arrivals.Lengths lengths = arrival.lengths();
    return new PlannedArrival(
        level.scenario(),
        level.target(),
        level.label(),
        arrival.index(),
        BigDecimal.valueOf(arrival.offsetNanos(), 9),
        startUnixNanos + arrival.offsetNanos(),
        lengths == null ? null : lengths.input(),
        lengths == null ? null : lengths.output());
  }

  /** Stops writing arrivals after at most that time; their file ends with a complete line. */
  void close(Duration patience) {
    if (!Run.close(writer, patience)) {
      writer.shutdownNow();
      var unused = Run.close(writer, Duration.ofSeconds(1));
    }
  }

  /**
   * A load level of Gatling's own injection, one per scenario: measured from the first to the last
   * injection step, or until the last request if all users start together.
   */
  private static final class InjectedLevel {
    private final Injection injection;
    private final long from;
    private final long until;
    private @Nullable Long planned;
    private long lastClosed;

    private InjectedLevel(Injection injection, long startUnixNanos) {
      this.injection = injection;
      from = startUnixNanos + injection.fromNanos();
      until = startUnixNanos + injection.untilNanos();
    }

    private LevelInfo info(LevelInfo.Key key, @Nullable Long runEnd, long now) {
      return new LevelInfo(
          key.label(),
          key.target(),
          key.scenario(),
          LevelInfo.INJECTION,
          injection.offered(),
          injection.unit(),
          phases(runEnd, runEnd == null ? now : runEnd),
          planned,
          null,
          null,
          List.of());
    }

    /** The window ends after the last request has ended: 1 ns later. */
    private List<PhaseWindow> phases(@Nullable Long runEnd, long now) {
      Long drained = runEnd == null ? null : (Long) Math.max(from, lastClosed + 1);
      if (until == from) {
        return List.of(new PhaseWindow(Phase.MEASURE, from, drained));
      }
      if (now < until) {
        return List.of(new PhaseWindow(Phase.MEASURE, from, runEnd));
      }
      PhaseWindow measure = new PhaseWindow(Phase.MEASURE, from, until);
      return drained != null && drained <= until
          ? List.of(measure)
          : List.of(measure, new PhaseWindow(Phase.DRAIN, until, drained));
    }
  }
}
