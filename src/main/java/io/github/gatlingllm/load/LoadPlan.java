package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.LoadLevel.Open;
import io.github.gatlingllm.metric.Backlog.Queue;
import io.github.gatlingllm.metric.Distribution.Interval;
import io.github.gatlingllm.record.InjectorShare;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Where the load levels of a run come from. */
public sealed interface LoadPlan permits LoadPlan.Sweep, GoodputSearch {

  /** The levels of one run, from the first. */
  LevelSource source();

  /**
   * Nanoseconds that fill, stabilize and measure of all levels take, at most where the plan may end
   * early; null where that is not known before the run.
   */
  @Nullable Long plannedNanos();

  /**
   * What an injector does of it: with numbers for the arrivals of its levels, its part of their
   * load, and phases whose times all injectors know.
   *
   * @throws IllegalArgumentException in one line, if it cannot be divided
   */
  LoadPlan part(InjectorShare share);

  /**
   * When each level starts, in nanoseconds since the start of the first, where that is fixed
   * before; beyond the levels there are, when all have surely ended. Of one of several injectors
   * those of all levels; else of the first alone, as the others follow when the one before has
   * ended.
   *
   * @param share of which this is the part
   */
  List<Long> startOffsets(InjectorShare share);

  /** Gives the levels of one run one by one. Used by one thread at a time. */
  interface LevelSource {

    /**
     * The next level.
     *
     * @param before what the level before it gave; null for the first level, and where {@link
     *     #needsResults} is false
     * @return null when there is no further one
     */
    @Nullable LoadLevel next(@Nullable LevelResult before);

    /** Whether the choice of a level depends on the results of those before. */
    boolean needsResults();

    /** How many failed requests end a level at once. */
    default FailureLimits failureLimits() {
      return FailureLimits.NONE;
    }

    /**
     * Whether the level that runs is measured on, once more for as long or as many requests as was
     * planned. Asked when its measure phase is about to end.
     *
     * @param soFar of the requests that have ended
     */
    default boolean extendsMeasuring(LevelResult soFar) {
      return false;
    }

    /**
     * About how many levels follow the one that was given last; null where {@link #plannedNanos}
     * says how long all take.
     */
    default @Nullable Integer levelsLeft() {
      return null;
    }

    /** What there is to say once there is no further level; null for nothing. */
    @Nullable Conclusion conclusion();
  }

  /**
   * What ends a level at once.
   *
   * @param most more failed requests than this
   * @param inARow more than this that fail one after the other
   */
  record FailureLimits(long most, long inARow) {

    /** Whatever fails, the level goes on. */
    public static final FailureLimits NONE = new FailureLimits(Long.MAX_VALUE, Long.MAX_VALUE);
  }

  /**
   * What a plan found.
   *
   * @param topic {@code stopped early} or {@code search}
   * @param text one line
   * @param sound false where the plan could not do what it was for: a level was cut short, a search
   *     did not confirm both ends of its bracket
   * @param value the figure behind it; null when there is none
   * @param threshold what it is judged by; null when there is none
   * @param holdsAt the highest rate that holds the SLO, users per second; null but for a search
   *     that found one
   * @param failsAt the lowest rate above it that does not; null where there is none
   */
  record Conclusion(
      String topic,
      String text,
      boolean sound,
      @Nullable Double value,
      @Nullable Double threshold,
      @Nullable Double holdsAt,
      @Nullable Double failsAt) {}

