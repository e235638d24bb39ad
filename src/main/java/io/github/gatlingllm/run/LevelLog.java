package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.load.LevelResult;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.FailureLimits;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.run.Observers.LevelHooks;
import io.github.gatlingllm.run.RunView.LevelView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Listens to one load plan of a run: records the times of its levels and phases and its planned
 * arrivals, and returns the results on which the next level depends. Guarded by the {@link
 * RunLevels}.
 */
final class LevelLog implements RunningLevel.Listener {

  /** Longest wait for records that were handed over but not counted yet. */
  private static final Duration SETTLING = Duration.ofSeconds(3);

  private final Run run;
  private final RunLevels levels;
  private final String target;
  private final String scenario;
  private final PlannedTime.Plan plan;
  private final Consumer<RunningLevel> cancel;
  private final LevelHooks hooks;
  private List<HookCall> called = List.of();
  private final List<CompletableFuture<List<HookCall>>> duringLevel = new CopyOnWriteArrayList<>();
  private @Nullable String failedAfter;
  private @Nullable LoggedLevel current;
  private @Nullable Integer levelsToCome;

  LevelLog(
      Run run,
      RunLevels levels,
      String target,
      String scenario,
      PlannedTime.Plan plan,
      Consumer<RunningLevel> cancel,
      LevelHooks hooks) {
    this.run = run;
    this.levels = levels;
    this.target = target;
    this.scenario = scenario;
    this.plan = plan;
    this.cancel = cancel;
    this.hooks = hooks;
  }

  @Override
  public void beforeLevel(LoadLevel next, Runnable start) {
    hooks.before(
        next.label(),
        run,
        failedAfter,
        calls -> {
          called = calls;
          start.run();
        });
  }

  @Override
  public void afterLevel(RunningLevel ended, Runnable next) {
    LoggedLevel entry = current();
    CompletableFuture.allOf(duringLevel.toArray(CompletableFuture[]::new))
        .thenRun(
            () -> {
              duringLevel.forEach(sent -> add(entry, sent.join()));
              duringLevel.clear();
              hooks.after(
                  ended,
                  run,
                  this::failed,
                  calls -> {
                    add(entry, calls);
                    next.run();
                  });
            });
  }

  private void failed(String failure) {
    failedAfter = failure;
    run.message("LLM: " + failure + "; the level is measured");
  }

  private void add(LoggedLevel entry, List<HookCall> calls) {
    if (!calls.isEmpty()) {
      synchronized (levels) {
        entry.hooks.addAll(calls);
      }
      levels.changed();
    }
  }

  @Override
  public void afterLevels(Runnable end) {
    hooks.afterLast().accept(end);
  }

  @Override
  public void levelStarted(RunningLevel level, long nanoTime) {
    LevelInfo.Key key = new LevelInfo.Key(level.label(), target, scenario);
    LevelResults results =
        new LevelResults(
            run.clock(),
            key,
            level,
            run.info().objectives().of(target),
            run.info().objectives().sloTiers());
    LoggedLevel entry = new LoggedLevel(level, key, called, results);
    synchronized (levels) {
      Phases phases = level.level().phases();
      plan.begin(level.startNanos(), phases.isAutomatic() ? (Long) 0L : phases.plannedNanos());
      if (levelsToCome != null) {
        plan.expect(phases.plannedNanos(), levelsToCome);
      }
      Long plannedStart = level.plannedStartNanos();
      entry.plannedStart = plannedStart == null ? null : (Long) run.unixNanos(plannedStart);
      current = entry;
      levels.add(entry);
    }
    hooks.during(level, run, this::failed, duringLevel::add);
    if (level.level() instanceof LoadLevel.Closed closed && closed.users() == 0) {
      print(entry, "this injector has none of its users");
    }
    if (level.measureStartKnown()) {
      levels.windowEdge(level.measureStartNanos());
    }
    levels.changed();
    if (level.level() instanceof LoadLevel.Open open) {
      levels.describeArrivals(key, String.valueOf(open.arrivals()));
    }
  }

  @Override
  public void expectLevels(int more) {
    synchronized (levels) {
      levelsToCome = more;
    }
  }

  @Override
  public void settled(RunningLevel level, String text) {
    print(current(), text);
  }

