package io.github.gatlingllm.run;

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
import io.github.gatlingllm.stats.LiveStats.LiveFigures;
import io.github.gatlingllm.stats.LiveStats.LiveFigures.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Listens to the load plans of a run: notes when their levels and phases were and who was planned
 * to arrive, has requests cancelled that a drain time does not suffice for, and gives the results
 * of levels where the next one depends on them. Safe for use by several threads.
 */
final class LevelLog {

  /** The run that the levels are part of. All calls return at once. */
  interface Host {

    /** The levels have changed; they are to be saved. */
    void levelsChanged();

    /** Runs a task after that time, on a thread of the run; not at all once the run is over. */
    void after(Duration delay, Runnable task);

    /** An open level starts, whose users arrive so. */
    void arrivalsDescribed(Run.Schedule schedule, String description);

    /** It is known who was planned to arrive in an open level. */
    void arrivalsPlanned(Run.Schedule schedule, Iterator<Planned> arrivals, long startNanos);

    /** A measure window begins or ends at that instant, which may be to come. */
    default void windowEdge(long nanoTime) {}

    /** A line for who watches the run. */
    void say(String line);

    /**
     * Counts arrivals, drawn elsewhere, that lie in a window.
     *
     * @param fromNanos start of the window, since the start of the schedule
     * @param untilNanos end of the window, exclusive
     * @param count is told how many there are; not at all once the run is over
     */
    void countArrivals(
        Iterator<Planned> schedule, long fromNanos, long untilNanos, LongConsumer count);

    /** A plan has come to its end, and has this to say. */
    void concluded(String target, String scenario, Conclusion conclusion);

    /** A level is over, and its last record has come. */
    default void finished(String level, LiveFigures figures) {}

    /** What requests to that target are judged by. */
    TargetSlo slo(String target);
  }

  /** Longest wait for records that were handed over and have not passed the recorder. */
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
   * Who is told of the levels of a plan that runs this scenario against this target.
   *
   * @param plannedNanos how long that plan takes, without drain; null when not known
   * @param cancel ends, soon, the requests of a level that are still under way
   */
  synchronized RunningLevel.Listener listener(
      String target, String scenario, @Nullable Long plannedNanos, Consumer<RunningLevel> cancel) {
    return new PlanListener(target, scenario, planned.add(plannedNanos), cancel);
  }

  /** The levels so far. */
  synchronized List<LevelInfo> levels() {
    return entries.stream().map(Entry::info).toList();
  }

  /** Where the plan stands whose level began last; null when none runs. */
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

  /** Figures of the level that began last; null when none runs. */
  @Nullable LiveFigures figures() {
    Entry entry = running();
    return entry == null ? null : entry.counts.figures();
  }

  /** The same for who looks besides. */
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

  /** The run is interrupted: who was planned to arrive by now in levels that have not ended. */
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

  /** A level that has begun. */
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

    /** Ends the phase that it is in, if any; returns whether that is what is measured. */
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

  /** One plan has one level at a time. */
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
        host.say(
            "LLM %s (%s, %s): none of its users is this injector's"
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
      host.say("LLM %s (%s, %s): %s".formatted(level.label(), target, scenario, text));
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
        countPlanned(entryOf(level)); // known even if this process dies in the level
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

    /** What the plan asked for in the measure window as it was; null where time bounds it. */
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
      LiveFigures figures = entry.counts.finish();
      if (figures == null) {
        host.say("LLM " + name + ": ended before its measure window began");
      } else {
        host.finished(name, figures);
      }
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
     * The result is known as soon as the last record of the level has passed the recorder; {@link
     * #SETTLING} after that record was handed over it is made of what has passed by then.
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
