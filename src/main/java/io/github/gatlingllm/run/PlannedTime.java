package io.github.gatlingllm.run;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The planned time of a load plan, without settling and draining, and how much has passed. */
final class PlannedTime {

  private @Nullable Long totalNanos;
  private boolean isStarted;
  private long previousNanos;
  private long startNanos;
  private long levelNanos;

  PlannedTime(@Nullable Long totalNanos) {
    this.totalNanos = totalNanos;
  }

  void begin(long nanoTime, @Nullable Long plannedNanos) {
    isStarted = true;
    previousNanos += levelNanos;
    startNanos = nanoTime;
    levelNanos = plannedNanos == null ? 0 : plannedNanos;
  }

  /** Sets an estimate for a plan of unknown length. */
  void expect(@Nullable Long plannedNanos, int levels) {
    totalNanos =
        plannedNanos == null ? null : (Long) (previousNanos + plannedNanos * (1L + levels));
  }

  void end() {
    isStarted = true;
    previousNanos = total();
    levelNanos = 0;
  }

  private long total() {
    return totalNanos == null ? 0 : totalNanos;
  }

  private long elapsed(long nanoTime) {
    return previousNanos + Math.max(0, Math.min(levelNanos, nanoTime - startNanos));
  }

  /** Share of the time of all plans that has passed, 0 to 1; null if unknown. */
  static @Nullable Double share(List<PlannedTime> plans, long nanoTime) {
    if (!isKnown(plans)) {
      return null;
    }
    double total = plans.stream().mapToLong(PlannedTime::total).sum();
    return plans.stream().mapToLong(plan -> plan.elapsed(nanoTime)).sum() / total;
  }

  /** Nanoseconds until the end of the last plan, without drains; null if unknown. */
  static @Nullable Long leftNanos(List<PlannedTime> plans, long nanoTime) {
    if (!isKnown(plans)) {
      return null;
    }
    long started = 0;
    long notStarted = 0;
    for (PlannedTime plan : plans) {
      if (plan.isStarted) {
        started = Math.max(started, plan.total() - plan.elapsed(nanoTime));
      } else {
        notStarted += plan.total();
      }
    }
    return started + notStarted;
  }

  private static boolean isKnown(List<PlannedTime> plans) {
    return !plans.isEmpty() && plans.stream().allMatch(plan -> plan.totalNanos != null);
  }
}
