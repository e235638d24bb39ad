package io.github.gatlingllm.load;

import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A condition that ends a sweep after the first level that breaks it. Limits of errors count in all
 * phases and also end the level itself. Rejections with status 429 are not errors, and neither
 * continue nor end a row of them.
 */
public record StopRule(Condition condition, double limit) {

  /** Applies beside other rules unless {@link #NEVER} is one: the server is taken to be down. */
  static final StopRule DEFAULT = errorsInARowAbove(100);

  /** Ends nothing, and disables {@link #DEFAULT}. */
  public static final StopRule NEVER = new StopRule(Condition.NEVER, 0);

  /** The queue of an open level grows, see {@link Backlog}; levels must be long for requests. */
  public static final StopRule OVER_SATURATED = new StopRule(Condition.OVER_SATURATED, 0);

  /** The conditions, with the text before and after their limit. */
  private enum Condition {
    SLO_SHARE("slo<", "%"),
    ERROR_SHARE("errors>", "%"),
    ERROR_COUNT("errors>", ""),
    ERRORS_IN_A_ROW("errorsInARow>", ""),
    OVER_SATURATED("overSaturated", null),
    NEVER("never", null);

    private final String prefix;
    private final @Nullable String suffix;

    Condition(String prefix, @Nullable String suffix) {
      this.prefix = prefix;
      this.suffix = suffix;
    }

    private boolean matches(String text) {
      return suffix == null
          ? text.equals(prefix)
          : text.startsWith(prefix) && text.endsWith(suffix);
    }
  }

  /** Too few requests met the SLO; by rule {@code percentiles} its worst objective. */
  public static StopRule sloBelow(double percent) {
    require(percent > 0 && percent <= 100, "sloBelow", percent);
    return new StopRule(Condition.SLO_SHARE, percent);
  }

  public static StopRule errorsAbove(double percent) {
    require(percent >= 0 && percent <= 100, "errorsAbove", percent);
    return new StopRule(Condition.ERROR_SHARE, percent);
  }

  public static StopRule errorCountAbove(long count) {
    if (count < 0) {
      throw new IllegalArgumentException(
          "errorCountAbove(" + count + ") is always broken; expected 0 or more");
    }
    return new StopRule(Condition.ERROR_COUNT, count);
  }

  public static StopRule errorsInARowAbove(long count) {
    if (count < 1) {
      throw new IllegalArgumentException(
          "errorsInARowAbove(" + count + ") is always broken; expected 1 or more");
    }
    return new StopRule(Condition.ERRORS_IN_A_ROW, count);
  }

  /** Parses a rule such as {@code slo<50%}, {@code errors>10%} or {@code never}. */
  public static StopRule parse(String text) {
    String plain = text.replace(" ", "");
    for (Condition condition : Condition.values()) {
      if (condition.matches(plain)) {
        String limit =
            condition.suffix == null
                ? ""
                : plain.substring(
                    condition.prefix.length(), plain.length() - condition.suffix.length());
        return switch (condition) {
          case SLO_SHARE -> sloBelow(Double.parseDouble(limit));
          case ERROR_SHARE -> errorsAbove(Double.parseDouble(limit));
          case ERROR_COUNT -> errorCountAbove(Long.parseLong(limit));
          case ERRORS_IN_A_ROW -> errorsInARowAbove(Long.parseLong(limit));
          case OVER_SATURATED -> OVER_SATURATED;
          case NEVER -> NEVER;
        };
      }
    }
    throw new IllegalArgumentException(
        "'%s' is not a stop rule; expected slo<50%%, errors>10%%, errors>50, errorsInARow>100, overSaturated"
            .formatted(text));
  }

  @Nullable Sentence brokenBy(LevelResult level) {
    return switch (condition) {
      case SLO_SHARE -> {
        Double share = level.sloShare();
        yield share != null && share * 100 < limit
            ? Sentence.of("stopped.slo", share, level.attempted())
            : null;
      }
      case ERROR_SHARE -> {
        Double share = level.failedShare();
        yield share != null && share * 100 > limit
            ? Sentence.of("stopped.errors", share, level.ended())
            : null;
      }
      case ERROR_COUNT ->
          level.failures() > limit ? Sentence.of("stopped.count", level.failures(), limit) : null;
      case ERRORS_IN_A_ROW -> {
        LevelResult.FailedInARow row = level.failedInARow();
        yield level.cut() && row != null && row.count() > limit
            ? Sentence.of("stopped.row", row.count(), row.lastError())
            : null;
      }
      case OVER_SATURATED -> {
        Queue queue = level.queue();
        yield queue != null && queue.grows()
            ? Sentence.of("stopped.queue", queue.held(), queue.clause("the load"))
            : null;
      }
      case NEVER -> null;
    };
  }

  /** More failed requests than this end a level immediately; null for other conditions. */
  @Nullable Long maxFailures() {
    return condition == Condition.ERROR_COUNT ? (Long) (long) limit : null;
  }

  /**
   * More consecutive failed requests than this end a level immediately; null for other conditions.
   */
  @Nullable Long maxFailuresInARow() {
    return condition == Condition.ERRORS_IN_A_ROW ? (Long) (long) limit : null;
  }

  boolean appliesAtLevelEnd() {
    return condition != Condition.ERRORS_IN_A_ROW;
  }

  public boolean needsSlo() {
    return condition == Condition.SLO_SHARE;
  }