  /**
   * What became of the requests that a level had scheduled in its measure phase.
   *
   * @param label of the level
   * @param attempted requests that were judged by what decides whether the level holds the SLO,
   *     failed ones included; 0 where too many could not be judged. By the rule {@code percentiles}
   *     that is an objective that fewest met, by {@code requests} all objectives at once
   * @param met of those, how many met it; null without SLO
   * @param sloPercentile a level holds the SLO when at least this share of them, in percent, did
   * @param ended requests that ended by themselves, well or badly
   * @param failed of those, how many failed; rate-limited ones (429) are none
   * @param queue of what came and was not answered, by what has ended; null where that is not
   *     known: closed levels, levels bounded by a count
   * @param failures requests of all phases that were not ok, the cancelled ones excepted
   * @param cut whether a rule ended it before its time
   * @param objective the one that {@code met} counts, as in settings; null for all at once
   * @param failedInARow the most requests of all phases that failed one after the other; null where
   *     none failed
   */
  record LevelResult(
      String label,
      long attempted,
      @Nullable Long met,
      double sloPercentile,
      long ended,
      long failed,
      @Nullable Queue queue,
      long failures,
      boolean cut,
      @Nullable String objective,
      @Nullable FailedInARow failedInARow) {

    /**
     * Requests that failed one after the other, without one that succeeded between.
     *
     * @param lastError what the last one of them ended with
     */
    public record FailedInARow(long count, String lastError) {}

    /** Share of attempted requests that met the SLO, 0 to 1; null without SLO or attempts. */
    public @Nullable Double sloShare() {
      return met == null || attempted == 0 ? null : (Double) ((double) met / attempted);
    }

    /** Whether requests come faster than they are answered. */
    public boolean fallsBehind() {
      return queue != null && queue.grows();
    }

    /**
     * Whether the level holds the SLO; not where it falls behind, as its queue would only have to
     * grow for longer. Null without SLO or attempts.
     */
    public @Nullable Boolean holdsSlo() {
      if (met != null && fallsBehind()) {
        return Boolean.FALSE;
      }
      Double share = sloShare();
      return share == null ? null : (Boolean) (share * 100 >= sloPercentile - 1e-9);
    }

    /**
     * Whether it holds the SLO beyond chance: whether Wilson's 95 % interval of its share lies on
     * one side of what is asked for; null where it does not, and where {@link #holdsSlo} is null.
     * One that falls behind surely does not hold.
     */
    public @Nullable Boolean surelyHolds() {
      if (met != null && fallsBehind()) {
        return Boolean.FALSE;
      }
      Interval share = met == null ? null : Interval.ofShare(met, attempted);
      if (share == null) {
        return null;
      }
      double asked = sloPercentile / 100;
      return share.low() >= asked ? Boolean.TRUE : share.high() < asked ? Boolean.FALSE : null;
    }

    /** Share of ended requests that failed, 0 to 1; null when none ended. */
    public @Nullable Double failedShare() {
      return ended == 0 ? null : (Double) ((double) failed / ended);
    }
  }

  /**
   * Levels that are known before the run.
   *
   * @param levels in the order in which they are offered; at least one; no label twice, as results
   *     are named by it
   * @param rules the first level that breaks one of them is the last; empty for no early stop
   * @see #stopWhen
   */
  record Sweep(List<LoadLevel> levels, List<StopRule> rules) implements LoadPlan {
    private static final StopRule NEVER = new StopRule.Never();

