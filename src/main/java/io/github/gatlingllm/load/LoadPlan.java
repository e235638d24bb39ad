package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.LoadLevel.Open;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.StopRule.Repeats;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The load levels of a run: a fixed sweep, or a search that chooses them. */
public sealed interface LoadPlan permits LoadPlan.Sweep, GoodputSearch {

  /** A search measures a level at most this many times its planned length. */
  int MAX_ROUNDS = 8;

  /**
   * A search for the highest rate at which the SLO holds.
   *
   * @param precision relative error of the result, above 0 and below 1
   */
  static LoadPlan search(double startingAt, double precision, long seed, Phases phases) {
    return new GoodputSearch(false, startingAt, precision, seed, phases);
  }

  /** The same for the highest number of users of a closed loop, beginning with an integer. */
  static LoadPlan searchUsers(double startingAt, double precision, Phases phases) {
    return new GoodputSearch(true, startingAt, precision, 0, phases);
  }

  /** Whether it continues or ends by how the SLO is held. */
  boolean needsSlo();

  /** The levels of one run, beginning with the first. */
  LevelSource source();

  /** Longest fill, stabilize and measure of all levels; null if not known before the run. */
  @Nullable Long plannedNanos();

  /** The maximum number of users of a closed loop or a batch; 0 where arrivals decide. */
  default int concurrentUsers() {
    return 0;
  }

  /** One injector's part: its share, numbered arrivals, and phases whose times all know. */
  LoadPlan part(InjectorShare share);

  /** Start of each level since the first; for one of several injectors, then the end of all. */
  List<Long> startOffsets(InjectorShare share);

  /** Supplies the levels of one run one by one. Used by one thread at a time. */
  interface LevelSource {

    @Nullable LoadLevel next(@Nullable LevelResult before);

    /** Whether the choice of a level depends on the results of earlier ones. */
    boolean needsResults();

    /** When its levels start beside those of other classes of traffic; null for one class. */
    default Turns.@Nullable ClassTurn turn() {
      return null;
    }

    /** More failed requests than this end a level immediately. */
    default long maxFailures() {
      return Long.MAX_VALUE;
    }

    /** More consecutive failed requests than this end a level immediately. */
    default long maxFailuresInARow() {
      return Long.MAX_VALUE;
    }

    /** Whether measuring is extended by its planned length, evaluated shortly before its end. */
    default boolean extendsMeasuring(LevelResult soFar) {
      return false;
    }

    /** Estimated levels after the last one supplied; null if {@link #plannedNanos} is known. */
    default @Nullable Integer remainingLevels() {
      return null;
    }

    /** The conclusion after the last level; null for none. */
    @Nullable Conclusion conclusion();

    /** All conclusions: a search has one for each tier of the SLO. */
    default List<Conclusion> conclusions() {
      Conclusion only = conclusion();
      return only == null ? List.of() : List.of(only);
    }
  }

