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
 * The scenarios of a run that Gatling's own injection starts: a load level each. It is measured
 * from its first step that has users to the end of the last, which the steps say; then it drains
 * until its last request has ended. Where all users come at once it is measured until then. Safe
 * for use by several threads.
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

    /** Its last close is within the window that it ends. */
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

  /** The first user of a scenario has come. */
  synchronized void begin(Run.Schedule schedule, Injection injection, long startUnixNanos) {
    levels.putIfAbsent(schedule, new Level(injection, startUnixNanos));
  }

  /** Notes how many users the steps of a scenario plan. */
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
   * @param runEnd when the run ended, and all its records were there; null while it is on
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
