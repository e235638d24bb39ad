package io.github.gatlingllm.simulations;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.GoodputSearch;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.Phases;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.load.Trace;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The load on each target. */
record Load(LoadPlan plan) {

  /** The load that the settings define. */
  static Load of(Settings settings, long seed) {
    Arrivals arrivals = settings.get(Setting.ARRIVAL);
    List<LoadLevel.Open> rates = settings.get(Setting.RATE);
    boolean search = settings.get(Setting.SEARCH);
    if (search && rates.size() > 1) {
      throw settings.invalid(Setting.SEARCH, "expected one llm.rate at most, where it starts");
    }
    List<LoadLevel.Open> open =
        arrivals instanceof Arrivals.Replay replay ? List.of(LoadLevel.Open.replay(replay)) : rates;
    Phases phases = phases(settings, search || !open.isEmpty());
    if (search) {
      double first = rates.isEmpty() ? 1 : rates.get(0).perSecond();
      return new Load(
          new GoodputSearch(first, settings.get(Setting.SEARCH_PRECISION), seed, phases));
    }
    LoadPlan.Sweep sweep =
        open.isEmpty() ? closed(settings, phases) : open(settings, open, arrivals, seed, phases);
    return new Load(sweep.stopWhen(settings.get(Setting.STOP_WHEN)));
  }

  private static Phases phases(Settings settings, boolean open) {
    Duration fill = settings.get(Setting.FILL).orElse(null);
    if (open && fill != null && !fill.isZero()) {
      throw settings.invalid(Setting.FILL, "only closed loops fill; use llm.stabilize with rates");
    }
    Duration stabilize = settings.get(Setting.STABILIZE).orElse(null);
    Duration measure = settings.get(Setting.MEASURE);
    Phases timed =
        new Phases(
            fill == null ? null : (Long) fill.toNanos(),
            stabilize == null ? null : (Long) stabilize.toNanos(),
            (measure == null ? settings.get(Setting.DURATION) : measure).toNanos(),
            settings.get(Setting.COOLDOWN),
            settings.get(Setting.DRAIN).toNanos(),
            null);
    Integer requests = settings.get(Setting.REQUESTS);
    boolean both = settings.isSet(Setting.DURATION) || settings.isSet(Setting.MEASURE);
    return requests == null ? timed : timed.withRequests(requests, both ? timed.measureNanos() : 0);
  }

  private static LoadPlan.Sweep closed(Settings settings, Phases phases) {
    List<Integer> concurrency = settings.get(Setting.CONCURRENCY);
    Integer requests = phases.requests();
    if (requests != null && concurrency.stream().anyMatch(c -> c > requests)) {
      settings.warn("llm.requests=" + requests + " is below a level's concurrency: never reached");
    }
    Integer trials = settings.get(Setting.TRIALS);
    return new LoadPlan.Sweep(
        concurrency.stream()
            .<LoadLevel>map(
                users ->
                    trials == null
                        ? new LoadLevel.Closed(users, phases)
                        : new LoadLevel.Batch(users, trials, phases.drainNanos()))
            .toList());
  }

  private static LoadPlan.Sweep open(
      Settings settings,
      List<LoadLevel.Open> levels,
      @Nullable Arrivals arrivals,
      long seed,
      Phases phases) {
    Gaps gaps =
        arrivals instanceof Arrivals.Steady steady ? steady.gaps() : new Gaps.Exponential(0);
    long lengthNanos = levels.get(0).arrivals().lengthNanos();
    try {
      return LoadPlan.Sweep.open(
          levels,
          gaps,
          seed,
          lengthNanos == Long.MAX_VALUE ? phases : phases.withMeasure(lengthNanos));
    } catch (IllegalArgumentException e) {
      throw settings.invalid(Setting.STABILIZE, String.valueOf(e.getMessage()));
    }
  }

  /** The load in words. */
  PlanText words() {
    return new PlanText(plan);
  }

  /** The load levels in order; of a search the first one. */
  List<LoadLevel> levels() {
    return words().levels();
  }

  /** The trace that is replayed; null if there is none or it has no token counts. */
  @Nullable Trace trace() {
    return levels().get(0) instanceof LoadLevel.Open open
            && open.arrivals() instanceof Arrivals.Replay replay
            && replay.trace().lengths(0) != null
        ? replay.trace()
        : null;
  }

  /** Whether a search chooses the load levels. */
  boolean search() {
    return plan instanceof GoodputSearch;
  }

  /**
   * The number of prompts that the load needs so that none repeats: for measured requests and, at
   * open levels, for those before and after; null if it depends on the server.
   */
  @Nullable Long prompts() {
    Long measured = words().expected();
    Phases phases = words().phases();
    if (measured == null || phases.requests() != null) {
      return measured;
    }
    double around = 0;
    for (LoadLevel level : levels()) {
      Phases each = level.phases();
      long sending = each.longestNanos() - each.drainNanos() - each.measureNanos();
      around += level.offered() * sending / 1e9;
    }
    return measured + Math.round(Math.ceil(around));
  }
}
