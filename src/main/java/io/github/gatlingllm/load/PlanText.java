package io.github.gatlingllm.load;

import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.StopRule.Repeats;
import java.time.Duration;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Describes a load plan for the dry run and the start of a run. */
public record PlanText(LoadPlan plan) {

  private static final long STEP_NANOS = 10_000_000;

  /** Each level once, in the order in which they run; of a search its first level. */
  public List<LoadLevel> levels() {
    return plan instanceof GoodputSearch search
        ? List.of(search.first())
        : ((LoadPlan.Sweep) plan).once();
  }

  /** How often each level is measured. */
  public Repeats repeats() {
    return plan instanceof LoadPlan.Sweep sweep ? sweep.repeats() : Repeats.ONCE;
  }

  public boolean isSearch() {
    return plan instanceof GoodputSearch;
  }

  public String kind() {
    LoadLevel level = levels().get(0);
    if (level instanceof LoadLevel.FixedBatch batch) {
      return Sentence.text("load.batch", batch.trials());
    }
    return level instanceof LoadLevel.Open open
        ? Sentence.text("load.open", arrivals(open.arrivals()))
        : Sentence.text("load.closed");
  }

  public List<StopRule> stopWhen() {
    return plan instanceof LoadPlan.Sweep sweep ? sweep.rules() : List.of();
  }

  /** The phases of the last level, which stand for all. */
  public Phases phases() {
    List<LoadLevel> levels = levels();
    return levels.get(levels.size() - 1).phases();
  }

  /**
   * Adds rows with the levels, the stop rules and the phases; {@code each}: what has that number of
   * requests.
   */
  public void addTo(BiConsumer<String, String> rows, String each) {
    rows.accept("load", kind() + ", " + NumberText.counted(levels().size(), "level"));
    for (LoadLevel level : levels()) {
      rows.accept("", String.format(Locale.ROOT, "%-8s %s", level.label(), bound(level)));
    }
    if (levels().get(0) instanceof LoadLevel.Open open && open.arrivals() instanceof Trace replay) {
      replay.leftOut().forEach(line -> rows.accept("", line));
    }
    if (plan instanceof GoodputSearch search) {
      rows.accept("search", Sentence.text("load.search", search.ofUsers(), search.precision()));
    } else {
      rows.accept("requests", total() + each);
    }
    if (plan instanceof LoadPlan.Sweep sweep && repeats().max() > 1) {
      rows.accept("repeats", sweep.repeatsText());
    }
    if (!stopWhen().isEmpty()) {
      List<Sentence> rules = stopWhen().stream().map(StopRule::effect).toList();
      rows.accept("stops after", rules.stream().map(Sentence::text).collect(joining(", ")));
    }
    addPhases(rows);
  }

  private void addPhases(BiConsumer<String, String> rows) {
    Phases phases = phases();
    Long fill = phases.fillNanos();
    boolean isFilled = fill == null || fill > 0;
    if (isFilled) {
      rows.accept("fill", Sentence.text("load.fill", fill == null ? null : time(fill)));
    }
    Long stabilize = phases.stabilizeNanos();
    if (stabilize == null || stabilize > 0) {
      rows.accept(
          "stabilize",
          Sentence.text(
              "load.stabilize",
              stabilize == null ? null : time(stabilize),
              isFilled,
              time(phases.boundNanos())));
    }
    if (phases.requests() == null) {
      rows.accept("cooldown", Sentence.text("load.cooldown", phases.cooldown()));
    }
    rows.accept("drain", Sentence.text("load.drain", time(phases.drainNanos())));
  }

  private String bound(LoadLevel level) {
    Long requests = expectedRequests(level);
    Duration duration = expectedDuration(level);
    boolean isByTime = level.phases().requests() == null;
    return Sentence.text(
        "load.requests",
        requests,
        duration == null ? null : time(duration),
        isByTime && requests != null ? about(requests) : null,
        level.phases().isTimed());
  }

  /** The requests to measure in words. */
  public String total() {
    Long total = expected();
    return total == null
        ? Sentence.text("load.unknown")
        : Sentence.text(
            "load.total",
            repeats().goal() != null,
            phases().requests() == null ? about(total) : NumberText.counted(total, "request"));
  }

  private String about(long requests) {
    return Sentence.text("load.about", isRandom(), requests);
  }

  /**
   * What a level needs to prove that a share of all requests, in percent, meets the SLO; empty
   * where each has that, and for a search, which measures its levels for as long as they need.
   */
  public String proof(double percentile) {
    long needed = Interval.minToShow(percentile);
    List<LoadLevel> few = levels().stream().filter(level -> !isPlanned(level, needed)).toList();
    if (isSearch() || few.isEmpty()) {
      return "";
    }
    List<String> known =
        few.stream()
            .filter(level -> expectedRequests(level) != null)
            .map(level -> level.label() + ": " + expectedRequests(level))
            .toList();
    return Sentence.text("load.proof", needed, known);
  }

  private boolean isPlanned(LoadLevel level, long requests) {
    Long planned = expectedRequests(level);
    return planned != null && planned * repeats().max() >= requests;
  }

  /** Requests to measure at all levels and repeats; null if the server decides. */
  public @Nullable Long expected() {
    long all = 0;
    for (LoadLevel level : levels()) {
      Long some = plan instanceof GoodputSearch ? null : expectedRequests(level);
      if (some == null) {
        return null;
      }
      all += some;
    }
    return all * repeats().max();
  }

