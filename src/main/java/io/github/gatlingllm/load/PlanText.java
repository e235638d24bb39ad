package io.github.gatlingllm.load;

import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.StopRule.Repeats;
import io.github.gatlingllm.record.Slo;
import java.time.Duration;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Describes a load plan in words, for the dry run and the start of a run. */
public record PlanText(LoadPlan plan) {

  private static final long STEP_NANOS = 10_000_000;

  /** Each level once, in the order in which they run; of a search its first level. */
  public List<LoadLevel> levels() {
    return plan instanceof GoodputSearch search
        ? List.of(LoadLevel.Open.steady(search.startingAt()).with(search.phases()))
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
    if (level instanceof LoadLevel.Batch batch) {
      return "batch, " + NumberText.counted(batch.trials(), "trial") + " of each level";
    }
    return level instanceof LoadLevel.Open open
        ? "open loop, " + arrivals(open.arrivals())
        : "closed loop";
  }

  public List<StopRule> stopWhen() {
    return plan instanceof LoadPlan.Sweep sweep ? sweep.rules() : List.of();
  }

  /** The phases of the last level, which stand for all. */
  public Phases phases() {
    List<LoadLevel> levels = levels();
    return levels.get(levels.size() - 1).phases();
  }

  /** Adds rows with the levels, the stop rules and the phases; {@code each}: what has so many. */
  public void addTo(Rows rows, String each) {
    rows.row("load", kind() + ", " + NumberText.counted(levels().size(), "level"));
    for (LoadLevel level : levels()) {
      rows.row("", String.format(Locale.ROOT, "%-8s %s", level.label(), bound(level)));
    }
    if (levels().get(0) instanceof LoadLevel.Open open
        && open.arrivals() instanceof Arrivals.Replay replay) {
      replay.trace().leftOut().forEach(line -> rows.row("", line));
    }
    if (plan instanceof GoodputSearch search) {
      rows.row(
          "search",
          "the highest rate that holds the SLO, to "
              + NumberText.plain(search.precision() * 100)
              + " %: doubled from there, then bisected");
    } else {
      rows.row("requests", total() + each);
    }
    if (plan instanceof LoadPlan.Sweep sweep && repeats().max() > 1) {
      rows.row("repeats", sweep.repeatsText());
    }
    if (!stopWhen().isEmpty()) {
      rows.row("stops after", stopWhen().stream().map(StopRule::words).collect(joining(", ")));
    }
    addPhases(rows);
  }

  private void addPhases(Rows rows) {
    Phases phases = phases();
    Long fill = phases.fillNanos();
    if (fill == null) {
      rows.row("fill", "auto: users start one after the other, over twice the median E2E");
    } else if (fill > 0) {
      rows.row("fill", time(fill) + " per level");
    }
    Long stabilize = phases.stabilizeNanos();
    if (stabilize == null) {
      rows.row(
          "stabilize",
          "auto: until %s and twice the median E2E has passed, at most %s per level"
              .formatted(
                  fill == null || fill > 0
                      ? "each user has had an answer"
                      : "the first answer has come",
                  time(phases.boundNanos())));
    } else if (stabilize > 0) {
      rows.row("stabilize", time(stabilize) + " per level");
    }
    if (phases.requests() == null) {
      rows.row(
          "cooldown",
          phases.cooldown() ? "the load stays on until the measured requests have ended" : "none");
    }
    rows.row("drain", "at most " + time(phases.drainNanos()) + " per level");
  }

  private String bound(LoadLevel level) {
    Long requests = expectedRequests(level);
    Duration duration = expectedDuration(level);
    if (duration == null) {
      return NumberText.counted(Objects.requireNonNull(requests), "request");
    }
    if (requests == null) {
      return time(duration);
    }
    return level.phases().requests() == null
        ? time(duration) + ", " + about(requests)
        : NumberText.counted(requests, "request")
            + (level.phases().isTimed() ? ", at most " : ", about ")
            + time(duration);
  }

  /** The requests to measure in words. */
  public String total() {
    Long total = expected();
    if (total == null) {
      return "as many as the server answers in the time of each level";
    }
    return (repeats().goal() == null ? "" : "at most ")
        + (phases().requests() == null ? about(total) : NumberText.counted(total, "request"));
  }

  private String about(long requests) {
    return (isRandom() ? "about " : "") + NumberText.counted(requests, "request");
  }

