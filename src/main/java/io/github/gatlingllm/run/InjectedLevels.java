package io.github.gatlingllm.run;

import io.github.gatlingllm.load.LoadLevel.Injection;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The load levels of Gatling's own injection: one per scenario. The measure window is from the
 * first injection step with users to the end of the last step; then the level drains until its last
 * request has ended. If all users start at once, the level measures until its last request has
 * ended. Thread-safe.
 */
final class InjectedLevels implements Consumer<RequestRecord> {

  private final Map<Run.Schedule, Level> levels = new LinkedHashMap<>();

  private static final class Level {
    private final Injection injection;
    private final long from;
    private final long until;
    private @Nullable Long planned;
    private long lastClosed;

    private Level(Injection injection, long startUnixNanos) {
      this.injection = injection;
      from = startUnixNanos + injection.fromNanos();
      until = startUnixNanos + injection.untilNanos();
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

  /** The first user of a scenario has started. */
  synchronized void begin(Run.Schedule schedule, Injection injection, long startUnixNanos) {
    levels.putIfAbsent(schedule, new Level(injection, startUnixNanos));
  }

  /** Sets the number of users that the injection steps plan. */
  synchronized void planned(Run.Schedule schedule, long users) {
    Level level = levels.get(schedule);
    if (level != null) {
      level.planned = users;
    }
  }

  @Override
  public synchronized void accept(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    Long closed = record.timing().closedUnixNanos();
    Level level = levels.get(new Run.Schedule(id.scenario(), id.target(), id.stage()));
    if (closed != null && level != null) {
      level.lastClosed = Math.max(level.lastClosed, closed);
    }
  }

  /**
   * The levels so far.
   *
   * @param runEnd end of the run, when all records exist; null before
   */
  synchronized List<LevelInfo> levels(@Nullable Long runEnd, long now) {
    List<LevelInfo> all = new ArrayList<>();
    levels.forEach(
        (schedule, level) ->
            all.add(
                new LevelInfo(
                    schedule.level(),
                    schedule.target(),
                    schedule.scenario(),
                    LevelInfo.INJECTION,
                    level.injection.offered(),
                    level.injection.unit(),
                    level.phases(runEnd, runEnd == null ? now : runEnd),
                    level.planned,
                    null,
                    null)));
    return all;
  }
}
