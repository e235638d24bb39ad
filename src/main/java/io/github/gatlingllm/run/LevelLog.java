package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures.Progress;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.FailureLimits;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RunInfo.RunOutcome.Conclusion;
import io.github.gatlingllm.run.Run.RunClock;
import io.github.gatlingllm.run.RunObserver.ObservedLevel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Listens to the load plans of a run: records the times of their levels and phases and their
 * planned arrivals, and returns the results on which the next level depends. Thread-safe.
 */
final class LevelLog {

  /** The run of the levels. All methods return at once. */
  interface Host {

    void levelsChanged();

    /** Runs a task after that time on a thread of the run, unless the run has ended. */
    void after(Duration delay, Runnable task);

    void tell(Consumer<RunObserver> event);

    /** Tells the observers of an edge of a measure window, now and once it has passed. */
    void windowEdge(long nanoTime);

    /** Null if the run has no tally. */
    @Nullable LiveLevelTally results();

    /** Runs a task when all records that were handed over so far are counted. */
    void whenCounted(Runnable task);

    void arrivalsDescribed(Run.Schedule schedule, String description);

    void arrivalsPlanned(Run.Schedule schedule, Iterator<Planned> arrivals, long startNanos);

    /** Counts the arrivals of a window since the start of the schedule, on another thread. */
    void countArrivals(
        Iterator<Planned> schedule, long fromNanos, long untilNanos, LongConsumer count);

    void concluded(String target, String scenario, Conclusion conclusion);

    TargetSlo slo(String target);
  }

  /** Longest wait for records that were handed over but not counted yet. */
  private static final Duration SETTLING = Duration.ofSeconds(3);

  private final RunClock clock;
  private final Host host;
  private final List<Entry> entries = new ArrayList<>();
  private final PlannedTime planned = new PlannedTime();

  LevelLog(RunClock clock, Host host) {
    this.clock = clock;
    this.host = host;
  }

  /** {@code plannedNanos}: of the plan, without drain; null if unknown. */
  synchronized RunningLevel.Listener listener(
      String target, String scenario, @Nullable Long plannedNanos, Consumer<RunningLevel> cancel) {
    return new PlanListener(target, scenario, planned.add(plannedNanos), cancel);
  }

  synchronized List<LevelInfo> levels() {
    return entries.stream().map(Entry::info).toList();
  }

  /** Progress of the plan whose level started last; null if no level is running. */
  synchronized @Nullable Progress progress(long nanoTime) {
    Entry entry = running();
    return entry == null
        ? null
        : new Progress(
            entry.level.label(),
            entry.level.phaseAt(nanoTime),
            planned.share(nanoTime),
            planned.leftNanos(nanoTime));
  }

  /** Live figures of the level that started last, or of the run if it has none; null without. */
  @Nullable LiveFigures figures(boolean isSnapshot, long nanoTime, @Nullable Long inFlight) {
    LiveLevelTally results = host.results();
    Entry entry = running();
    if (results == null || (entry == null && hasLevels())) {
      return null;
    }
    LiveFigures figures = results.figures(entry == null ? null : entry.observed, isSnapshot);
    return figures == null ? null : figures.with(figures.sloShare(), inFlight, progress(nanoTime));
  }

  private synchronized boolean hasLevels() {
    return !entries.isEmpty();
  }

  private synchronized @Nullable Entry running() {
    for (int i = entries.size() - 1; i >= 0; i--) {
      if (!entries.get(i).ended) {
        return entries.get(i);
      }
    }
    return null;
  }

  /** Writes the planned arrivals until now of levels that have not ended. */
  void interrupted(long nanoTime) {
    List<Entry> running;
    synchronized (this) {
      running = entries.stream().filter(entry -> !entry.ended).toList();
    }
    running.forEach(entry -> writeArrivals(entry, nanoTime));
  }

