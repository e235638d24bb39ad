package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.record.Slo;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Describes a load plan in words, for the dry run and the start of a run. */
public record PlanText(LoadPlan plan) {

  private static final long STEP_NANOS = 10_000_000;

  /** Levels in the order in which they run; of a search its first level. */
  public List<LoadLevel> levels() {
    return plan instanceof GoodputSearch search
        ? List.of(LoadLevel.Open.steady(search.startingAt()).with(search.phases()))
        : ((LoadPlan.Sweep) plan).levels();
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

  public void levels(BiConsumer<String, String> row) {
    row.accept("load", kind() + ", " + NumberText.counted(levels().size(), "level"));
    for (LoadLevel level : levels()) {
      row.accept("", String.format(Locale.ROOT, "%-8s %s", level.label(), bound(level)));
    }
    if (plan instanceof GoodputSearch search) {
      row.accept(
          "search",
          "the highest rate that holds the SLO, to "
              + NumberText.plain(search.precision() * 100)
              + " %: doubled from there, then bisected");
    }
  }

  public void stops(BiConsumer<String, String> row) {
    if (!stopWhen().isEmpty()) {
      row.accept(
          "stop when",
          stopWhen().stream().map(StopRule::toString).collect(Collectors.joining(", ")));
    }
  }

  public void phases(BiConsumer<String, String> row) {
    Phases phases = phases();
    Long fill = phases.fillNanos();
    if (fill == null || fill > 0) {
      row.accept(
          "fill",
          fill == null
              ? "auto: users start one after the other, over twice the median E2E"
              : time(fill) + " per level");
    }
    Long stabilize = phases.stabilizeNanos();
    if (stabilize == null) {
      row.accept(
          "stabilize",
          "auto: until "
              + (fill == null || fill > 0
                  ? "each user has had an answer"
                  : "the first answer has come")
              + " and twice the median E2E has passed, at most "
              + time(phases.boundNanos())
              + " per level");
    } else if (stabilize > 0) {
      row.accept("stabilize", time(stabilize) + " per level");
    }
    if (phases.requests() == null) {
      row.accept(
          "cooldown",
          phases.cooldown() ? "the load stays on until the measured requests have ended" : "none");
    }
    row.accept("drain", "at most " + time(phases.drainNanos()) + " per level");
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

  public String total() {
    Long total = expected();
    if (total == null) {
      return "as many as the server answers in the time of each level";
    }
    return phases().requests() == null ? about(total) : NumberText.counted(total, "request");
  }

  private String about(long requests) {
    return (isRandom() ? "about " : "") + NumberText.counted(requests, "request");
  }

  /** Requests to measure at all levels; null if the server decides. */
  public @Nullable Long expected() {
    long all = 0;
    for (LoadLevel level : levels()) {
      Long some = plan instanceof GoodputSearch ? null : expectedRequests(level);
      if (some == null) {
        return null;
      }
      all += some;
    }
    return all;
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
    if (open.arrivals() instanceof Arrivals.Replay replay) {
      return (long) replay.trace().size();
    }
    return open.arrivals() instanceof Arrivals.Curve curve
        ? (Long) Math.round(integral(curve))
        : (Long) Math.round(open.perSecond() * open.phases().measureNanos() / 1e9);
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
    long most = level.phases().isTimed() ? level.phases().measureNanos() : Long.MAX_VALUE;
    if (level instanceof LoadLevel.Open open) {
      return Duration.ofNanos(Math.min(most, Math.round(requests / open.perSecond() * 1e9)));
    }
    return level.phases().isTimed() ? Duration.ofNanos(most) : null;
  }

  private static String arrivals(Arrivals arrivals) {
    if (arrivals instanceof Arrivals.Replay replay) {
      return "arrivals of "
          + replay.trace().name()
          + (replay.speed() == 1 ? "" : ", " + NumberText.plain(replay.speed()) + " times as fast");
    }
    Gaps gaps = gaps(arrivals);
    if (gaps instanceof Gaps.Gamma gamma) {
      return "gamma arrivals of cv " + NumberText.plain(gamma.cv());
    }
    return gaps instanceof Gaps.Equal ? "constant arrivals" : "poisson arrivals";
  }

  private static @Nullable Gaps gaps(Arrivals arrivals) {
    if (arrivals instanceof Arrivals.Steady steady) {
      return steady.gaps();
    }
    return arrivals instanceof Arrivals.Curve curve ? curve.gaps() : null;
  }

  private boolean isRandom() {
    if (!(levels().get(0) instanceof LoadLevel.Open open)) {
      return false;
    }
    Gaps gaps = gaps(open.arrivals());
    return gaps != null && !(gaps instanceof Gaps.Equal);
  }

  private static String time(long nanos) {
    return time(Duration.ofNanos(nanos));
  }

  public static String of(LoadLevel.Injection injection) {
    Double offered = injection.offered();
    return time(injection.untilNanos())
        + (offered == null ? "" : ", " + NumberText.plain(offered) + " " + injection.unit());
  }

  /** When a level holds the SLO, as text to follow its objectives. */
  public static String held(Slo slo) {
    return "; a level holds when "
        + NumberText.plain(slo.percentile())
        + " % of its requests meet "
        + (slo.rule() == Slo.Rule.REQUESTS ? "all objectives at once" : "each objective");
  }

  /** {@code 90 s}, {@code 2 min}, {@code 2 min 30 s}. */
  public static String time(Duration duration) {
    if (duration.compareTo(Duration.ofMinutes(2)) < 0) {
      return NumberText.plain(duration.toMillis() / 1000.0) + " s";
    }
    long seconds = Math.round(duration.toMillis() / 1000.0);
    String minutes = seconds / 60 + " min";
    return seconds % 60 == 0 ? minutes : minutes + " " + seconds % 60 + " s";
  }
}
