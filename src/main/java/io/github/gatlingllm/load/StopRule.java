package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A condition that ends a sweep early: after the first level that breaks the rule, no further level
 * runs. Rules on a number of errors, or of errors in a row, also end the level itself. Requests
 * that the server rejected with status 429 are not errors, and neither continue nor end a row of
 * errors.
 *
 * <p>{@link ErrorsInARowAbove#DEFAULT} applies in addition to other rules, unless {@link Never} is
 * one of them.
 */
public sealed interface StopRule {

  /** How the level broke the rule, with the figure; null if it did not. */
  @Nullable String brokenBy(LevelResult level);

  /**
   * More failed requests than this end a level at once; null if the rule is evaluated at its end.
   */
  default @Nullable Long mostFailures() {
    return null;
  }

  /**
   * More consecutive failed requests than this end a level at once; null if the rule is evaluated
   * at its end.
   */
  default @Nullable Long mostInARow() {
    return null;
  }

  /** Whether the rule is evaluated at the planned end of a level. */
  default boolean judgesWholeLevels() {
    return true;
  }

  /**
   * Too few attempted requests met the SLO: by the rule {@code percentiles} the objective that the
   * smallest share met, by {@code requests} all objectives at once. Never broken without SLO.
   */
  record SloBelow(double percent) implements StopRule {
    public SloBelow {
      requirePercent("sloBelow", percent);
    }

    @Override
    public @Nullable String brokenBy(LevelResult level) {
      Double share = level.sloShare();
      return share != null && share * 100 < percent
          ? text("only %.1f %% of %,d requests met the SLO", share * 100, level.attempted())
          : null;
    }

    @Override
    public String toString() {
      return "slo<" + NumberText.plain(percent) + "%";
    }
  }

  /** Too many of the ended requests failed. */
  record ErrorsAbove(double percent) implements StopRule {
    public ErrorsAbove {
      if (percent != 0) {
        requirePercent("errorsAbove", percent);
      }
    }

    @Override
    public @Nullable String brokenBy(LevelResult level) {
      Double share = level.failedShare();
      return share != null && share * 100 > percent
          ? text("%.1f %% of %,d requests failed", share * 100, level.ended())
          : null;
    }

    @Override
    public String toString() {
      return "errors>" + NumberText.plain(percent) + "%";
    }
  }

  /**
   * Too many requests of a level failed, in any phase. The level ends at once: no new request
   * starts, those in flight are drained.
   */
  record ErrorCountAbove(long count) implements StopRule {
    public ErrorCountAbove {
      if (count < 0) {
        throw new IllegalArgumentException(
            "errorCountAbove(" + count + ") is always broken; expected 0 or more");
      }
    }

    @Override
    public @Nullable String brokenBy(LevelResult level) {
      return level.failures() > count
          ? NumberText.counted(level.failures(), "request")
              + " failed, more than "
              + NumberText.count(count)
          : null;
    }

    @Override
    public Long mostFailures() {
      return count;
    }

    @Override
    public String toString() {
      return "errors>" + count;
    }
  }

  /**
   * Too many consecutive requests of a level failed, in any phase. The level ends at once: no new
   * request starts, those in flight are drained.
   */
  record ErrorsInARowAbove(long count) implements StopRule {

    /** A server that fails this many requests in a row is taken to be down. */
    public static final StopRule DEFAULT = new ErrorsInARowAbove(100);

    public ErrorsInARowAbove {
      if (count < 1) {
        throw new IllegalArgumentException(
            "errorsInARowAbove(" + count + ") is no row; expected 1 or more");
      }
    }

    @Override
    public @Nullable String brokenBy(LevelResult level) {
      LevelResult.FailedInARow row = level.failedInARow();
      return level.cut() && row != null && row.count() > count
          ? text(
              "%,d requests failed one after the other and none succeeded between (last error:"
                  + " %s)",
              row.count(), row.lastError())
          : null;
    }

    @Override
    public Long mostInARow() {
      return count;
    }

    @Override
    public boolean judgesWholeLevels() {
      return false;
    }

    @Override
    public String toString() {
      return "errorsInARow>" + count;
    }
  }

  /** Ends nothing, and disables {@link ErrorsInARowAbove#DEFAULT}. */
  record Never() implements StopRule {
    @Override
    public @Nullable String brokenBy(LevelResult level) {
      return null;
    }

    @Override
    public String toString() {
      return "never";
    }
  }

  /**
   * The server does not keep up with an open level: its queue grows, see {@link Backlog}. Needs
   * levels that last several times as long as a request.
   */
  record OverSaturated() implements StopRule {
    @Override
    public @Nullable String brokenBy(LevelResult level) {
      Queue queue = level.queue();
      return queue != null && queue.grows() ? queue.words("the load") : null;
    }

    @Override
    public String toString() {
      return "overSaturated";
    }
  }

  /**
   * Parses a rule: {@code slo<50%}, {@code errors>10%}, {@code errors>50}, {@code
   * errorsInARow>100}, {@code overSaturated} or {@code never}.
   *
   * @throws IllegalArgumentException if the text is not a rule
   */
  static StopRule parse(String text) {
    String plain = text.replace(" ", "");
    if (plain.equals("overSaturated")) {
      return new OverSaturated();
    }
    if (plain.equals("never")) {
      return new Never();
    }
    if (plain.startsWith("errorsInARow>")) {
      return new ErrorsInARowAbove(Long.parseLong(plain.substring("errorsInARow>".length())));
    }
    if (plain.startsWith("slo<") && plain.endsWith("%")) {
      return new SloBelow(Double.parseDouble(plain.substring(4, plain.length() - 1)));
    }
    if (plain.startsWith("errors>") && plain.endsWith("%")) {
      return new ErrorsAbove(Double.parseDouble(plain.substring(7, plain.length() - 1)));
    }
    if (plain.startsWith("errors>")) {
      return new ErrorCountAbove(Long.parseLong(plain.substring(7)));
    }
    throw new IllegalArgumentException(text + " is no rule");
  }

  private static void requirePercent(String name, double percent) {
    if (!(percent > 0 && percent <= 100)) {
      throw new IllegalArgumentException(
          name + "(" + percent + ") is no share; expected a percentage up to 100");
    }
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
