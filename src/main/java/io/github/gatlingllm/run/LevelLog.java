package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.load.LevelResult;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.Objectives;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.run.RunView.LevelView;
import java.time.Duration;
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
 * arrivals, and returns the results on which the next level depends. Its planned time is guarded by
 * the {@link RunLevels}.
 */
final class LevelLog implements RunningLevel.Listener {

  /** Longest wait for records that were handed over but not counted yet. */
  private static final Duration SETTLING = Duration.ofSeconds(3);

  private final Run run;
  private final RunLevels levels;
  private final String target;
  private final String scenario;
  private final PlannedTime plan;
  private final Consumer<RunningLevel> cancel;
  private final LevelHooks hooks;
  private List<HookCall> called = List.of();
  private final List<CompletableFuture<List<HookCall>>> duringLevel = new CopyOnWriteArrayList<>();
  private @Nullable String failedAfter;
  private int highestInFlight;
  private @Nullable LevelResults current;
  private @Nullable Integer levelsToCome;

  LevelLog(
      Run run,
      RunLevels levels,
      String target,
      String scenario,
      PlannedTime plan,
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
    LevelResults entry = current();
    highestInFlight = Math.max(highestInFlight, ended.highestInFlight());
    var unused =
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

  private void add(LevelResults entry, List<HookCall> calls) {
    if (!calls.isEmpty()) {
      entry.add(calls);
      levels.changed();
    }
  }

  @Override
  public void afterLevels(Runnable end) {
    hooks.sayUnsent(highestInFlight, run);
    hooks.afterLast().accept(end);
  }

  @Override
  public void levelStarted(RunningLevel level, long nanoTime) {
    LevelInfo.Key key = new LevelInfo.Key(level.label(), target, scenario);
    Objectives judge = run.info().objectives();
    LevelResults entry =
        new LevelResults(run.clock(), key, level, judge.of(target), judge.sloTiers());
    entry.add(called);
    synchronized (levels) {
      Phases phases = level.level().phases();
      plan.begin(level.startNanos(), phases.isAutomatic() ? (Long) 0L : phases.plannedNanos());
      if (levelsToCome != null) {
        plan.expect(phases.plannedNanos(), levelsToCome);
      }
      current = entry;
      levels.add(entry);
    }
    hooks.during(level, run, this::failed, duringLevel::add);
    if (level.level() instanceof LoadLevel.Closed closed && closed.users() == 0) {
      print(entry, "this injector has none of its users");
    }
    if (level.isMeasureStartKnown()) {
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
    LevelResults entry = current();
    Phases phases = level.level().phases();
    Long planned = phases.plannedNanos();
    if (phase == Phase.MEASURE && phases.isAutomatic() && planned != null) {
      synchronized (levels) {
        plan.begin(nanoTime - (planned - phases.measureNanos()), planned);
      }
    }
    boolean isEdge = entry.phaseStarted(phase, run.unixNanos(nanoTime));
    LevelView begun = new LevelView(entry.info(), false, null);
    if (phase == Phase.MEASURE) {
      hooks.measuring().accept(level);
    }
    run.observers().change(next -> next.level(begun));
    if (isEdge) {
      levels.windowEdge(nanoTime);
    }
    levels.changed();
    if (phase == Phase.MEASURE && level.isMeasureEndKnown()) {
      levels.windowEdge(level.measureEndNanos());
      countPlanned(entry); // early, so that it is known even if the process dies in this level
    }
  }

  @Override
  public void levelEnded(RunningLevel level, long nanoTime, int running) {
    LevelResults entry = current();
    if (entry.ended(run.unixNanos(nanoTime))) {
      levels.windowEdge(nanoTime);
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

  private void print(LevelResults entry, String text) {
    run.message("LLM %s (%s, %s): %s".formatted(entry.level().label(), target, scenario, text));
  }

  /** Requests that the plan has in the actual measure window; null for levels bounded by time. */
  private void countPlanned(LevelResults entry) {
    RunningLevel level = entry.level();
    if (level.level() instanceof LoadLevel.Open open) {
      levels.countArrivals(
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

  private void finish(LevelResults entry) {
    LiveFigures ended = entry.finish();
    LiveFigures figures = ended == null ? null : ended.with(levels.sloShare(ended), null, null);
    LevelView over = new LevelView(entry.info(), true, figures);
    run.observers().change(next -> next.level(over));
  }

  private void planned(LevelResults entry, @Nullable Long requests) {
    entry.planned(requests);
    levels.changed();
  }

  /** Only one level of a plan runs at a time. */
  private LevelResults current() {
    return Objects.requireNonNull(current);
  }

  @Override
  public void watchFailures(
      RunningLevel level, long maxFailures, long maxInARow, Runnable tooMany) {
    current().watchFailures(maxFailures, maxInARow, tooMany);
  }

  @Override
  public LevelResult resultSoFar(RunningLevel level) {
    return current().result();
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
}
