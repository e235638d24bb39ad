package io.github.gatlingllm.simulations;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.GoodputSearch;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StopRule;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the load of its settings. */
record LoadReader(Settings settings) {

  /** A search ends when its bracket is narrower than this share of its lower end. */
  private static final double PRECISION = 0.05;

  /**
   * The load.
   *
   * @param seed of the arrivals
   */
  Load load(long seed) {
    Arrivals arrivals = settings.get(Setting.ARRIVAL);
    List<LoadLevel.Open> rates = settings.get(Setting.RATE);
    boolean search = settings.get(Setting.SEARCH);
    if (search && rates.size() > 1) {
      throw settings.invalid(Setting.SEARCH, "expected one llm.rate at most, where it starts");
    }
    List<LoadLevel.Open> open =
        arrivals instanceof Arrivals.Replay replay ? List.of(LoadLevel.Open.replay(replay)) : rates;
    Phases phases = phases(search || !open.isEmpty());
    if (search) {
      double first = rates.isEmpty() ? 1 : rates.get(0).perSecond();
      return new Load(new GoodputSearch(first, PRECISION, seed, phases));
    }
    LoadPlan.Sweep sweep = open.isEmpty() ? closed(phases) : open(open, arrivals, seed, phases);
    List<StopRule> stopWhen = settings.get(Setting.STOP_WHEN);
    return new Load(stopWhen.isEmpty() ? sweep : sweep.stopWhen(stopWhen));
  }

  private Phases phases(boolean open) {
    Duration fill = settings.get(Setting.FILL);
    if (open && !fill.isZero()) {
      throw settings.invalid(Setting.FILL, "only closed loops fill; use llm.stabilize with rates");
    }
    Duration measure = settings.get(Setting.MEASURE);
    Phases timed =
        new Phases(
            fill.toNanos(),
            settings.get(Setting.STABILIZE).toNanos(),
            (measure == null ? settings.get(Setting.DURATION) : measure).toNanos(),
            settings.get(Setting.DRAIN).toNanos(),
            null);
    Integer requests = settings.get(Setting.REQUESTS);
    return requests == null ? timed : timed.withRequests(requests);
  }

  private LoadPlan.Sweep closed(Phases phases) {
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

  private LoadPlan.Sweep open(
      List<LoadLevel.Open> levels, @Nullable Arrivals arrivals, long seed, Phases phases) {
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
}
