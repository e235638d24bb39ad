package io.github.gatlingllm.run;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How much is over of the time that the load plans of a run take: that of their fill, stabilize and
 * measure phases as far as they are planned. While a level settles by itself, cools down or drains,
 * nothing of it passes. Not known as soon as one plan does not know its own. Not thread-safe.
 */
final class PlannedTime {

  private final List<Plan> plans = new ArrayList<>();

  /**
   * One more plan, which begins at any time.
   *
   * @param totalNanos what all its levels take; null when not known
   */
  Plan add(@Nullable Long totalNanos) {
    Plan plan = new Plan(totalNanos);
    plans.add(plan);
    return plan;
  }

  /** The share of all plans' time that is over at that instant, 0 to 1; null when not known. */
  @Nullable Double share(long nanoTime) {
    if (!isKnown()) {
      return null;
    }
    double total = plans.stream().mapToLong(Plan::total).sum();
    return plans.stream().mapToLong(plan -> plan.over(nanoTime)).sum() / total;
  }

  /**
   * Nanoseconds from that instant to the end of the last plan, without drains; null when not known.
   * Plans that have begun go on side by side; the others follow one after the other.
   */
  @Nullable Long leftNanos(long nanoTime) {
    if (!isKnown()) {
      return null;
    }
    long begun = 0;
    long toBegin = 0;
    for (Plan plan : plans) {
      if (plan.begun) {
        begun = Math.max(begun, plan.total() - plan.over(nanoTime));
      } else {
        toBegin += plan.total();
      }
    }
    return begun + toBegin;
  }

  private boolean isKnown() {
    return !plans.isEmpty() && plans.stream().allMatch(plan -> plan.totalNanos != null);
  }

  /** One plan's time: that of the levels before, and what has passed of the one that runs. */
  static final class Plan {
    private @Nullable Long totalNanos;
    private boolean begun;
    private long beforeNanos;
    private long startNanos;
    private long levelNanos;

    private Plan(@Nullable Long totalNanos) {
      this.totalNanos = totalNanos;
    }

    /**
     * The next level begins; the one before is over.
     *
     * @param nanoTime the level's start
     * @param plannedNanos what it takes; null when not known
     */
    void begin(long nanoTime, @Nullable Long plannedNanos) {
      begun = true;
      beforeNanos += levelNanos;
      startNanos = nanoTime;
      levelNanos = plannedNanos == null ? 0 : plannedNanos;
    }

    /**
     * What is expected of a plan that does not know how long it takes.
     *
     * @param plannedNanos what each level takes; null when not known
     * @param levels how many come after the one that has begun
     */
    void expect(@Nullable Long plannedNanos, int levels) {
      totalNanos =
          plannedNanos == null ? null : (Long) (beforeNanos + plannedNanos * (1L + levels));
    }

    /** No further level comes, whatever was planned. */
    void end() {
      begun = true;
      beforeNanos = total();
      levelNanos = 0;
    }

    private long total() {
      return totalNanos == null ? 0 : totalNanos;
    }

    private long over(long nanoTime) {
      return beforeNanos + Math.max(0, Math.min(levelNanos, nanoTime - startNanos));
    }
  }
}