  private void writeArrivals(Entry entry, long nanoTime) {
    if (entry.level.level() instanceof LoadLevel.Open open) {
      host.arrivalsPlanned(
          entry.observed.schedule(),
          entry.level.arrivalsBefore(open, nanoTime),
          entry.level.startNanos());
    }
  }

  private static final class Entry {
    private final RunningLevel level;
    private final ObservedLevel observed;
    private final List<PhaseWindow> phases = new ArrayList<>();
    private boolean ended;
    private @Nullable Long planned;
    private @Nullable Long plannedStart;
    private LevelInfo.@Nullable InFlight inFlight;

    private Entry(ObservedLevel observed) {
      this.level = observed.running();
      this.observed = observed;
    }

    /** Ends the current phase, if any; returns whether it was the measure phase. */
    private boolean closePhase(long unixNanos) {
      if (phases.isEmpty()) {
        return false;
      }
      PhaseWindow last = phases.remove(phases.size() - 1);
      phases.add(new PhaseWindow(last.phase(), last.startUnixNanos(), unixNanos));
      return last.phase() == Phase.MEASURE;
    }

    private LevelInfo info() {
      LoadLevel load = level.level();
      return new LevelInfo(
          load.label(),
          observed.schedule().target(),
          observed.schedule().scenario(),
          load.kind(),
          load.offered(),
          load.unit(),
          phases,
          planned,
          plannedStart,
          inFlight);
    }
  }

  private final class PlanListener implements RunningLevel.Listener {
    private final String target;
    private final String scenario;
    private final PlannedTime.Plan plan;
    private final Consumer<RunningLevel> cancel;
    private @Nullable Entry current;
    private @Nullable Integer levelsToCome;

    private PlanListener(
        String target, String scenario, PlannedTime.Plan plan, Consumer<RunningLevel> cancel) {
      this.target = target;
      this.scenario = scenario;
      this.plan = plan;
      this.cancel = cancel;
    }

    @Override
    public void levelStarted(RunningLevel level, long nanoTime) {
      Run.Schedule schedule = new Run.Schedule(scenario, target, level.label());
      Entry entry = new Entry(new ObservedLevel(level, schedule, host.slo(target)));
      synchronized (LevelLog.this) {
        Phases phases = level.level().phases();
        plan.begin(level.startNanos(), phases.isAutomatic() ? (Long) 0L : phases.plannedNanos());
        if (levelsToCome != null) {
          plan.expect(phases.plannedNanos(), levelsToCome);
        }
        Long plannedStart = level.plannedStartNanos();
        entry.plannedStart = plannedStart == null ? null : (Long) clock.unixNanos(plannedStart);
        current = entry;
        entries.add(entry);
      }
      host.tell(observer -> observer.levelBegan(entry.observed));
      if (level.level() instanceof LoadLevel.Closed closed && closed.users() == 0) {
        print(entry, "this injector has none of its users");
      }
      if (level.measureStartKnown()) {
        host.windowEdge(level.measureStartNanos());
      }
      host.levelsChanged();
      if (level.level() instanceof LoadLevel.Open open) {
        host.arrivalsDescribed(schedule, String.valueOf(open.arrivals()));
      }
    }

    @Override
    public void expectLevels(int levels) {
      synchronized (LevelLog.this) {
        levelsToCome = levels;
      }
    }

    @Override
    public void settled(RunningLevel level, String text) {
      print(entryOf(level), text);
    }

    @Override
    public void phaseStarted(RunningLevel level, Phase phase, long nanoTime) {
      long unixNanos = clock.unixNanos(nanoTime);
      boolean isEdge = phase == Phase.MEASURE;
      Entry entry = entryOf(level);
      synchronized (LevelLog.this) {
        Phases phases = level.level().phases();
        Long planned = phases.plannedNanos();
        if (phase == Phase.MEASURE && phases.isAutomatic() && planned != null) {
          plan.begin(nanoTime - (planned - phases.measureNanos()), planned);
        }
        isEdge |= entry.closePhase(unixNanos);
        entry.phases.add(new PhaseWindow(phase, unixNanos, null));
      }
      host.tell(observer -> observer.phaseBegan(entry.observed, phase));
      if (isEdge) {
        host.windowEdge(nanoTime);
      }
      host.levelsChanged();
      if (phase == Phase.MEASURE && level.measureEndKnown()) {
        host.windowEdge(level.measureEndNanos());
        countPlanned(entry); // early, so that it is known even if the process dies in this level
      }
    }