  /**
   * What a level needs to prove that a share of all requests, in percent, meets the SLO; empty
   * where each has that, and for a search, which measures its levels for as long as they need.
   */
  public String proof(double percentile) {
    long needed = Interval.fewestToShow(percentile);
    List<LoadLevel> few = levels().stream().filter(level -> !isPlanned(level, needed)).toList();
    if (isSearch() || few.isEmpty()) {
      return "";
    }
    String known =
        few.stream()
            .filter(level -> expectedRequests(level) != null)
            .map(level -> level.label() + ": " + expectedRequests(level))
            .collect(joining(", "));
    return "to prove that, a level needs %s%s: set requests, or a longer duration"
        .formatted(
            NumberText.counted(needed, "request"), known.isEmpty() ? "" : " (" + known + ")");
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
        open.arrivals() instanceof Arrivals.Curve curve
            ? integral(curve)
            : open.perSecond() * open.phases().measureNanos() / 1e9);
  }

  /** Expected number of users of a curve: sum of trapezoids of 10 ms. */
  private static double integral(Arrivals.Curve curve) {
    double sum = 0;
    for (long from = 0; from < curve.lengthNanos(); from += STEP_NANOS) {
      long until = Math.min(from + STEP_NANOS, curve.lengthNanos());
      double both = curve.rate().perSecondAt(from) + curve.rate().perSecondAt(until);
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

  /** How long that many searches take, one after the other. */
  public String timeOfSearches(int searches) {
    Phases phases = phases();
    if (!phases.isTimed()) {
      return "depends on the server: 15 to 20 levels, 30 to 40 times the time of one";
    }
    long level = phases.knownNanos();
    long all = searches * level;
    return "about %s to %s: 15 to 20 levels of %s, each up to %s times as long if it could be chance"
        .formatted(time(30 * all), time(40 * all), time(level), LoadPlan.MAX_ROUNDS);
  }

  private static String arrivals(Arrivals arrivals) {
    if (arrivals instanceof Arrivals.Replay replay) {
      String stamps = replay.trace().stamps();
      return "arrivals of "
          + replay.name()
          + (replay.speed() == 1 ? "" : ", " + NumberText.plain(replay.speed()) + " times as fast")
          + ", %s per second".formatted(NumberText.load(replay.size() * 1e9 / replay.lengthNanos()))
          + (stamps.isEmpty() ? "" : " (" + stamps + ")");
    }
    Gaps gaps = arrivals.gaps();
    if (gaps == null || gaps.isPoisson()) {
      return "poisson arrivals";
    }
    return gaps.isEqual()
        ? "constant arrivals"
        : "gamma arrivals of cv " + NumberText.plain(gaps.cv());
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

  /** {@code 90 s}, {@code 2 min}, {@code 2 min 30 s}. */
  public static String time(Duration duration) {
    boolean isLong = duration.compareTo(Duration.ofMinutes(2)) >= 0;
    if (!isLong && (duration.toSeconds() < 60 || duration.toMillis() % 1000 == 0)) {
      return NumberText.plain(duration.toMillis() / 1000.0) + " s";
    }
    long seconds = Math.round(duration.toMillis() / 1000.0);
    String minutes = seconds / 60 + " min";
    return seconds % 60 == 0 ? minutes : minutes + " " + seconds % 60 + " s";
  }

  public static final class Rows {

    private final StringBuilder text = new StringBuilder();

    public void row(String name, String value) {
      text.append(String.format(Locale.ROOT, "%-15s%s", name, value)).append('\n');
    }

    /** The requests before the load; where there are any, at least so many. */
    public void warmUp(int requests, int min) {
      int sent = Math.max(requests, min);
      row("warm-up", requests == 0 ? "none" : NumberText.counted(sent, "request"));
    }

    /** Requests before each load level; no row without. */
    public void hooks(String requests) {
      if (!requests.isEmpty()) {
        row("before levels", requests);
      }
    }

    public void slo(String whose, String objectives, Slo slo) {
      row(
          "SLO",
          objectives.isEmpty()
              ? whose + "none"
              : "%s; a level holds when %s %% of its requests meet %s"
                  .formatted(
                      whose + objectives,
                      NumberText.plain(slo.percentile()),
                      slo.rule() == Slo.Rule.REQUESTS
                          ? "all objectives at once"
                          : "each objective"));
    }

    public void limits(
        Duration request,
        Duration idle,
        @Nullable Integer inFlight,
        @Nullable Integer requestsPerMinute,
        @Nullable Integer tokensPerMinute,
        @Nullable Object abandonment) {
      row(
          "limits",
          "%s per request, %s between events".formatted(time(request), time(idle))
              + limit(inFlight, "in flight")
              + limit(requestsPerMinute, "requests a minute")
              + limit(tokensPerMinute, "tokens a minute")
              + (abandonment == null ? "" : ", users leave: " + abandonment));
    }

    private static String limit(@Nullable Integer max, String what) {
      return max == null ? "" : ", " + max + " " + what;
    }

    @Override
    public String toString() {
      return text.toString();
    }
  }
}
