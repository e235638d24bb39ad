package io.github.gatlingllm.simulations;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.GoodputSearch;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StopRule;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is offered to each target.
 *
 * @param plan all its levels are of one kind, in the same phases
 */
record Load(LoadPlan plan) {

  /** In the order in which they run; of a search the one it starts at. */
  List<LoadLevel> levels() {
    return plan instanceof GoodputSearch search
        ? List.of(LoadLevel.Open.steady(search.startingAt()).with(search.phases()))
        : ((LoadPlan.Sweep) plan).levels();
  }

  /** Whether the levels are chosen by a search. */
  boolean search() {
    return plan instanceof GoodputSearch;
  }

  /** The rules that end a sweep early. */
  List<StopRule> stopWhen() {
    return plan instanceof LoadPlan.Sweep sweep ? sweep.rules() : List.of();
  }

  /** The phases of each level. */
  Phases phases() {
    return levels().get(0).phases();
  }

  /** Requests to expect at all levels, warm-up excepted; null where the server decides. */
  @Nullable Long expected() {
    long all = 0;
    for (LoadLevel level : levels()) {
      Long some = search() ? null : expectedRequests(level);
      if (some == null) {
        return null;
      }
      all += some;
    }
    return all;
  }

  /** Requests to expect at a level, warm-up excepted; null where the server decides. */
  static @Nullable Long expectedRequests(LoadLevel level) {
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
    return Math.round(
        open.arrivals() instanceof Arrivals.Curve curve && curve.rate() instanceof RateCurve rate
            ? rate.requests()
            : open.perSecond() * open.phases().measureNanos() / 1e9);
  }

  /** How long a level measures; null where a count bounds it and the server decides. */
  static @Nullable Duration expectedDuration(LoadLevel level) {
    Integer requests = level.phases().requests();
    if (requests == null) {
      return Duration.ofNanos(level.phases().measureNanos());
    }
    return level instanceof LoadLevel.Open open
        ? Duration.ofNanos(Math.round(requests / open.perSecond() * 1e9))
        : null;
  }

  /** How the load is offered, in words. */
  String kind() {
    LoadLevel level = levels().get(0);
    if (level instanceof LoadLevel.Batch batch) {
      return "batch, "
          + batch.trials()
          + (batch.trials() == 1 ? " trial" : " trials")
          + " of each level";
    }
    return level instanceof LoadLevel.Open open
        ? "open loop, " + arrivals(open.arrivals())
        : "closed loop";
  }

  private static String arrivals(Arrivals arrivals) {
    if (arrivals instanceof Arrivals.Replay replay) {
      return "arrivals of "
          + replay.trace().name()
          + (replay.speed() == 1 ? "" : ", " + plain(replay.speed()) + " times as fast");
    }
    Gaps gaps = gaps(arrivals);
    if (gaps instanceof Gaps.Gamma gamma) {
      return "gamma arrivals of cv " + plain(gamma.cv());
    }
    return gaps instanceof Gaps.Equal ? "constant arrivals" : "poisson arrivals";
  }

  private static @Nullable Gaps gaps(Arrivals arrivals) {
    if (arrivals instanceof Arrivals.Steady steady) {
      return steady.gaps();
    }
    return arrivals instanceof Arrivals.Curve curve ? curve.gaps() : null;
  }

  /** Whether the number of arrivals in a time is up to chance. */
  boolean isRandom() {
    if (!(levels().get(0) instanceof LoadLevel.Open open)) {
      return false;
    }
    Gaps gaps = gaps(open.arrivals());
    return gaps != null && !(gaps instanceof Gaps.Equal);
  }

  private static String plain(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }
}
