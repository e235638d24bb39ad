package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo.Phase;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Decides when the automatic phases of a level end, in offsets from its start: users start evenly
 * over {@value #FILL_E2ES} times the median E2E (of the previous level, else of the first answer),
 * as a burst would repeat whenever its answers end together; measuring starts when each user has
 * had an answer and {@value #SETTLING_E2ES} times the median E2E has passed since. Guarded by the
 * driver's lock.
 */
final class Settling {
  /** Above 1, because answers take longer with more users. */
  private static final int FILL_E2ES = 2;

  private static final int SETTLING_E2ES = 2;

  /** Longest wait for the first answers; requests have a time limit of their own. */
  private static final long GATHERING = TimeUnit.MINUTES.toNanos(10);

  private final RunningLevel level;
  private final @Nullable Long e2eBefore;
  private final long bound;

  /** The condition is not evaluated again before this offset. */
  private long dueOffset;

  Settling(RunningLevel level, @Nullable Long e2eBefore) {
    this.level = level;
    this.e2eBefore = e2eBefore;
    this.bound = level.level().phases().boundNanos();
  }

  /** Until when the other users wait for the first answer; null if they may start. */
  @Nullable Long untilFill(long now) {
    boolean known = e2eBefore != null || level.medianE2eNanos() != null;
    return known || now >= bound / 4 ? null : (Long) (bound / 4);
  }

  long fillNanos(long now) {
    Long e2e = e2eBefore == null ? level.medianE2eNanos() : e2eBefore;
    long max = Math.max(0, bound / 2 - now);
    return e2e == null ? max : Math.min(max, FILL_E2ES * e2e);
  }

  /** Until when those who were answered wait for the other users; null if all have gathered. */
  @Nullable Long untilGathered(long now) {
    return level.answeredUsers() >= users() || now >= GATHERING ? null : (Long) GATHERING;
  }

  /** Earliest instant at which the level may have settled; null if it has. */
  @Nullable Long untilSettled(long now) {
    long latest = latest();
    if (now >= latest) {
      return null;
    }
    if (level.answeredUsers() < users()) {
      return latest;
    }
    if (now >= dueOffset) {
      Long e2e = level.medianE2eNanos();
      dueOffset = Math.min(latest, filled() + SETTLING_E2ES * (e2e == null ? 0 : e2e));
    }
    return now >= dueOffset ? null : (Long) dueOffset;
  }

  private int users() {
    return level.level() instanceof LoadLevel.Closed closed ? closed.users() : 1;
  }

  private long filled() {
    return level.endOf(Phase.FILL) - level.startNanos();
  }

  private long latest() {
    Long fill = level.level().phases().fillNanos();
    return bound + (fill == null ? 0 : fill);
  }

  String text() {
    long from = level.measureStartNanos() - level.startNanos();
    String filled = filled() == 0 ? "" : "filled in " + seconds(filled()) + ", ";
    if (level.level().phases().stabilizeNanos() != null) {
      return filled + "measuring from " + seconds(from);
    }
    Long e2e = level.medianE2eNanos();
    String twice =
        e2e == null ? "" : SETTLING_E2ES + " × median E2E = " + seconds(SETTLING_E2ES * e2e);
    int answered = Math.min(users(), level.answeredUsers());
    if (from < latest()) {
      String who = users() == 1 ? "the first answer was there" : "each user had an answer";
      return filled + "measuring from " + seconds(from) + " (" + who + ", " + twice + ")";
    }
    return filled
        + "measuring from "
        + seconds(from)
        + ", the longest wait ("
        + (answered < users() ? answered + " of " + users() + " users had an answer" : twice)
        + "): measure longer, or set how long to stabilize";
  }

  private static String seconds(long nanos) {
    return nanos < 1e9 ? NumberText.ms(nanos / 1e6) : NumberText.number(nanos / 1e9) + " s";
  }
}