  /** Number of requests to measure at a level; null if it depends on the server. */
  private static @Nullable Long expectedRequests(LoadLevel level) {
    Integer requests = level.phases().requests();
    if (requests != null) {
      return requests.longValue();
    }
    if (!(level instanceof LoadLevel.Open open)) {
      return null;
    }
    return Math.round(
        open.arrivals() instanceof VaryingRate curve
            ? integral(curve)
            : open.perSecond() * open.phases().measureNanos() / 1e9);
  }

  /** Expected number of users of a curve: sum of trapezoids of 10 ms. */
  private static double integral(VaryingRate curve) {
    double sum = 0;
    for (long from = 0; from < curve.lengthNanos(); from += STEP_NANOS) {
      long until = Math.min(from + STEP_NANOS, curve.lengthNanos());
      double both = curve.rate().applyAsDouble(from) + curve.rate().applyAsDouble(until);
      sum += both / 2 * (until - from) / 1e9;
    }
    return sum;
  }

  /** Length of the measure phase; null if a number of requests bounds it and the server decides. */
  public static @Nullable Duration expectedDuration(LoadLevel level) {
    Integer requests = level.phases().requests();
    if (requests == null) {
      return Duration.ofNanos(level.phases().measureNanos());
    }
    long max = level.phases().isTimed() ? level.phases().measureNanos() : Long.MAX_VALUE;
    if (level instanceof LoadLevel.Open open) {
      return Duration.ofNanos(Math.min(max, Math.round(requests / open.perSecond() * 1e9)));
    }
    return level.phases().isTimed() ? Duration.ofNanos(max) : null;
  }

  /** How long all takes that has this full load, one after the other. */
  public String expectedTime(int turns) {
    if (isSearch()) {
      return timeOfSearches(turns);
    }
    int all = turns * repeats().max();
    Duration measured = Duration.ZERO;
    Duration longest = Duration.ZERO;
    for (LoadLevel level : levels()) {
      Duration duration = expectedDuration(level);
      if (duration == null) {
        return "depends on the server: " + total();
      }
      Phases phases = level.phases();
      measured = measured.plus(duration);
      longest =
          longest
              .plusNanos(phases.longestNanos())
              .plus(phases.requests() == null ? Duration.ZERO : duration);
    }
    return "%s%s of measuring, at most %s in all"
        .formatted(
            repeats().goal() == null ? "" : "at most ",
            time(measured.multipliedBy(all)),
            time(longest.multipliedBy(all)));
  }

  private String timeOfSearches(int searches) {
    long level = phases().isTimed() ? phases().knownNanos() : 0;
    long all = searches * level;
    return Sentence.text(
        "load.searches",
        level == 0 ? null : time(30 * all),
        time(40 * all),
        time(level),
        LoadPlan.MAX_ROUNDS);
  }

  private static Sentence arrivals(Arrivals arrivals) {
    if (arrivals instanceof Trace replay) {
      return Sentence.of(
          "load.replay",
          replay.name(),
          replay.speed() == 1 ? null : (Double) replay.speed(),
          replay.size() * 1e9 / replay.lengthNanos(),
          replay.stamps());
    }
    Gaps gaps = arrivals.gaps();
    if (gaps == null || gaps.isPoisson()) {
      return Sentence.of("load.poisson");
    }
    return gaps.isEqual() ? Sentence.of("load.constant") : Sentence.of("load.gamma", gaps.cv());
  }

  private boolean isRandom() {
    if (!(levels().get(0) instanceof LoadLevel.Open open)) {
      return false;
    }
    Gaps gaps = open.arrivals().gaps();
    return gaps != null && !gaps.isEqual();
  }

  private static String time(long nanos) {
    return time(Duration.ofNanos(nanos));
  }

  public static String of(LoadLevel.Injection injection) {
    Double offered = injection.offered();
    return time(injection.untilNanos())
        + (offered == null ? "" : ", " + NumberText.plain(offered) + " " + injection.unit());
  }

  /** Sizes of texts: {@code 1 token}, {@code 16 to 450 tokens}. */
  public static String sizes(IntSummaryStatistics sizes, String unit) {
    return sizes.getMin() == sizes.getMax()
        ? NumberText.counted(sizes.getMin(), unit)
        : sizes.getMin() + " to " + sizes.getMax() + " " + unit + "s";
  }

  /** As {@link #sizes}, with their mean: {@code 16 to 450 tokens (mean 97)}. */
  public static String spread(IntSummaryStatistics sizes, String unit) {
    double mean = sizes.getAverage();
    String form =
        sizes.getMin() == sizes.getMax() ? "" : mean < 10 ? " (mean %.1f)" : " (mean %.0f)";
    return sizes(sizes, unit) + String.format(Locale.ROOT, form, mean);
  }

  /** {@code 90 s}, {@code 2 min}, {@code 2 min 30 s}, {@code 3 h 20 min}. */
  public static String time(Duration duration) {
    boolean isLong = duration.compareTo(Duration.ofMinutes(2)) >= 0;
    if (!isLong && (duration.toSeconds() < 60 || duration.toMillis() % 1000 == 0)) {
      return NumberText.plain(duration.toMillis() / 1000.0) + " s";
    }
    long seconds = Math.round(duration.toMillis() / 1000.0);
    if (seconds >= 7200) {
      return NumberText.duration((double) seconds);
    }
    String minutes = seconds / 60 + " min";
    return seconds % 60 == 0 ? minutes : minutes + " " + seconds % 60 + " s";
  }
}