  @Override
  public void phaseStarted(RunningLevel level, Phase phase, long nanoTime) {
    long unixNanos = run.unixNanos(nanoTime);
    boolean isEdge = phase == Phase.MEASURE;
    LoggedLevel entry = current();
    LevelView begun;
    synchronized (levels) {
      Phases phases = level.level().phases();
      Long planned = phases.plannedNanos();
      if (phase == Phase.MEASURE && phases.isAutomatic() && planned != null) {
        plan.begin(nanoTime - (planned - phases.measureNanos()), planned);
      }
      isEdge |= entry.closePhase(unixNanos);
      entry.phases.add(new PhaseWindow(phase, unixNanos, null));
      begun = new LevelView(entry.info(), false, null);
    }
    if (phase == Phase.MEASURE) {
      entry.results.measureBegan();
      hooks.measuring().accept(level);
    }
    run.observers().change(next -> next.level(begun));
    if (isEdge) {
      levels.windowEdge(nanoTime);
    }
    levels.changed();
    if (phase == Phase.MEASURE && level.measureEndKnown()) {
      levels.windowEdge(level.measureEndNanos());
      countPlanned(entry); // early, so that it is known even if the process dies in this level
    }
  }

  @Override
  public void levelEnded(RunningLevel level, long nanoTime, int running) {
    LoggedLevel entry = current();
    synchronized (levels) {
      if (entry.closePhase(run.unixNanos(nanoTime))) {
        levels.windowEdge(nanoTime);
      }
      entry.ended = true;
      entry.inFlight = level.inFlight();
    }
    countPlanned(entry);
    levels.changed();
    levels.writeArrivals(entry, nanoTime);
    if (running > 0) {
      cancel.accept(level);
    }
    whenCounted(level, () -> finish(entry), Runnable::run);
  }

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
          run.whenCounted(() -> executor.execute(once));
          run.after(SETTLING, once);
        });
  }

  private void print(LoggedLevel entry, String text) {
    run.message("LLM %s (%s, %s): %s".formatted(entry.level.label(), target, scenario, text));
  }

  /** Requests that the plan has in the actual measure window; null for levels bounded by time. */
  private void countPlanned(LoggedLevel entry) {
    RunningLevel level = entry.level;
    if (level.level() instanceof LoadLevel.Open open) {
      levels
          .arrivals()
          .count(
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

  private void finish(LoggedLevel entry) {
    LiveFigures ended = entry.results.finish();
    LiveFigures figures = ended == null ? null : ended.with(levels.sloShare(ended), null, null);
    LevelView over;
    synchronized (levels) {
      over = new LevelView(entry.info(), true, figures);
    }
    run.observers().change(next -> next.level(over));
  }

  private void planned(LoggedLevel entry, @Nullable Long requests) {
    synchronized (levels) {
      entry.planned = requests;
    }
    levels.changed();
  }

  /** Only one level of a plan runs at a time. */
  private LoggedLevel current() {
    return Objects.requireNonNull(current);
  }

  @Override
  public void watchFailures(RunningLevel level, FailureLimits limits, Runnable tooMany) {
    current().results.watchFailures(limits, tooMany);
  }

  @Override
  public LevelResult resultSoFar(RunningLevel level) {
    return current().results.result();
  }

  @Override
  public void awaitResult(RunningLevel level, Consumer<LevelResult> next) {
    whenCounted(
        level, () -> next.accept(resultSoFar(level)), task -> run.after(Duration.ZERO, task));
  }

  @Override
  public void concluded(Conclusion conclusion) {
    synchronized (levels) {
      plan.end();
    }
    levels.concluded(target, scenario, conclusion);
  }

  static final class LoggedLevel {
    final RunningLevel level;
    final LevelInfo.Key key;
    final LevelResults results;
    private final List<HookCall> hooks; // guarded, as those after the level are added
    private final List<PhaseWindow> phases = new ArrayList<>();
    boolean ended;
    private @Nullable Long planned;
    private @Nullable Long plannedStart;
    private LevelInfo.@Nullable InFlightCount inFlight;

    private LoggedLevel(
        RunningLevel level, LevelInfo.Key key, List<HookCall> hooks, LevelResults results) {
      this.level = level;
      this.key = key;
      this.hooks = new ArrayList<>(hooks);
      this.results = results;
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

    LevelInfo info() {
      LoadLevel load = level.level();
      return new LevelInfo(
          load.label(),
          key.target(),
          key.scenario(),
          load.kind(),
          load.offered(),
          load.unit(),
          phases,
          planned,
          plannedStart,
          inFlight,
          hooks);
    }
  }
}
