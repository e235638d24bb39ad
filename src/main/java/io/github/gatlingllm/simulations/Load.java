package io.github.gatlingllm.simulations;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.Settings;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The load on each target. */
final class Load {

  private Load() {}

  static LoadPlan of(Settings settings, long seed) {
    Arrivals arrivals = settings.get(Setting.ARRIVAL);
    List<LoadLevel.Open> rates = settings.get(Setting.RATE);
    String search = settings.get(Setting.SEARCH);
    boolean isOfUsers = Setting.MAX_USERS.equals(search);
    List<LoadLevel.Open> open =
        arrivals instanceof Trace replay ? List.of(LoadLevel.Open.replay(replay)) : rates;
    Phases phases = phases(settings, (search != null && !isOfUsers) || !open.isEmpty());
    if (search != null) {
      double precision = settings.get(Setting.SEARCH_PRECISION);
      double first = first(settings, isOfUsers ? Setting.CONCURRENCY : Setting.RATE);
      return isOfUsers
          ? LoadPlan.searchUsers(first, precision, phases)
          : LoadPlan.search(first, precision, seed, phases);
    }
    LoadPlan.Sweep sweep =
        open.isEmpty() ? closed(settings, phases) : open(settings, open, arrivals, seed, phases);
    return settings.repeated(sweep.stopWhen(settings.get(Setting.STOP_WHEN)));
  }

  /** Where a search starts. */
  private static double first(Settings settings, Setting<? extends List<?>> setting) {
    List<?> loads = settings.isSet(setting) ? settings.get(setting) : List.of(1);
    if (loads.size() > 1) {
      throw settings.invalid(
          Setting.SEARCH, "expected one " + setting.property() + " at most, where it starts");
    }
    return loads.get(0) instanceof LoadLevel.Open open
        ? open.perSecond()
        : ((Number) loads.get(0)).doubleValue();
  }

  private static Phases phases(Settings settings, boolean open) {
    Duration fill = settings.get(Setting.FILL).orElse(null);
    if (open && fill != null && !fill.isZero()) {
      throw settings.invalid(Setting.FILL, "only closed loops fill; use llm.stabilize with rates");
    }
    Duration stabilize = settings.get(Setting.STABILIZE).orElse(null);
    Phases timed =
        new Phases(
            fill == null ? null : (Long) fill.toNanos(),
            stabilize == null ? null : (Long) stabilize.toNanos(),
            settings.get(Setting.DURATION).toNanos(),
            settings.get(Setting.COOLDOWN),
            settings.get(Setting.DRAIN).toNanos(),
            null);
    Integer requests = settings.get(Setting.REQUESTS);
    boolean both = settings.isSet(Setting.DURATION);
    return requests == null ? timed : timed.withRequests(requests, both ? timed.measureNanos() : 0);
  }

  private static LoadPlan.Sweep closed(Settings settings, Phases phases) {
    List<Integer> concurrency = settings.get(Setting.CONCURRENCY);
    Integer requests = phases.requests();
    if (requests != null && concurrency.stream().anyMatch(c -> c > requests)) {
      settings.warn("llm.requests=" + requests + " is below a level's concurrency: never reached");
    }
    Integer trials = settings.get(Setting.TRIALS);
    return settings.checked(
        Setting.CONCURRENCY,
        () ->
            new LoadPlan.Sweep(
                concurrency.stream()
                    .<LoadLevel>map(
                        users ->
                            trials == null
                                ? new LoadLevel.Closed(users, phases)
                                : new LoadLevel.FixedBatch(users, trials, phases.drainNanos()))
                    .toList()));
  }

  private static LoadPlan.Sweep open(
      Settings settings,
      List<LoadLevel.Open> levels,
      @Nullable Arrivals arrivals,
      long seed,
      Phases phases) {
    Gaps gaps = arrivals instanceof Arrivals.Steady steady ? steady.gaps() : Gaps.poisson(0);
    long lengthNanos = levels.get(0).arrivals().lengthNanos();
    Phases timed = lengthNanos == Long.MAX_VALUE ? phases : phases.withMeasure(lengthNanos);
    return settings.checked(
        Setting.STABILIZE, () -> LoadPlan.Sweep.open(levels, gaps, seed, timed));
  }

  /** The trace that is replayed; null if there is none or it has no token counts. */
  static @Nullable Trace trace(PlanText load) {
    return load.levels().get(0) instanceof LoadLevel.Open open
            && open.arrivals() instanceof Trace replay
            && replay.lengths(0) != null
        ? replay
        : null;
  }

  /** Prompts that the load needs so that none repeats; null if it depends on the server. */
  static @Nullable Long prompts(PlanText load) {
    Long measured = load.expected();
    if (measured == null || load.phases().requests() != null) {
      return measured;
    }
    double around = 0;
    for (LoadLevel level : load.levels()) {
      Phases each = level.phases();
      long sending = each.longestNanos() - each.drainNanos() - each.measureNanos();
      around += level.offered() * sending / 1e9;
    }
    return measured + Math.round(Math.ceil(around * load.repeats().max()));
  }
}
