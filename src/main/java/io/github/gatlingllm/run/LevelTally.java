package io.github.gatlingllm.run;

import io.github.gatlingllm.load.LevelResult;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunClock;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Adds up what became of each level's requests while the run is on, for plans whose next level
 * depends on it. Records come from the recorder's thread. Thread-safe.
 */
final class LevelTally implements Consumer<RequestRecord> {

  private record Key(String target, String scenario, String label) {}

  private static final class Counts {
    private final RunningLevel stage;
    private long attempted;
    private long met;
    private boolean hasSlo;
    private long ended;
    private long failed;
    private long arrived;
    private long served;
    private long failures;
    private long mostFailures = Long.MAX_VALUE;
    private @Nullable Runnable tooMany;

    private Counts(RunningLevel stage) {
      this.stage = stage;
    }
  }

  private final RunClock clock;
  private final Map<Key, Counts> levels = new HashMap<>();
  private long seen;

  LevelTally(RunClock clock) {
    this.clock = clock;
  }

  /** A stage starts, whose records are to be counted. */
  synchronized void begin(RunningLevel stage, String target, String scenario) {
    levels.put(new Key(target, scenario, stage.label()), new Counts(stage));
  }

  /**
   * Calls {@code tooMany}, once, when more requests of that stage have failed than {@code most}.
   */
  synchronized void watch(
      RunningLevel stage, String target, String scenario, long most, Runnable tooMany) {
    Counts level = levels.get(new Key(target, scenario, stage.label()));
    if (level != null) {
      level.mostFailures = most;
      level.tooMany = tooMany;
    }
  }

  /** How many records have come. */
  synchronized long seen() {
    return seen;
  }

  @Override
  public void accept(RequestRecord record) {
    Runnable tooMany = count(record);
    if (tooMany != null) {
      // Outside the lock: whoever hears of it has locks of its own.
      tooMany.run();
    }
  }

  private synchronized @Nullable Runnable count(RequestRecord record) {
    seen++;
    RequestRecord.Identity id = record.identity();
    Counts level = levels.get(new Key(id.target(), id.scenario(), id.stage()));
    if (level == null) {
      return null;
    }
    add(level, record);
    boolean failed = !record.outcome().ok() && record.outcome().status() != RequestStatus.CANCELLED;
    level.failures += failed ? 1 : 0;
    return failed && level.failures == level.mostFailures + 1 ? level.tooMany : null;
  }

  private void add(Counts level, RequestRecord record) {
    inSecondHalf(level, level.stage, record.timing());
    if (record.identity().phase() != Phase.MEASURE) {
      return;
    }
    RequestRecord.Outcome outcome = record.outcome();
    if (outcome.sloOk() != null) {
      level.hasSlo = true;
      level.attempted++;
      level.met += outcome.sloOk() ? 1 : 0;
    }
    if (outcome.status() != RequestStatus.CANCELLED) {
      level.ended++;
      level.failed += outcome.ok() ? 0 : 1;
    }
  }

  private void inSecondHalf(Counts level, RunningLevel stage, RequestRecord.Timing timing) {
    if (!judgesSaturation(stage.level())) {
      return;
    }
    long measure = stage.level().phases().measureNanos();
    long until = clock.unixNanos(stage.measureStartNanos() + measure);
    long from = until - measure / 2;
    level.arrived += isWithin(timing.scheduledUnixNanos(), from, until) ? 1 : 0;
    Long closed = timing.closedUnixNanos();
    level.served += closed != null && isWithin(closed, from, until) ? 1 : 0;
  }

  private static boolean judgesSaturation(LoadLevel level) {
    return level instanceof LoadLevel.Open && level.phases().requests() == null;
  }

  private static boolean isWithin(long instant, long from, long until) {
    return instant >= from && instant < until;
  }

  /** What has come of that stage so far. */
  synchronized LevelResult result(
      RunningLevel stage, String target, String scenario, double sloPercentile) {
    Counts level = levels.getOrDefault(new Key(target, scenario, stage.label()), new Counts(stage));
    return new LevelResult(
        stage.label(),
        level.attempted,
        level.hasSlo ? (Long) level.met : null,
        sloPercentile,
        level.ended,
        level.failed,
        judgesSaturation(stage.level()) && !stage.isCut() ? (Long) level.arrived : null,
        level.served,
        level.failures,
        stage.isCut());
  }
}