  /**
   * Levels in a given order, with all their repeats.
   *
   * @param turn when its levels start, beside those of other classes of traffic; null for one class
   */
  record Sweep(
      List<LoadLevel> levels, List<StopRule> rules, Repeats repeats, Turns.@Nullable ClassTurn turn)
      implements LoadPlan {

    /** Pause between the latest end of a level and the next one, for cancelled requests to end. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Up to this number, arrivals are counted one by one before the run. */
    private static final double MAX_COUNTED = 2e7;

    public Sweep {
      levels = List.copyOf(levels);
      rules = List.copyOf(rules);
      if (levels.isEmpty()) {
        throw new IllegalArgumentException("The load plan has no level; expected at least one");
      }
      Set<String> labels = new HashSet<>();
      for (LoadLevel level : levels) {
        if (!labels.add(level.label())) {
          throw new IllegalArgumentException(
              "Level " + level.label() + " occurs twice; list each level once");
        }
      }
      if (repeats.max() > 1 && rules.stream().anyMatch(StopRule::appliesAtLevelEnd)) {
        throw new IllegalArgumentException(
            "repeated levels run in random order, so none is the first to break a rule of stopWhen;"
                + " expected no rule but errorsInARow");
      }
    }

    @Override
    public boolean needsSlo() {
      return rules.stream().anyMatch(StopRule::needsSlo);
    }

    /** Runs all levels, unless {@link StopRule#DEFAULT} ends one. */
    public Sweep(List<LoadLevel> levels) {
      this(levels, List.of(StopRule.DEFAULT), Repeats.ONCE, null);
    }

    /** The same with every level repeated; the seed decides the orders of the rounds. */
    public Sweep repeated(Repeats times, long seed) {
      return new Sweep(times.max() == 1 ? once() : times.rounds(once(), seed), rules, times, turn);
    }

    /** Each level once, without the number of a repeat; repeated ones by their load. */
    List<LoadLevel> once() {
      return repeats.max() == 1
          ? levels
          : levels.subList(0, levels.size() / repeats.max()).stream()
              .map(level -> level.repeat(0))
              .sorted(Comparator.comparingDouble(LoadLevel::offered))
              .toList();
    }

    /** What is printed of repeats; empty without. */
    public String repeatsText() {
      return repeats.max() == 1 ? "" : repeats.describe(levels);
    }

    /** The order in which classes of traffic have load, by their names. */
    public String turnsText(List<String> classes) {
      return turn == null ? "" : turn.all().text(classes);
    }

    /** Levels with different seeds: with one seed all would have one pattern, only stretched. */
    public static Sweep open(List<Open> levels, Gaps gaps, long seed, Phases phases) {
      return new Sweep(
          IntStream.range(0, levels.size())
              .<LoadLevel>mapToObj(i -> levels.get(i).with(gaps.withSeed(seed + i), phases))
              .toList());
    }

    /**
     * The same with more rules, ending with the first level that breaks one. {@link
     * StopRule#DEFAULT} applies too, unless a rule limits errors in a row or is {@link
     * StopRule#NEVER}.
     */
    public Sweep stopWhen(List<StopRule> someRules) {
      if (someRules.isEmpty()) {
        throw new IllegalArgumentException(
            "stopWhen() has no rule; expected e.g. stopWhen(sloBelow(50))");
      }
      List<StopRule> all = new ArrayList<>(rules);
      boolean hasDefault = all.remove(StopRule.DEFAULT);
      someRules.stream().filter(rule -> !all.contains(rule)).forEach(all::add);
      if (hasDefault
          && all.stream().noneMatch(rule -> rule.maxFailuresInARow() != null)
          && !all.remove(StopRule.NEVER)) {
        all.add(StopRule.DEFAULT);
      }
      all.removeIf(StopRule.NEVER::equals);
      return new Sweep(levels, all, repeats, turn);
    }

    @Override
    public int concurrentUsers() {
      return levels.stream()
          .filter(level -> !(level instanceof Open))
          .mapToInt(level -> (int) level.offered())
          .max()
          .orElse(0);
    }

    @Override
    public LevelSource source() {
      return new InOrder();
    }

    @Override
    public Sweep part(InjectorShare share) {
      if (share.isPart()) {
        requireDivisible(share);
      }
      long[] firstNumbers = new long[levels.size() + 1];
      for (int i = 0; i < levels.size(); i++) {
        firstNumbers[i + 1] = firstNumbers[i] + maxArrivals(levels.get(i));
      }
      List<LoadLevel> own = new ArrayList<>();
      for (int i = 0; i < levels.size(); i++) {
        Arrival.Numbers numbers =
            new Arrival.Numbers(firstNumbers[i], firstNumbers[levels.size()], share);
        LoadLevel level = levels.get(i);
        own.add(
            level instanceof Open open
                ? open.numbered(numbers)
                : level instanceof LoadLevel.Closed closed && share.isPart()
                    ? closed.part(share)
                    : level);
      }
      return new Sweep(own, rules, repeats, turn);
    }

    private static long maxArrivals(LoadLevel level) {
      if (!(level instanceof Open open)) {
        return 0;
      }
      double expected = open.perSecond() * open.phases().longestNanos() / 1e9;
      return expected > MAX_COUNTED ? Math.round(2 * expected) : open.maxArrivals();
    }

    private void requireDivisible(InjectorShare share) {
      if (repeats.goal() != null) {
        throw new IllegalArgumentException(
            "injector %s sees its own requests only: set a number of repeats".formatted(share));
      }
      for (StopRule rule : rules) {
        if (rule.appliesAtLevelEnd() || rule.maxFailures() != null) {
          throw new IllegalArgumentException(
              ("injector %s cannot stop when %s: it sees its own requests, not those of all"
                      + " injectors; leave stopWhen out")
                  .formatted(share, rule));
        }
      }
      for (LoadLevel level : levels) {
        boolean isLast = level == levels.get(levels.size() - 1);
        if (level instanceof LoadLevel.FixedBatch) {
          throw new IllegalArgumentException(
              ("injector %s cannot run trials: each waits for the slowest request of all injectors;"
                      + " bound levels by requests or time instead")
                  .formatted(share));
        }
        if (!isLast && level instanceof LoadLevel.Closed && !level.phases().isTimed()) {
          throw new IllegalArgumentException(
              ("injector %s cannot know when the level after %s starts, as requests alone bound it;"
                      + " set a duration too")
                  .formatted(share, level.label()));
        }
      }
    }

    @Override
    public List<Long> startOffsets(InjectorShare share) {
      List<Long> starts = new ArrayList<>(List.of(0L));
      for (LoadLevel level : share.isPart() ? levels : List.<LoadLevel>of()) {
        if (level instanceof Open open) {
          starts.add(starts.get(starts.size() - 1) + open.longestNanos() + PAUSE_NANOS);
        } else if (level.phases().isTimed()) {
          starts.add(starts.get(starts.size() - 1) + level.phases().longestNanos() + PAUSE_NANOS);
        }
      }
      return starts;
    }

    @Override
    public @Nullable Long plannedNanos() {
      long all = 0;
      for (LoadLevel level : levels) {
        Long planned = level.phases().plannedNanos();
        if (planned == null) {
          return null;
        }
        all += planned;
      }
      return all;
    }

    private final class InOrder implements LevelSource {
      private int next;
      private @Nullable Conclusion conclusion;
      private final Map<String, List<@Nullable Double>> ofGoal = new LinkedHashMap<>();

      private InOrder() {
        once().forEach(level -> ofGoal.put(level.label(), new ArrayList<>()));
      }

      @Override
      public @Nullable LoadLevel next(@Nullable LevelResult before) {
        if (before != null && (before.cut() || next < levels.size())) {
          for (StopRule rule : rules) {
            Sentence broken = rule.brokenBy(before);
            if (broken != null) {
              conclusion = stopped(before, levels.size() - next, rule, broken);
              return null;
            }
          }
        }
        conclusion = before == null ? null : judged(before);
        return conclusion == null && next < levels.size() ? levels.get(next++) : null;
      }

      /** The conclusion about a goal of repeats, once a round reaches it or was the last. */
      private @Nullable Conclusion judged(LevelResult ended) {
        if (repeats.goal() == null) {
          return null;
        }
        Objects.requireNonNull(ofGoal.get(LevelInfo.unnumbered(ended.label())))
            .add(ended.figures().get(repeats.figure()));
        int each = levels.size() / repeats.max();
        if (next % each > 0 || next / each < Repeats.MIN) {
          return null;
        }
        Conclusion found = repeats.conclude(next / each, ofGoal);
        return found.sound() || next == levels.size() ? found : null;
      }

      private static Conclusion stopped(
          LevelResult level, int remaining, StopRule rule, Sentence broken) {
        LevelResult.FailedInARow row = level.failedInARow();
        boolean hasServerFailed = !rule.appliesAtLevelEnd() && row != null;
        return new Conclusion(
            "stopped early",
            Sentence.text("stopped", level.cut(), level.label(), remaining, broken),
            !level.cut(),
            hasServerFailed ? (Double) (double) row.count() : null,
            hasServerFailed ? (Double) rule.limit() : null,
            null,
            null);
      }

      @Override
      public Turns.@Nullable ClassTurn turn() {
        return turn;
      }

      @Override
      public long maxFailures() {
        return min(StopRule::maxFailures);
      }

      @Override
      public long maxFailuresInARow() {
        return min(StopRule::maxFailuresInARow);
      }

      private long min(Function<StopRule, @Nullable Long> limit) {
        return rules.stream()
            .map(limit)
            .filter(Objects::nonNull)
            .min(Comparator.naturalOrder())
            .orElse(Long.MAX_VALUE);
      }

      @Override
      public boolean needsResults() {
        return repeats.goal() != null || rules.stream().anyMatch(StopRule::appliesAtLevelEnd);
      }

      @Override
      public @Nullable Conclusion conclusion() {
        return conclusion;
      }
    }
  }
}