  private static void require(boolean inRange, String name, double percent) {
    if (!inRange) {
      throw new IllegalArgumentException(
          name + "(" + percent + ") is not a percentage; expected one up to 100");
    }
  }

  /** What ends a sweep, e.g. {@code more than 100 failures in a row}. */
  Sentence effect() {
    return Sentence.of("stop", condition.name().toLowerCase(Locale.ROOT), limit);
  }

  @Override
  public String toString() {
    return condition.suffix == null
        ? condition.prefix
        : condition.prefix + NumberText.plain(limit) + condition.suffix;
  }

  /**
   * How often the levels of a sweep are measured. Each round has every level once, in a different
   * order, which the seed decides.
   *
   * @param max rounds; all run unless the goal is reached before
   * @param goal ends the rounds once, at every level, half the 95 % interval of the mean of the
   *     repeats' values of the figure is at most this percentage of the mean; null without
   */
  public record Repeats(int max, @Nullable Double goal, String figure) {

    /** Every level once, in the given order. */
    public static final Repeats ONCE = new Repeats(1);

    /** Minimum rounds before a goal is judged: the spread of two tells too little. */
    static final int MIN = 3;

    private static final int MAX_WITH_GOAL = 20;
    private static final int MAX = 100;
    private static final int ROUNDS_SHOWN = 5;

    /** What goals can be about; {@code throughput} is output tok/s, or inputs/s of embeddings. */
    private static final List<String> FIGURES =
        List.of("throughput", "requests_per_s", "ttft.p50", "ttft.p99", "itl.p50", "itl.p99");

    private static final Pattern GOAL =
        Pattern.compile("auto:(\\d{1,2}(?:\\.\\d{1,3})?)%(?::([a-z0-9_.]+))?");

    private static final long SALT = 0x72657065617473L; // "repeats"

    public Repeats {
      if (max < 1 || max > MAX) {
        throw new IllegalArgumentException(
            "repeats(" + max + ") is out of range; expected 1 to " + MAX);
      }
    }

    public Repeats(int rounds) {
      this(rounds, null, "");
    }

    /** Parses {@code 5}, {@code auto:3%} or {@code auto:3%:ttft.p99}. */
    public static Repeats parse(String text) {
      Matcher goal = GOAL.matcher(text);
      if (text.matches("\\d{1,3}")) {
        return new Repeats(Integer.parseInt(text));
      }
      String figure = goal.matches() ? Objects.requireNonNullElse(goal.group(2), "throughput") : "";
      if (!FIGURES.contains(figure) || Double.parseDouble(goal.group(1)) == 0) {
        throw new IllegalArgumentException(
            "expected 1 to 100, or auto:<percent>%[:<figure>] with less than 100 % and one of "
                + String.join(", ", FIGURES));
      }
      return new Repeats(MAX_WITH_GOAL, Double.valueOf(goal.group(1)), figure);
    }

    List<LoadLevel> rounds(List<LoadLevel> levels, long seed) {
      List<LoadLevel> all = new ArrayList<>();
      for (int round = 1; round <= max; round++) {
        List<LoadLevel> some = new ArrayList<>();
        for (LoadLevel level : levels) {
          some.add(level.repeat(round));
        }
        Collections.shuffle(some, new Random(Seed.at(seed, SALT, round).nextLong()));
        all.addAll(some);
      }
      return all;
    }

    /** What is printed of rounds: {@code 5 of each level, in random order: c=2 c=1 | c=1 c=2}. */
    String describe(List<LoadLevel> levels) {
      int each = levels.size() / max;
      List<String> shown = new ArrayList<>();
      for (int from = 0; from < levels.size() && shown.size() < ROUNDS_SHOWN; from += each) {
        shown.add(
            levels.subList(from, from + each).stream()
                .map(level -> LevelInfo.unnumbered(level.label()))
                .collect(joining(" ")));
      }
      return Sentence.text(
          "load.rounds",
          max,
          MIN,
          goal,
          goal == null ? null : figure,
          String.join(" | ", shown),
          max > ROUNDS_SHOWN);
    }

    /** The conclusion after these rounds, with half the interval of each level in percent. */
    Conclusion conclude(int measured, Map<String, List<@Nullable Double>> byLevel) {
      List<Sentence> each = new ArrayList<>();
      double widest = 0;
      for (Map.Entry<String, List<@Nullable Double>> level : byLevel.entrySet()) {
        double half = halfPercent(level.getValue());
        widest = Math.max(widest, half);
        String shown = NumberText.with(finite(half), "%");
        each.add(Sentence.of("repeated.level", level.getKey(), shown));
      }
      boolean isReached = widest <= Objects.requireNonNull(goal);
      String text = Sentence.text("repeated", figure, goal, isReached, measured, each);
      return new Conclusion("repeats", text, isReached, finite(widest), goal, null, null);
    }

    /** Infinite where a repeat has no value, or the mean is 0. */
    private static double halfPercent(List<@Nullable Double> values) {
      List<Double> known = values.stream().filter(Objects::nonNull).toList();
      double mean = known.stream().mapToDouble(value -> value).average().orElse(0);
      Spread spread = known.size() < values.size() ? null : Spread.of(mean, known);
      return spread == null || mean == 0 ? Double.POSITIVE_INFINITY : spread.half() / mean * 100;
    }

    private static @Nullable Double finite(double half) {
      return Double.isFinite(half) ? (Double) half : null;
    }
  }
}
