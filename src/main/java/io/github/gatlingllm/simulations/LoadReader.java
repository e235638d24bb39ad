package io.github.gatlingllm.simulations;

import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.simulations.Load.Arrival;
import io.github.gatlingllm.simulations.Load.Level;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads how much load there is, in which phases, and when it stops. */
record LoadReader(Settings settings, TypedSettings typed) {

  private static final List<Integer> SWEEP = List.of(1, 2, 4, 8, 16, 32, 64);

  /**
   * The load.
   *
   * @param embedded whether the embedded engine is the target, which gets a whole sweep by default
   */
  Load load(boolean embedded) {
    typed.refuseTogether(Setting.CONCURRENCY, Setting.RATE, "closed loop or open loop");
    typed.refuseTogether(Setting.REQUESTS, Setting.DURATION, "each bounds a level");
    typed.refuseTogether(Setting.REQUESTS, Setting.MEASURE, "each bounds a level");
    typed.refuseTogether(Setting.MEASURE, Setting.DURATION, "two names of the same phase");
    Setting measure = settings.isSet(Setting.MEASURE) ? Setting.MEASURE : Setting.DURATION;
    String rate = settings.text(Setting.RATE);
    ArrivalReader reader = new ArrivalReader(settings);
    Arrival arrival = reader.arrival();
    RateCurve curve = reader.curve();
    if (arrival instanceof Load.Replay) {
      typed.refuseTogether(Setting.ARRIVAL, Setting.RATE, "a trace has its own rate");
      typed.refuseTogether(Setting.ARRIVAL, Setting.CONCURRENCY, "closed loop or open loop");
      typed.refuseTogether(Setting.ARRIVAL, Setting.DURATION, "a trace has its own duration");
      typed.refuseTogether(Setting.ARRIVAL, Setting.MEASURE, "a trace has its own duration");
      typed.refuseTogether(Setting.ARRIVAL, Setting.REQUESTS, "a trace has its own number");
    } else if (arrival != null && rate == null) {
      throw settings.invalid(Setting.ARRIVAL, "only open loops have arrivals; set llm.rate too");
    }
    if (curve != null) {
      typed.refuseTogether(Setting.RATE, Setting.DURATION, "a curve has its own duration");
      typed.refuseTogether(Setting.RATE, Setting.MEASURE, "a curve has its own duration");
      typed.refuseTogether(Setting.RATE, Setting.REQUESTS, "a curve has its own duration");
      typed.refuseTogether(Setting.RATE, Setting.SEARCH, "a search starts at one rate");
    }
    List<Integer> concurrency = typed.wholes(Setting.CONCURRENCY, 1, embedded ? SWEEP : List.of(8));
    Integer requests =
        settings.isSet(Setting.REQUESTS) ? (Integer) typed.whole(Setting.REQUESTS, 1, 1) : null;
    boolean search = search(curve != null || rate == null ? 0 : typed.rates(Setting.RATE).size());
    boolean open = rate != null || search || arrival instanceof Load.Replay;
    List<Level> levels = levels(arrival, curve, rate != null, search, concurrency);
    if (requests != null && !open && concurrency.stream().anyMatch(c -> c > requests)) {
      settings.warn("llm.requests=" + requests + " is below a level's concurrency: never reached");
    }
    return new Load(
        levels,
        arrival == null && open ? new Load.Poisson() : arrival,
        typed.duration(measure, false, Duration.ofSeconds(embedded ? 6 : 30)),
        requests,
        typed.whole(Setting.WARMUP, 0, 1),
        fill(open),
        typed.duration(Setting.STABILIZE, true, Duration.ZERO),
        typed.duration(Setting.DRAIN, true, Duration.ofSeconds(30)),
        stopWhen(),
        search,
        trials());
  }

  private List<Level> levels(
      @Nullable Arrival arrival,
      @Nullable RateCurve curve,
      boolean rates,
      boolean search,
      List<Integer> concurrency) {
    if (arrival instanceof Load.Replay recorded) {
      return List.of(recorded);
    }
    if (curve != null) {
      return List.of(new Load.Curve(curve));
    }
    if (rates) {
      return typed.rates(Setting.RATE).stream().<Level>map(Load.Open::new).toList();
    }
    return search
        ? List.of(new Load.Open(1))
        : concurrency.stream().<Level>map(Load.Closed::new).toList();
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

  private Duration fill(boolean open) {
    Duration fill = typed.duration(Setting.FILL, true, Duration.ZERO);
    if (open && !fill.isZero()) {
      throw settings.invalid(Setting.FILL, "only closed loops fill; use llm.stabilize with rates");
    }
    return fill;
  }
}
