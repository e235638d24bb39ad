package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.record.Slo;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.commons.statistics.distribution.BinomialDistribution;
import org.jspecify.annotations.Nullable;

/**
 * How many requests the verdict on an SLO needs, by the early stopping of MLPerf's LoadGen with a
 * tolerance of 0: with fewer, so few misses would be no surprise if the SLO were just missed. The
 * requests are taken as independent.
 *
 * @param judged requests that met or missed
 * @param share of all requests that have to meet, above 0 and below 1
 * @see <a href="https://github.com/mlcommons/inference/blob/master/loadgen/early_stopping.cc">
 *     early_stopping.cc</a>
 */
record EarlyStopping(String level, long judged, long missed, double share) {

  private static final double DOUBT = 0.01;

  private static final int MAX_REQUESTS = 1 << 30;

  /** At the load levels that headlines quote; of several, where most requests are missing. */
  static @Nullable Finding judge(CheckInput in) {
    SloTable slo = in.summary().slo();
    if (slo == null || !slo.hasOnePercentile() || slo.percentile() >= 100) {
      return null;
    }
    return in.summary().curves().stream()
        .map(LoadCurve::operatingLevel)
        .flatMap(level -> all(level, slo))
        .filter(each -> each.judged > 0)
        .max(Comparator.comparing(EarlyStopping::ratio))
        .map(each -> each.finding(slo.percentile()))
        .orElse(null);
  }

  private static Stream<EarlyStopping> all(LevelFigures level, SloTable slo) {
    Goodput goodput = level.figures().goodput();
    double share = slo.percentile() / 100;
    if (goodput == null || goodput.share() == null) {
      return Stream.of();
    }
    return slo.rule() == Slo.Rule.REQUESTS
        ? Stream.of(of(level, goodput.attempted(), goodput.met(), share))
        : goodput.objectives().stream().map(of -> of(level, of.attempted(), of.met(), share));
  }

  private static EarlyStopping of(LevelFigures level, long judged, long met, double share) {
    return new EarlyStopping(level.place(), judged, judged - met, share);
  }

  private Finding finding(double percent) {
    long needed = needed();
    boolean isMissed = isMissProven();
    return Finding.of(
            ratio(),
            "early_stopping.found",
            isMissed,
            needed <= judged,
            missed,
            judged,
            percent,
            needed,
            needed - judged)
        .at(level);
  }

  private double ratio() {
    return isMissProven() ? 1 : (double) needed() / judged;
  }

  /** The fewest requests among which so few misses prove that the SLO is met. */
  long needed() {
    int low = (int) Math.min(missed, MAX_REQUESTS);
    int high = Math.max(1, low);
    while (high < MAX_REQUESTS && !isEnough(high)) {
      low = high;
      high *= 2;
    }
    while (high - low > 1) {
      int middle = low + (high - low) / 2;
      if (isEnough(middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  private boolean isEnough(int requests) {
    return chance(requests, missed) <= DOUBT;
  }

  /** Whether this number of misses, or more, would be as unlikely if the SLO were just met. */
  boolean isMissProven() {
    return missed > 0 && 1 - chance(judged, missed - 1) <= DOUBT;
  }

  /**
   * The chance of at most this number of misses if the SLO were just met: I(share; n − t, t + 1).
   */
  private double chance(long requests, long misses) {
    return BinomialDistribution.of((int) Math.min(requests, MAX_REQUESTS), 1 - share)
        .cumulativeProbability((int) Math.min(misses, MAX_REQUESTS));
  }
}
