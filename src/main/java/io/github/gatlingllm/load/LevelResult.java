package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Outcome of the requests that a level scheduled in its measure phase.
 *
 * @param figures what {@link StopRule.Repeats} can be about, once the level has ended
 * @param tiers the same by the SLO of each tier, in their order; empty without tiers
 */
public record LevelResult(
    String label,
    long attempted,
    @Nullable Long met,
    double sloPercentile,
    long ended,
    long failed,
    long refused,
    @Nullable Queue queue,
    long failures,
    boolean cut,
    @Nullable String objective,
    @Nullable FailedInARow failedInARow,
    Map<String, Double> figures,
    Map<String, LevelResult> tiers) {

  /** Attempted requests that met the SLO ÷ attempted; null without SLO or requests. */
  @Nullable Double sloShare() {
    return met == null || attempted == 0 ? null : (Double) ((double) met / attempted);
  }

  boolean sheds() {
    return Counts.sheds(failed + refused, ended);
  }

  /** Whether the load is not served: the queue grows, or more than 5 % are refused or failed. */
  private boolean isNotServed() {
    return (queue != null && queue.grows()) || sheds();
  }

  /** Whether it holds the SLO; a growing queue would break it in time, and shed load is none. */
  public @Nullable Boolean holdsSlo() {
    if (met != null && isNotServed()) {
      return Boolean.FALSE;
    }
    Double share = sloShare();
    return share == null ? null : (Boolean) (share * 100 >= sloPercentile - 1e-9);
  }

  /** Whether Wilson's 95 % interval of the share excludes the required one; else null. */
  @Nullable Boolean holdsWithConfidence() {
    if (met != null && isNotServed()) {
      return Boolean.FALSE;
    }
    Interval share = met == null ? null : Interval.ofShare(met, attempted);
    if (share == null) {
      return null;
    }
    double required = sloPercentile / 100;
    return share.low() >= required ? Boolean.TRUE : share.high() < required ? Boolean.FALSE : null;
  }

  @Nullable Double failedShare() {
    return ended == 0 ? null : (Double) ((double) failed / ended);
  }

  public record FailedInARow(long count, String lastError) {}
}