    @Override
    public void levelEnded(RunningLevel level, long nanoTime, int running) {
      Entry entry = entryOf(level);
      synchronized (LevelLog.this) {
        if (entry.closePhase(clock.unixNanos(nanoTime))) {
          host.windowEdge(nanoTime);
        }
        entry.ended = true;
        entry.inFlight = level.inFlight();
      }
      countPlanned(entry);
      host.levelsChanged();
      writeArrivals(entry, nanoTime);
      if (running > 0) {
        cancel.accept(level);
      }
      whenCounted(level, () -> finish(entry), Runnable::run);
    }

    /**
     * Runs a task once: when the last record of the level is counted, or {@link #SETTLING} after it
     * was handed over.
     */
    private void whenCounted(RunningLevel level, Runnable task, Executor executor) {
      AtomicBoolean isRun = new AtomicBoolean();
      Runnable once =
          () -> {
            if (isRun.compareAndSet(false, true)) {
              task.run();
            }
          };
      level.whenRecorded(
          () -> {
            host.whenCounted(() -> executor.execute(once));
            host.after(SETTLING, once);
          });
    }

    private void print(Entry entry, String text) {
      String line = "LLM " + entry.observed + ": " + text;
      host.tell(observer -> observer.message(line));
    }

    /** Requests that the plan has in the actual measure window; null for levels bounded by time. */
    private void countPlanned(Entry entry) {
      RunningLevel level = entry.level;
      if (level.level() instanceof LoadLevel.Open open) {
        host.countArrivals(
            open.schedule().iterator(),
            level.measureStartNanos() - level.startNanos(),
            level.measureEndNanos() - level.startNanos(),
            count -> planned(entry, count));
      } else {
        Integer requests = level.level().phases().requests();
        boolean byTime = level.level().phases().isTimed() && !level.isCountReached();
        planned(entry, requests == null || byTime ? null : (Long) (long) requests);
      }
    }

    private void finish(Entry entry) {
      LiveLevelTally results = host.results();
      LiveFigures figures = results == null ? null : results.finish(entry.observed);
      host.tell(observer -> observer.levelEnded(entry.observed, figures));
    }

    private void planned(Entry entry, @Nullable Long requests) {
      synchronized (LevelLog.this) {
        entry.planned = requests;
      }
      host.levelsChanged();
    }

    private Entry entryOf(RunningLevel level) {
      Entry entry = current;
      if (entry == null || entry.level != level) {
        throw new IllegalStateException("level " + level.label() + " has not started");
      }
      return entry;
    }

    @Override
    public void watchFailures(RunningLevel level, FailureLimits limits, Runnable tooMany) {
      LiveLevelTally results = host.results();
      if (results != null) {
        results.watchFailures(entryOf(level).observed, limits, tooMany);
      }
    }

    @Override
    public LevelResult resultSoFar(RunningLevel level) {
      LiveLevelTally results = host.results();
      return results == null
          ? RunningLevel.Listener.super.resultSoFar(level)
          : results.result(entryOf(level).observed);
    }

    @Override
    public void awaitResult(RunningLevel level, Consumer<LevelResult> next) {
      whenCounted(
          level, () -> next.accept(resultSoFar(level)), task -> host.after(Duration.ZERO, task));
    }

    @Override
    public void concluded(Conclusion conclusion) {
      synchronized (LevelLog.this) {
        plan.end();
      }
      host.concluded(target, scenario, conclusion);
    }
  }
}
