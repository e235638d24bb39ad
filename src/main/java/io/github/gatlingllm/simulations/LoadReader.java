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
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads how much load there is, in which phases, and when it stops. */
record LoadReader(Settings settings, TypedSettings typed) {

  /** A search ends when its bracket is narrower than this share. */
  private static final double PRECISION = 0.05;

  private static final List<Integer> SWEEP = List.of(1, 2, 4, 8, 16, 32, 64);

  /**
   * The load.
   *
   * @param embedded whether the embedded engine is the target, which gets a whole sweep by default
   * @param seed of the arrivals
   */
  Load load(boolean embedded, long seed) {
    typed.refuseTogether(Setting.CONCURRENCY, Setting.RATE, "closed loop or open loop");
    typed.refuseTogether(Setting.REQUESTS, Setting.DURATION, "each bounds a level");
    typed.refuseTogether(Setting.REQUESTS, Setting.MEASURE, "each bounds a level");
    typed.refuseTogether(Setting.MEASURE, Setting.DURATION, "two names of the same phase");
    ArrivalReader reader = new ArrivalReader(settings);
    Arrivals.Replay replay = reader.replay();
    Gaps gaps = reader.gaps();
    RateCurve curve = reader.curve();
    boolean rate = settings.isSet(Setting.RATE);
    refuseBounds(replay, gaps, curve, rate);
    List<Integer> concurrency = typed.wholes(Setting.CONCURRENCY, 1, embedded ? SWEEP : List.of(8));
    List<Double> rates = rate && curve == null ? typed.rates(Setting.RATE) : List.of();
    boolean search = search(rates.size());
    boolean open = rate || search || replay != null;
    Phases phases = phases(embedded, open);
    Integer requests = phases.requests();
    if (requests != null && !open && concurrency.stream().anyMatch(c -> c > requests)) {
      settings.warn("llm.requests=" + requests + " is below a level's concurrency: never reached");
    }
    int warmup = typed.whole(Setting.WARMUP, 0, 1);
    List<StopRule> stopWhen = stopWhen();
    Integer trials = trials();
    try {
      if (search) {
        double first = rates.isEmpty() ? 1 : rates.get(0);
        return new Load(new GoodputSearch(first, PRECISION, seed, phases), warmup);
      }
      LoadPlan.Sweep sweep =
          open
              ? LoadPlan.Sweep.open(
                  open(replay, curve, rates),
                  gaps == null ? new Gaps.Exponential(0) : gaps,
                  seed,
                  replay == null && curve == null
                      ? phases
                      : phases.withMeasure(length(replay, curve)))
              : closed(concurrency, trials, phases);
      return new Load(stopWhen.isEmpty() ? sweep : sweep.stopWhen(stopWhen), warmup);
    } catch (IllegalArgumentException | ArithmeticException e) {
      Setting wrong =
          curve != null || replay != null
              ? Setting.STABILIZE
              : open ? Setting.RATE : Setting.CONCURRENCY;
      throw settings.invalid(wrong, String.valueOf(e.getMessage()));
    }
  }

  private void refuseBounds(
      Arrivals.@Nullable Replay replay,
      @Nullable Gaps gaps,
      @Nullable RateCurve curve,
      boolean rate) {
    if (replay != null) {
      typed.refuseTogether(Setting.ARRIVAL, Setting.RATE, "a trace has its own rate");
      typed.refuseTogether(Setting.ARRIVAL, Setting.CONCURRENCY, "closed loop or open loop");
      typed.refuseTogether(Setting.ARRIVAL, Setting.DURATION, "a trace has its own duration");
      typed.refuseTogether(Setting.ARRIVAL, Setting.MEASURE, "a trace has its own duration");
      typed.refuseTogether(Setting.ARRIVAL, Setting.REQUESTS, "a trace has its own number");
    } else if (gaps != null && !rate) {
      throw settings.invalid(Setting.ARRIVAL, "only open loops have arrivals; set llm.rate too");
    }
    if (curve != null) {
      typed.refuseTogether(Setting.RATE, Setting.DURATION, "a curve has its own duration");
      typed.refuseTogether(Setting.RATE, Setting.MEASURE, "a curve has its own duration");
      typed.refuseTogether(Setting.RATE, Setting.REQUESTS, "a curve has its own duration");
      typed.refuseTogether(Setting.RATE, Setting.SEARCH, "a search starts at one rate");
    }
  }

