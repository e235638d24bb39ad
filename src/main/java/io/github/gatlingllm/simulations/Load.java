package io.github.gatlingllm.simulations;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.ProcessSetting.DurationText;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The load on each target. */
final class Load {

  private Load() {}

  static PlanText of(Settings settings, long seed) {
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
      return new PlanText(
          LoadPlan.search(first, settings.get(Setting.SEARCH_PRECISION), seed, phases));
    }
    LoadPlan.Sweep sweep =
        open.isEmpty() ? closed(settings, phases) : open(settings, open, arrivals, seed, phases);
    return new PlanText(repeated(settings, sweep.stopWhen(settings.get(Setting.STOP_WHEN))));
  }

  static LoadPlan.Sweep repeated(Settings settings, LoadPlan.Sweep sweep) {
    long seed = Seed.orOfProcess(settings.get(Setting.SEED));
    return settings.checked(
        Setting.REPEATS, () -> sweep.repeated(settings.get(Setting.REPEATS), seed));
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
                                : new LoadLevel.Batch(users, trials, phases.drainNanos()))
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
  static Arrivals.@Nullable Replay trace(PlanText load) {
    return load.levels().get(0) instanceof LoadLevel.Open open
            && open.arrivals() instanceof Arrivals.Replay replay
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

  // The settings arrival and rate

  private static final Form<List<Double>> RATES =
      Form.list("", Form.decimal("", Double.MIN_VALUE, Double.MAX_VALUE).parser())
          .map(list -> Form.distinct(list, "level"));

  private static final Pattern GAMMA = Pattern.compile("gamma:(\\d{1,3}(?:\\.\\d{1,9})?)");
  private static final Pattern TRACE =
      Pattern.compile("trace:(.+?)(?:@(\\d{1,9}(?:\\.\\d{1,9})?))?");
  private static final Pattern SEGMENT =
      Pattern.compile("\\s*(\\d{1,7}(?:\\.\\d{1,9})?):(" + DurationText.FORM + ")\\s*");

  private static final String STEPS = "steps:";

  /** A plan counts the requests of a curve one by one. */
  private static final double MAX_REQUESTS = 1e8;

  private static final double MAX_DAYS = 31;

  /** The arrival process; its rate and seed are placeholders, except those of a trace. */
  static Arrivals arrival(String text) {
    Matcher gamma = GAMMA.matcher(text);
    Matcher trace = TRACE.matcher(text);
    if (text.equalsIgnoreCase("poisson")) {
      return Arrivals.poisson(1, 0);
    }
    if (text.equalsIgnoreCase("constant")) {
      return Arrivals.constant(1);
    }
    if (gamma.matches()) {
      double cv = Double.parseDouble(gamma.group(1));
      if (cv > 0 && cv <= 100) {
        return Arrivals.gamma(1, cv, 0);
      }
    } else if (trace.matches()) {
      String speed = trace.group(2);
      return Arrivals.Replay.read(trace.group(1), speed == null ? 1 : Double.parseDouble(speed));
    }
    throw new IllegalArgumentException(
        "expected poisson, constant, gamma:<cv> with a cv > 0 and ≤ 100, or"
            + " trace:<file>[@1s|@1ms][@<speed>]");
  }

  static boolean isCurve(List<LoadLevel.Open> levels) {
    return levels.stream().anyMatch(level -> level.arrivals() instanceof Arrivals.Curve);
  }

  static boolean isTrace(@Nullable Arrivals arrivals) {
    return arrivals instanceof Arrivals.Replay;
  }

  static List<LoadLevel.Open> rates(String text) {
    if (!text.contains(":")) {
      return RATES.parser().apply(text).stream().map(LoadLevel.Open::steady).toList();
    }
    RateCurve curve = curve(text);
    return List.of(LoadLevel.Open.curve(curve, curve.lengthNanos()));
  }

  private static RateCurve curve(String text) {
    boolean steps = text.startsWith(STEPS);
    List<RateCurve.Segment> segments =
        Stream.of(text.substring(steps ? STEPS.length() : 0).split(",", -1))
            .map(Load::segment)
            .toList();
    if (segments.stream().allMatch(segment -> segment.perSecond() == 0)) {
      throw new IllegalArgumentException("offers no request; expected a rate > 0 somewhere");
    }
    RateCurve curve = new RateCurve(segments, steps);
    double days = segments.stream().mapToDouble(each -> each.duration().toDays()).sum();
    if (days > MAX_DAYS || curve.maxRequests() > MAX_REQUESTS) {
      throw new IllegalArgumentException("expected at most 31 days and 100,000,000 requests");
    }
    return curve;
  }

  private static RateCurve.Segment segment(String text) {
    Matcher form = SEGMENT.matcher(text);
    if (form.matches()) {
      Duration duration = Form.durationOf(form.group(2));
      double rate = Double.parseDouble(form.group(1));
      if (!duration.isZero() && rate <= 1e6) {
        return new RateCurve.Segment(rate, duration);
      }
    }
    throw new IllegalArgumentException(
        "expected a curve of <rate>:<duration> such as 0:60s,10:120s,50:60s or"
            + " steps:10:60s,50:60s");
  }

  /** In each segment the rate changes linearly to that of the next; the last keeps its own. */
  record RateCurve(List<Segment> segments, boolean steps) implements Arrivals.Rate {

    record Segment(double perSecond, Duration duration) implements Serializable {}

    /** The rate at a number of nanoseconds since the start; after the end, the last rate. */
    @Override
    public double perSecondAt(long sinceStart) {
      long rest = sinceStart;
      for (int i = 0; i < segments.size(); i++) {
        long nanos = segments.get(i).duration().toNanos();
        if (rest < nanos) {
          double from = segments.get(i).perSecond();
          return from + (end(i) - from) * rest / nanos;
        }
        rest -= nanos;
      }
      return end(segments.size() - 1);
    }

    /** As if each segment kept the higher of its rates. */
    private double maxRequests() {
      double sum = 0;
      for (int i = 0; i < segments.size(); i++) {
        Segment each = segments.get(i);
        sum += Math.max(each.perSecond(), end(i)) * each.duration().toMillis() / 1e3;
      }
      return sum;
    }

    long lengthNanos() {
      return segments.stream().mapToLong(segment -> segment.duration().toNanos()).sum();
    }

    private double end(int index) {
      return segments.get(steps ? index : Math.min(index + 1, segments.size() - 1)).perSecond();
    }
  }
}
