package io.github.gatlingllm.load;

import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Spread;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How often the levels of a sweep are measured. Each round has every level once, in an order of its
 * own, which the seed decides.
 *
 * @param most rounds; all run unless {@code goal} is reached before
 */
public record Repeats(int most, @Nullable Goal goal) {

  /** Every level once, in the given order. */
  public static final Repeats ONCE = new Repeats(1, null);

  /** Fewest rounds before a goal is judged: the spread of two says too little. */
  static final int LEAST = 3;

  private static final int MOST_WITH_GOAL = 20;
  private static final int MOST = 100;
  private static final int ROUNDS_SHOWN = 5;

  /** What goals can be about; {@code throughput} is output tok/s, or inputs/s of embeddings. */
  private static final List<String> FIGURES =
      List.of("throughput", "requests_per_s", "ttft.p50", "ttft.p99", "itl.p50", "itl.p99");

  private static final Pattern GOAL =
      Pattern.compile("auto:(\\d{1,2}(?:\\.\\d{1,3})?)%(?::([a-z0-9_.]+))?");

  private static final long SALT = 0x72657065617473L; // "repeats"

  /**
   * Ends the rounds once, at every level, half the 95 % interval of the mean of the repeats' values
   * of a figure is at most this percentage of the mean.
   */
  public record Goal(double percent, String figure) {

    /** The conclusion after these rounds, with half the interval of each level in percent. */
    Conclusion conclude(int rounds, Map<String, List<@Nullable Double>> byLevel) {
      List<String> each = new ArrayList<>();
      double widest = 0;
      for (Map.Entry<String, List<@Nullable Double>> level : byLevel.entrySet()) {
        double half = halfPercent(level.getValue());
        widest = Math.max(widest, half);
        each.add(level.getKey() + " ±" + NumberText.with(finite(half), "%"));
      }
      boolean isReached = widest <= percent;
      String text =
          "%s ±%s %% %s after %s repeats: %s"
              .formatted(
                  figure,
                  NumberText.plain(percent),
                  isReached ? "reached" : "not reached",
                  rounds,
                  String.join(", ", each));
      return new Conclusion("repeats", text, isReached, finite(widest), percent, null, null);
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

  public Repeats {
    if (most < 1 || most > MOST) {
      throw new IllegalArgumentException(
          "repeats(" + most + ") is out of range; expected 1 to " + MOST);
    }
  }

  /** Parses {@code 5}, {@code auto:3%} or {@code auto:3%:ttft.p99}. */
  public static Repeats parse(String text) {
    Matcher goal = GOAL.matcher(text);
    if (text.matches("\\d{1,3}")) {
      return new Repeats(Integer.parseInt(text), null);
    }
    String figure = goal.matches() ? Objects.requireNonNullElse(goal.group(2), "throughput") : "";
    if (!FIGURES.contains(figure) || Double.parseDouble(goal.group(1)) == 0) {
      throw new IllegalArgumentException(
          "expected 1 to 100, or auto:<percent>%[:<figure>] with less than 100 % and one of "
              + String.join(", ", FIGURES));
    }
    return new Repeats(MOST_WITH_GOAL, new Goal(Double.parseDouble(goal.group(1)), figure));
  }

  /** The levels of all rounds. */
  List<LoadLevel> rounds(List<LoadLevel> levels, long seed) {
    List<LoadLevel> all = new ArrayList<>();
    for (int round = 1; round <= most; round++) {
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
  String words(List<LoadLevel> levels) {
    int each = levels.size() / most;
    List<String> shown = new ArrayList<>();
    for (int from = 0; from < levels.size() && shown.size() < ROUNDS_SHOWN; from += each) {
      shown.add(
          levels.subList(from, from + each).stream()
              .map(level -> LevelInfo.unnumbered(level.label()))
              .collect(joining(" ")));
    }
    String times =
        goal == null
            ? most + " of each level"
            : "%s to %s of each level, until each is within ±%s %% of %s"
                .formatted(LEAST, most, NumberText.plain(goal.percent()), goal.figure());
    String rest = most > ROUNDS_SHOWN ? " | …" : "";
    return times + ", in random order: " + String.join(" | ", shown) + rest;
  }
}
