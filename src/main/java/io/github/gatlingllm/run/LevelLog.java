package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures.Progress;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadPlan.Conclusion;
import io.github.gatlingllm.load.LoadPlan.FailureLimits;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.load.Phases;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.TargetSlo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Listens to the load plans of a run. Records the times of their levels and phases and their
 * planned arrivals, cancels requests that outlast the drain time, and returns the results of levels
 * on which the next level depends. Thread-safe.
 */
final class LevelLog {

  /** The run of the levels. All methods return at once. */
  interface Host {

    /** The levels have changed and must be saved. */
    void levelsChanged();

    /** Runs a task after that time on a thread of the run, unless the run has ended. */
    void after(Duration delay, Runnable task);

    /** An open level starts, with arrivals as described. */
    void arrivalsDescribed(Run.Schedule schedule, String description);

    /** The planned arrivals of an open level are known. */
    void arrivalsPlanned(Run.Schedule schedule, Iterator<Planned> arrivals, long startNanos);

    /** A measure window starts or ends at that instant, which may be in the future. */
    default void windowEdge(long nanoTime) {}

    /** Prints a line on the console. */
    void print(String line);

    /**
     * Counts the arrivals in a window, on another thread.
     *
     * @param fromNanos start of the window, since the start of the schedule
     * @param untilNanos end of the window, exclusive
     * @param count receives the number, unless the run has ended
     */
    void countArrivals(
        Iterator<Planned> schedule, long fromNanos, long untilNanos, LongConsumer count);

    /** A plan has ended, with this conclusion. */
    void concluded(String target, String scenario, Conclusion conclusion);

    /**
     * A level has ended and its last record was counted.
     *
     * @param figures of its measure window; null if it ended before that began
     */
    default void finished(String level, @Nullable LiveFigures figures) {}

    /** The SLO of requests to that target. */
    TargetSlo slo(String target);
  }

  /** Longest wait for records that were handed over but not counted yet. */
  private static final Duration SETTLING = Duration.ofSeconds(3);

  private final RunClock clock;
  private final LevelTally tally;
  private final Host host;
  private final List<Entry> entries = new ArrayList<>();
  private final PlannedTime planned = new PlannedTime();

  LevelLog(RunClock clock, LevelTally tally, Host host) {
    this.clock = clock;
    this.tally = tally;
    this.host = host;
  }

  /**
   * The listener of a plan that runs this scenario against this target.
   *
   * @param plannedNanos planned time of the plan, without drain; null if unknown
   * @param cancel cancels the requests of a level that are still in flight
   */
  synchronized RunningLevel.Listener listener(
      String target, String scenario, @Nullable Long plannedNanos, Consumer<RunningLevel> cancel) {
    return new PlanListener(target, scenario, planned.add(plannedNanos), cancel);
  }

  /** The levels so far. */
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

  /** Figures for the console block, of the level that started last; null if no level is running. */
  @Nullable LiveFigures figures() {
    Entry entry = running();
    return entry == null ? null : entry.counts.figures();
  }

  /** The same figures for another reader. */
  @Nullable LiveFigures peek() {
    Entry entry = running();
    return entry == null ? null : entry.counts.peek();
  }

  private synchronized @Nullable Entry running() {
    for (int i = entries.size() - 1; i >= 0; i--) {
      if (!entries.get(i).ended) {
        return entries.get(i);
      }
    }
    return null;
  }

  /**
   * The run is interrupted: writes the planned arrivals until now of levels that have not ended.
   */
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
          entry.schedule, entry.level.arrivalsBefore(open, nanoTime), entry.level.startNanos());
    }
  }

  /** A level that has started. */
  private static final class Entry {
    private final RunningLevel level;
    private final LevelTally.Counts counts;
    private final Run.Schedule schedule;
    private final List<PhaseWindow> phases = new ArrayList<>();
    private boolean ended;
    private @Nullable Long planned;
    private @Nullable Long plannedStart;
    private LevelInfo.@Nullable InFlight inFlight;

    private Entry(RunningLevel level, LevelTally.Counts counts, Run.Schedule schedule) {
      this.level = level;
      this.counts = counts;
      this.schedule = schedule;
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
          schedule.target(),
          schedule.scenario(),
          load.kind(),
          load.offered(),
          load.unit(),
          phases,
          planned,
          plannedStart,
          inFlight);
    }
  }

  /** Listener of one plan, which runs one level at a time. */
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
      Entry entry = new Entry(level, tally.begin(level, schedule, host.slo(target)), schedule);
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
      if (level.level() instanceof LoadLevel.Closed closed && closed.users() == 0) {
        host.print(
            "LLM %s (%s, %s): this injector has none of its users"
                .formatted(level.label(), target, scenario));
      }
      if (level.measureStartKnown()) {
        host.windowEdge(level.measureStartNanos());
      }
      host.levelsChanged();
      if (level.level() instanceof LoadLevel.Open open) {
        host.arrivalsDescribed(entry.schedule, String.valueOf(open.arrivals()));
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
      host.print("LLM %s (%s, %s): %s".formatted(level.label(), target, scenario, text));
    }

    @Override
    public void phaseStarted(RunningLevel level, Phase phase, long nanoTime) {
      long unixNanos = clock.unixNanos(nanoTime);
      boolean isEdge = phase == Phase.MEASURE;
      synchronized (LevelLog.this) {
        Entry entry = entryOf(level);
        Phases phases = level.level().phases();
        Long planned = phases.plannedNanos();
        if (phase == Phase.MEASURE && phases.isAutomatic() && planned != null) {
          plan.begin(nanoTime - (planned - phases.measureNanos()), planned);
        }
        isEdge |= entry.closePhase(unixNanos);
        entry.phases.add(new PhaseWindow(phase, unixNanos, null));
        if (phase == Phase.MEASURE) {
          entry.counts.measures();
        }
      }
      if (isEdge) {
        host.windowEdge(nanoTime);
      }
      host.levelsChanged();
      if (phase == Phase.MEASURE && level.measureEndKnown()) {
        host.windowEdge(level.measureEndNanos());
        countPlanned(
            entryOf(level)); // early, so that it is known even if the process dies in this level
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
      level.whenRecorded(() -> tally.whenCounted(() -> finish(entry)));
    }

    /** Requests that the plan has in the actual measure window; null for levels bounded by time. */
    private void countPlanned(Entry entry) {
      RunningLevel level = entry.level;
      if (level.level() instanceof LoadLevel.Open open) {
        host.countArrivals(
            open.schedule(),
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
      String name = "%s (%s, %s)".formatted(entry.level.label(), target, scenario);
      host.finished(name, entry.counts.finish());
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
      entryOf(level).counts.watch(limits, tooMany);
    }

    @Override
    public LevelResult resultSoFar(RunningLevel level) {
      return entryOf(level).counts.result();
    }

    /**
     * The result is known when the last record of the level is counted. After waiting for {@link
     * #SETTLING} it is made from the records counted by then.
     */
    @Override
    public void whenResultKnown(RunningLevel level, Consumer<LevelResult> goOn) {
      AtomicBoolean settled = new AtomicBoolean();
      Runnable settle =
          () -> {
            if (settled.compareAndSet(false, true)) {
              goOn.accept(resultSoFar(level));
            }
          };
      level.whenRecorded(
          () -> {
            tally.whenCounted(() -> host.after(Duration.ZERO, settle));
            host.after(SETTLING, settle);
          });
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
