package io.github.gatlingllm.load;

import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.Conclusion;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.metric.Distribution.Interval;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Looks for the highest rate at which the SLO holds, which is when enough of a level's attempted
 * requests meet it: doubles the rate until a level is bad (or halves it until one is good), then
 * bisects between the highest good and the lowest bad rate. Arrivals are Poisson, and drawn anew at
 * each level.
 *
 * @param startingAt rate of the first level, above 0
 * @param precision ends when the bracket is narrower than this share of its lower end, above 0 and
 *     below 1
 * @param seed pins the arrivals
 */
public record GoodputSearch(double startingAt, double precision, long seed, Phases phases)
    implements LoadPlan {

  /** Doubling or halving further than this finds nothing. */
  private static final int MOST_STEPS = 20;

  /** Standard deviations around the mean that hold 95 % of a normal distribution. */
  public GoodputSearch {
    Arrivals.requireRate(startingAt);
    if (!(precision > 0 && precision < 1)) {
      throw new IllegalArgumentException(
          "precision(" + precision + ") cannot be met; expected a share such as 0.05");
    }
  }

  @Override
  public LevelSource source() {
    return new Source();
  }

  /** Null: how many levels it takes is what the search finds out. */
  @Override
  public @Nullable Long plannedNanos() {
    return null;
  }

  private final class Source implements LevelSource {
    private final SplittableRandom seeds = new SplittableRandom(seed);
    private double rate = rounded(startingAt);
    private @Nullable Double good;
    private @Nullable Double bad;
    private @Nullable LevelResult goodResult;
    private int steps;
    private @Nullable String failure;

    @Override
    public @Nullable LoadLevel next(@Nullable LevelResult before) {
      if (before != null) {
        note(before);
        if (failure != null || isOver()) {
          return null;
        }
        rate = rounded(following());
      }
      steps++;
      return new LoadLevel.Open(rate, Arrivals.poisson(rate, seeds.nextLong()), phases);
    }

    private void note(LevelResult before) {
      Boolean holds = before.holdsSlo();
      if (holds == null) {
        failure =
            before.met() == null
                ? "has no SLO to hold; set one: .slo(slo().ttft(ofMillis(200))) or llm.slo"
                : "had no request to judge at " + before.label() + "; measure longer";
      } else if (holds) {
        good = rate;
        goodResult = before;
      } else {
        bad = rate;
      }
    }

    private boolean isOver() {
      if (good == null || bad == null) {
        return steps > MOST_STEPS;
      }
      double middle = rounded(following());
      return bad - good <= precision * good || middle <= good || middle >= bad;
    }

    private double following() {
      if (bad == null) {
        return rate * 2;
      }
      return good == null ? rate / 2 : (good + bad) / 2;
    }

    /** Four digits: labels stay readable, and the precision is coarser than that. */
    private double rounded(double value) {
      return new BigDecimal(value).round(new MathContext(4)).doubleValue();
    }

    @Override
    public boolean needsResults() {
      return true;
    }

    @Override
    public Conclusion conclusion() {
      LevelResult best = goodResult;
      Long met = best == null ? null : best.met();
      if (failure != null || best == null || met == null) {
        return new Conclusion("search", nothing(), false, null, null);
      }
      Interval share = Objects.requireNonNull(Interval.ofShare(met, best.attempted()));
      double asked = best.sloPercentile() / 100;
      Interval highest =
          Objects.requireNonNull(Interval.ofShare(best.attempted(), best.attempted()));
      boolean enough = highest.low() >= asked;
      String text =
          String.format(
              Locale.ROOT,
              "max goodput %s holds the SLO, %s; %d of %d requests met it (%.1f to %.1f %% at 95"
                  + " %%)",
              best.label(),
              bad == null ? "and no higher rate failed" : "r=" + number(bad) + " does not",
              met,
              best.attempted(),
              share.low() * 100,
              share.high() * 100);
      return new Conclusion(
          "search",
          enough ? text : text + "; too few to be sure of " + number(best.sloPercentile()) + " %",
          enough && bad != null,
          share.low(),
          asked);
    }

    private String nothing() {
      return failure != null
          ? "max goodput " + failure
          : "no rate down to " + number(rate) + "/s holds the SLO";
    }

    private static String number(double value) {
      return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
    }
  }
}