    /** Between the latest end of a level and the next one, for what was cancelled to be over. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** More arrivals than these are not counted one by one before the run. */
    private static final double MOST_COUNTED = 2e7;

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
              "Level " + level.label() + " is there twice; name each level once");
        }
      }
    }

    /** All levels, unless {@link StopRule.ErrorsInARowAbove#DEFAULT} ends one. */
    public Sweep(List<LoadLevel> levels) {
      this(levels, List.of(StopRule.ErrorsInARowAbove.DEFAULT));
    }

    /**
     * Open levels in the same phases, each with another seed: with the same seed all would have the
     * same arrival pattern, only stretched.
     */
    public static Sweep open(List<Open> levels, Gaps gaps, long seed, Phases phases) {
      return new Sweep(
          IntStream.range(0, levels.size())
              .<LoadLevel>mapToObj(i -> levels.get(i).with(gaps.withSeed(seed + i), phases))
              .toList());
    }

    /**
     * The same levels, ending with the first that breaks one of these rules, at least one; {@link
     * StopRule.ErrorsInARowAbove#DEFAULT} stays among them, unless one limits errors in a row
     * itself, or is {@link StopRule.Never}.
     */
    public Sweep stopWhen(List<StopRule> someRules) {
      if (someRules.isEmpty()) {
        throw new IllegalArgumentException(
            "stopWhen() has no rule; expected e.g. stopWhen(sloBelow(50))");
      }
      List<StopRule> all = new ArrayList<>(someRules);
      if (all.stream().noneMatch(rule -> rule.mostInARow() != null) && !all.remove(NEVER)) {
        all.add(StopRule.ErrorsInARowAbove.DEFAULT);
      }
      all.removeIf(NEVER::equals);
      return new Sweep(levels, all);
    }

    @Override
    public LevelSource source() {
      return new InOrder();
    }

    @Override
    public Sweep part(InjectorShare share) {
      if (share.isPart()) {
        refuseWhatNeedsTheWhole(share);
      }
      long[] firsts = new long[levels.size() + 1];
      for (int i = 0; i < levels.size(); i++) {
        firsts[i + 1] = firsts[i] + mostArrivals(levels.get(i));
      }
      List<LoadLevel> own = new ArrayList<>();
      for (int i = 0; i < levels.size(); i++) {
        Arrival.Numbers numbers = new Arrival.Numbers(firsts[i], firsts[levels.size()], share);
        LoadLevel level = levels.get(i);
        own.add(
            level instanceof Open open
                ? open.numbered(numbers)
                : level instanceof LoadLevel.Closed closed && share.isPart()
                    ? closed.part(share)
                    : level);
      }
      return new Sweep(own, rules);
    }

    private static long mostArrivals(LoadLevel level) {
      if (!(level instanceof Open open)) {
        return 0;
      }
      double expected = open.perSecond() * open.phases().longestNanos() / 1e9;
      return expected > MOST_COUNTED ? Math.round(2 * expected) : open.mostArrivals();
    }

    private void refuseWhatNeedsTheWhole(InjectorShare share) {
      for (StopRule rule : rules) {
        if (rule.judgesWholeLevels() || rule.mostFailures() != null) {
          throw new IllegalArgumentException(
              ("injector %s cannot stop when %s: it sees its own requests, not those of all"
                      + " injectors; leave stopWhen out")
                  .formatted(share, rule));
        }
      }
      for (LoadLevel level : levels) {
        boolean last = level == levels.get(levels.size() - 1);
        if (level instanceof LoadLevel.Batch) {
          throw new IllegalArgumentException(
              ("injector %s cannot run trials: each waits for the slowest request of all injectors;"
                      + " bound levels by requests or time instead")
                  .formatted(share));
        }
        if (!last && level instanceof LoadLevel.Closed && !level.phases().isTimed()) {
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

    /** Null where a number of iterations bounds any level. */
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

      @Override
      public @Nullable LoadLevel next(@Nullable LevelResult before) {
        if (before != null && (before.cut() || next < levels.size())) {
          for (StopRule rule : rules) {
            String broken = rule.brokenBy(before);
            if (broken != null) {
              conclusion = stopped(before, levels.size() - next, rule, broken);
              return null;
            }
          }
        }
        return next < levels.size() ? levels.get(next++) : null;
      }

      private static Conclusion stopped(LevelResult level, int left, StopRule rule, String broken) {
        LevelResult.FailedInARow row = level.failedInARow();
        boolean gone = !rule.judgesWholeLevels() && row != null;
        String leftOut =
            left == 0 ? "" : ", " + left + (left == 1 ? " level" : " levels") + " left out";
        return new Conclusion(
            "stopped early",
            (level.cut() ? "during " : "after ") + level.label() + leftOut + ": " + broken,
            !level.cut(),
            gone ? (Double) (double) row.count() : null,
            gone ? asDouble(rule.mostInARow()) : null,
            null,
            null);
      }

      private static @Nullable Double asDouble(@Nullable Long count) {
        return count == null ? null : (Double) count.doubleValue();
      }

      @Override
      public FailureLimits failureLimits() {
        return new FailureLimits(least(StopRule::mostFailures), least(StopRule::mostInARow));
      }

      private long least(Function<StopRule, @Nullable Long> limit) {
        return rules.stream()
            .map(limit)
            .filter(Objects::nonNull)
            .min(Comparator.naturalOrder())
            .orElse(Long.MAX_VALUE);
      }

      @Override
      public boolean needsResults() {
        return rules.stream().anyMatch(StopRule::judgesWholeLevels);
      }

      @Override
      public @Nullable Conclusion conclusion() {
        return conclusion;
      }
    }
  }
}