  private Phases phases(boolean embedded, boolean open) {
    Setting measure = settings.isSet(Setting.MEASURE) ? Setting.MEASURE : Setting.DURATION;
    Duration duration = typed.duration(measure, false, Duration.ofSeconds(embedded ? 6 : 30));
    Duration fill = typed.duration(Setting.FILL, true, Duration.ZERO);
    if (open && !fill.isZero()) {
      throw settings.invalid(Setting.FILL, "only closed loops fill; use llm.stabilize with rates");
    }
    Phases timed =
        new Phases(
            fill.toNanos(),
            typed.duration(Setting.STABILIZE, true, Duration.ZERO).toNanos(),
            duration.toNanos(),
            typed.duration(Setting.DRAIN, true, Duration.ofSeconds(30)).toNanos(),
            null);
    return settings.isSet(Setting.REQUESTS)
        ? timed.withRequests(typed.whole(Setting.REQUESTS, 1, 1))
        : timed;
  }

  private static LoadPlan.Sweep closed(
      List<Integer> concurrency, @Nullable Integer trials, Phases phases) {
    return new LoadPlan.Sweep(
        concurrency.stream()
            .<LoadLevel>map(
                users ->
                    trials == null
                        ? new LoadLevel.Closed(users, phases)
                        : new LoadLevel.Batch(users, trials, phases.drainNanos()))
            .toList());
  }

  private static List<LoadLevel.Open> open(
      Arrivals.@Nullable Replay replay, @Nullable RateCurve curve, List<Double> rates) {
    if (replay != null) {
      return List.of(LoadLevel.Open.replay(replay));
    }
    return curve == null
        ? rates.stream().map(LoadLevel.Open::steady).toList()
        : List.of(LoadLevel.Open.curve(curve, curve.lengthNanos()));
  }

  private static long length(Arrivals.@Nullable Replay replay, @Nullable RateCurve curve) {
    return replay != null ? replay.lengthNanos() : Objects.requireNonNull(curve).lengthNanos();
  }

  private @Nullable Integer trials() {
    for (Setting other :
        List.of(
            Setting.RATE,
            Setting.SEARCH,
            Setting.REQUESTS,
            Setting.DURATION,
            Setting.MEASURE,
            Setting.FILL,
            Setting.STABILIZE,
            Setting.STOP_WHEN)) {
      typed.refuseTogether(Setting.TRIALS, other, "trials are bounded by their count");
    }
    return settings.isSet(Setting.TRIALS) ? (Integer) typed.whole(Setting.TRIALS, 1, 1) : null;
  }

  private List<StopRule> stopWhen() {
    List<String> rules = typed.parts(Setting.STOP_WHEN);
    if (rules.stream().anyMatch(rule -> rule.startsWith("slo<")) && !settings.isSet(Setting.SLO)) {
      throw settings.invalid(Setting.STOP_WHEN, "has no SLO to judge; set llm.slo too");
    }
    try {
      return rules.stream().map(StopRule::parse).toList();
    } catch (IllegalArgumentException e) {
      throw settings.invalid(
          Setting.STOP_WHEN, "expected rules such as slo<50%,errors>10%,errors>50,overSaturated");
    }
  }

  /** Whether to search; the one rate, if there is one, is where it starts. */
  private boolean search(int levels) {
    String text = settings.text(Setting.SEARCH);
    if (text == null) {
      return false;
    }
    if (!text.equals("maxGoodput")) {
      throw settings.invalid(Setting.SEARCH, "expected maxGoodput");
    }
    if (!settings.isSet(Setting.SLO)) {
      throw settings.invalid(Setting.SEARCH, "has no SLO to hold; set llm.slo too");
    }
    typed.refuseTogether(
        Setting.SEARCH, Setting.CONCURRENCY, "it searches rates; start it with llm.rate");
    typed.refuseTogether(Setting.SEARCH, Setting.STOP_WHEN, "a search ends by itself");
    typed.refuseTogether(Setting.SEARCH, Setting.ARRIVAL, "its arrivals are Poisson");
    if (levels > 1) {
      throw settings.invalid(Setting.SEARCH, "expected one llm.rate at most, where it starts");
    }
    return true;
  }
}
