package io.github.gatlingllm.load;

import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.Phase;
import org.jspecify.annotations.Nullable;

/**
 * When the automatic phases of a level end. All users that start at once are a burst that no
 * running service sees: it would be measured, and come again each time the answers end together.
 *
 * <ul>
 *   <li>Users start evenly over {@value #FILL_E2ES} times the median E2E of the level before. Where
 *       there is none the first user starts alone, and its first answer says how long E2E is; it is
 *       waited for at most a quarter of {@link Phases#boundNanos}. A fill takes at most half of it.
 *   <li>Measuring starts when each user has had an answer, of an open level one user, and {@value
 *       #SETTLING_E2ES} times the median E2E of the answers so far has passed since the fill; at
 *       the latest after {@link Phases#boundNanos}, from the end of a fill that is not automatic.
 * </ul>
 *
 * Times are offsets since the level's start. Guarded by the driver's lock.
 */
final class Settling {
  /** Above 1, because answers take longer the more users there are. */
  private static final int FILL_E2ES = 2;

  private static final int SETTLING_E2ES = 2;

  private final RunningLevel level;
  private final @Nullable Long e2eBefore;
  private final long bound;

  /** Nothing changes before. */
  private long dueOffset;

  /**
   * @param e2eBefore median E2E of the level before, in nanoseconds; null where there is none
   */
  Settling(RunningLevel level, @Nullable Long e2eBefore) {
    this.level = level;
    this.e2eBefore = e2eBefore;
    this.bound = level.level().phases().boundNanos();
  }

  /** Until when the first user is alone; null when the others may start. */
  @Nullable Long untilFill(long now) {
    boolean known = e2eBefore != null || level.medianE2eNanos() != null;
    return known || now >= bound / 4 ? null : (Long) (bound / 4);
  }

  /** How long the users take to start, from now on, when they may. */
  long fillNanos(long now) {
    Long e2e = e2eBefore == null ? level.medianE2eNanos() : e2eBefore;
    long most = Math.max(0, bound / 2 - now);
    return e2e == null ? most : Math.min(most, FILL_E2ES * e2e);
  }

  /** Until when it has not settled for sure; null when it has. */
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

  /** From when on it is measured and why, in words. */
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
