package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.load.LevelResult;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Objectives;
import io.github.gatlingllm.record.Objectives.SloCounts;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Run.RunClock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A load level of a run: its phases, and its results so far: what stop rules, the guard against
 * dead servers and a search decide by, and its live figures. Belongs to the run, as these must work
 * whatever its outputs do; the recorder's thread adds each record. Thread-safe; callbacks run
 * outside its lock.
 */
final class LevelResults {

  private final RunClock clock;
  private final LevelInfo.Key key;
  private final RunningLevel level;
  private final TargetSlo judge;

  /** Planned length of one round; 0 unless open and bounded by time. */
  private final long measureNanos;

  private final Map<String, Slo> byName = new HashMap<>();
  private final SloCounts slo = new SloCounts();
  private final Map<String, TierCounts> tiers = new LinkedHashMap<>();
  private long ended;
  private long failed;
  private long refused;
  private @Nullable Backlog backlog;
  private long failures;
  private long failedInARow;
  private LevelResult.@Nullable FailedInARow longestRow;
  private long maxFailures = Long.MAX_VALUE;
  private long maxInARow = Long.MAX_VALUE;
  private Runnable tooMany = () -> {};
  private @Nullable LiveStats beforeMeasuring = new LiveStats(System::nanoTime);
  private @Nullable LiveStats measured;
  private boolean isMeasuring;
  private final List<PhaseWindow> phases = new ArrayList<>();
  private final List<HookCall> hooks = new ArrayList<>();
  private @Nullable Long planned;
  private LevelInfo.@Nullable InFlightCount inFlight;
  private volatile boolean isEnded;
  private volatile boolean isFinished;
  private Map<String, Double> atEnd = Map.of();

  /** The requests by the SLO of a tier. */
  private record TierCounts(Slo slo, SloCounts counts) {}

  /**
   * @param tiers SLOs that judge all requests, by name; the first is {@code slo}, judged once
   */
  LevelResults(
      RunClock clock,
      LevelInfo.Key key,
      RunningLevel level,
      TargetSlo slo,
      Map<String, TargetSlo> tiers) {
    tiers.forEach(
        (tier, own) ->
            this.tiers.put(
                tier, new TierCounts(own.global(), own.equals(slo) ? this.slo : new SloCounts())));
    this.clock = clock;
    this.key = key;
    this.level = level;
    judge = slo;
    Phases phases = level.level().phases();
    boolean byTime = level.level() instanceof LoadLevel.Open && phases.requests() == null;
    measureNanos = byTime ? phases.measureNanos() : 0;
  }

  LevelInfo.Key key() {
    return key;
  }

  RunningLevel level() {
    return level;
  }

  boolean isEnded() {
    return isEnded;
  }

  /**
   * A phase begins, and the one before ends; whether either is the measure phase, from whose begin
   * on its figures are those of the measure window.
   */
  synchronized boolean phaseStarted(Phase phase, long unixNanos) {
    isMeasuring |= phase == Phase.MEASURE;
    boolean isEdge = endPhase(unixNanos) || phase == Phase.MEASURE;
    phases.add(new PhaseWindow(phase, unixNanos, null));
    return isEdge;
  }

  /** Whether the phase that ends with the level is the measure phase. */
  synchronized boolean ended(long unixNanos) {
    isEnded = true;
    inFlight = level.inFlight();
    return endPhase(unixNanos);
  }

  private boolean endPhase(long unixNanos) {
    if (phases.isEmpty()) {
      return false;
    }
    PhaseWindow last = phases.remove(phases.size() - 1);
    phases.add(new PhaseWindow(last.phase(), last.startUnixNanos(), unixNanos));
    return last.phase() == Phase.MEASURE;
  }

  synchronized void planned(@Nullable Long requests) {
    planned = requests;
  }

  synchronized void add(List<HookCall> calls) {
    hooks.addAll(calls);
  }

  synchronized LevelInfo info() {
    LoadLevel load = level.level();
    Long start = level.plannedStartNanos();
    return new LevelInfo(
        load.label(),
        key.target(),
        key.scenario(),
        load.kind(),
        load.offered(),
        load.unit(),
        phases,
        planned,
        start == null ? null : (Long) clock.unixNanos(start),
        inFlight,
        hooks);
  }

  /** Adds a request of the level with that key: it may be another one, of the same scenario. */
  void add(LevelInfo.Key of, RequestRecord record) {
    boolean isOwn = key.equals(of);
    boolean isOfTarget =
        Objects.equals(key.scenario(), of.scenario()) && key.target().equals(of.target());
    if (!isOwn && (isFinished || !isOfTarget)) {
      return; // of hundreds of levels, with repeats, no lock is needed
    }
    Runnable due = null;
    synchronized (this) {
      if (isOwn) {
        due = add(record);
      } else {
        addToFigures(record, false);
      }
    }
    if (due != null) {
      due.run();
    }
  }

  /** Calls {@code orElse} when more requests have failed, in all or in a row. */
  synchronized void watchFailures(long max, long inARow, Runnable orElse) {
    maxFailures = max;
    maxInARow = inARow;
    tooMany = orElse;
  }

  /** Live figures; {@code isSnapshot}: the rate of "now" begins anew, for one reader only. */
  synchronized @Nullable LiveFigures figures(boolean isSnapshot) {
    LiveStats shown = isMeasuring ? measured() : beforeMeasuring;
    return shown == null ? null : isSnapshot ? shown.snapshot() : shown.peek();
  }

  /** Now, or the end of the measure window once that has passed. */
  private long clock() {
    long now = System.nanoTime();
    return Math.min(now, level.measureEndNanosOr(now));
  }

  /** The figures of the measure window, once all its requests are counted; null without one. */
  synchronized @Nullable LiveFigures finish() {
    LiveStats window = isMeasuring ? measured() : null;
    isFinished = true;
    beforeMeasuring = null;
    measured = null;
    if (window == null) {
      return null;
    }
    LiveFigures last = window.peek().with(slo.all().share(), null, null);
    atEnd = last.byName();
    return last;
  }

  /** Of the measure window; null while its start is not known, and once the level is finished. */
  private @Nullable LiveStats measured() {
    if (measured == null && !isFinished && level.isMeasureStartKnown()) {
      measured = new LiveStats(this::clock, level.measureStartNanos());
    }
    return measured;
  }

  private void addToFigures(RequestRecord record, boolean isOfLevel) {
    if (!isMeasuring && isOfLevel && beforeMeasuring != null) {
      beforeMeasuring.accept(record);
    }
    LiveStats window = measured();
    if (window != null) {
      long end = level.measureEndNanosOr(Long.MAX_VALUE);
      window.add(
          record,
          isOfLevel && record.identity().phase() == Phase.MEASURE,
          clock.unixNanos(level.measureStartNanos()),
          end == Long.MAX_VALUE ? end : clock.unixNanos(end));
    }
  }

  /** Returns what is due when too many requests have failed; null as long as they have not. */
  private @Nullable Runnable add(RequestRecord record) {
    addToBacklog(record);
    addToFigures(record, true);
    RequestRecord.RequestOutcome outcome = record.outcome();
    if (record.identity().phase() == Phase.MEASURE) {
      String name = record.identity().name();
      slo.add(judge.owner(name), byName.computeIfAbsent(name, judge::of).judge(record));
      tiers.values().stream()
          .filter(tier -> tier.counts != slo)
          .forEach(tier -> tier.counts.add("", tier.slo.judge(record)));
      ended += outcome.status().isCut() ? 0 : 1;
      failed += outcome.hasFailed() ? 1 : 0;
      refused += outcome.status() == RequestStatus.RATE_LIMITED ? 1 : 0;
    }
    if (outcome.ok()) {
      failedInARow = 0;
    } else if (outcome.hasFailed()) {
      failures++;
      failedInARow++;
      if (longestRow == null || failedInARow > longestRow.count()) {
        String error = outcome.error();
        longestRow =
            new LevelResult.FailedInARow(
                failedInARow, error == null ? outcome.status().key() : error);
      }
      if (failures - 1 == maxFailures || failedInARow - 1 == maxInARow) {
        return tooMany;
      }
    }
    return null;
  }

  /** Only once the measure window is known: earlier requests are in no queue of it. */
  private void addToBacklog(RequestRecord record) {
    if (measureNanos == 0 || !level.isMeasureEndKnown()) {
      return;
    }
    if (backlog == null) {
      long from = clock.unixNanos(level.measureStartNanos());
      backlog = new Backlog(from, measureNanos, LoadPlan.MAX_ROUNDS);
    }
    backlog.add(record);
  }

  /** The queue over the measure window; null if the level has none or was cut. */
  private Backlog.@Nullable Queue queue() {
    if (backlog == null || level.isCut()) {
      return null;
    }
    long measured = level.measureEndNanos() - level.measureStartNanos();
    return backlog.queue((int) Math.round((double) measured / measureNanos));
  }

  synchronized LevelResult result() {
    Map<String, LevelResult> byTier = new LinkedHashMap<>();
    tiers.forEach((tier, of) -> byTier.put(tier, result(of.counts, of.slo.percentile(), Map.of())));
    return result(slo, judge.percentile(), byTier);
  }

  private LevelResult result(SloCounts counts, double percentile, Map<String, LevelResult> byTier) {
    Objectives.Decision decision = counts.decide();
    Objectives.SloCount judged = decision == null ? Objectives.SloCount.NONE : decision.count();
    // A level that cannot be judged yields no counts.
    boolean isJudged = decision != null && decision.holds() != null;
    return new LevelResult(
        level.label(),
        isJudged ? judged.judged() : 0,
        counts.isEmpty() ? null : (Long) (isJudged ? judged.met() : 0),
        decision == null ? percentile : decision.percent(),
        ended,
        failed,
        refused,
        queue(),
        failures,
        level.isCut(),
        decision == null ? null : decision.objective(),
        longestRow,
        atEnd,
        byTier);
  }
}
