package io.github.gatlingllm.load;

import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.metric.Backlog;
import io.github.gatlingllm.metric.Backlog.Queue;
import io.github.gatlingllm.metric.NumberText;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Ends a sweep early: after a level that it finds broken, no further one is offered. A number of
 * errors, or of errors in a row, ends the level itself, too. Requests that a rate limit of the
 * server turned away (429) are no errors, and neither continue nor end a row of them.
 *
 * <p>{@link ErrorsInARowAbove#DEFAULT} holds beside all others, unless {@link Never} is among them.
 */
public sealed interface StopRule {

  /** In what way the level broke the rule, with its figure; null when it did not. */
  @Nullable String brokenBy(LevelResult level);

  /** More failed requests than this end a level at once; null where the rule waits for its end. */
  default @Nullable Long mostFailures() {
    return null;
  }

  /**
   * More requests that fail one after the other than this end a level at once; null where the rule
   * waits for its end.
   */
  default @Nullable Long mostInARow() {
    return null;
  }

  /** Whether it decides about a level that came to its planned end. */
  default boolean judgesWholeLevels() {
    return true;
  }

  /**
   * Too few attempted requests met the SLO: by the rule {@code percentiles} the objective that
   * fewest met, by {@code requests} all objectives at once. A run without SLO never breaks it.
   *
   * @param percent above 0, at most 100
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

  /**
   * Too many of the ended requests failed.
   *
   * @param percent 0 to below 100
   */
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
   * Too many requests of a level failed, in whatever phase. The level ends at once: no new request,
   * those already sent are drained.
   *
   * @param count 0 or more
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
   * Too many requests of a level failed one after the other, in whatever phase, without one that
   * succeeded between them. The level ends at once: no new request, those already sent are drained.
   *
   * @param count 1 or more
   */
  record ErrorsInARowAbove(long count) implements StopRule {

    /** A server that fails so many requests one after the other does not answer any more. */
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

  /** Ends nothing, and takes {@link ErrorsInARowAbove#DEFAULT} away. */
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
   * An open level is not kept up with: its queue grows, see {@link Backlog}. Needs levels that are
   * longer than a few requests.
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
   * The rule that is written so: {@code slo<50%}, {@code errors>10%}, {@code errors>50}, {@code
   * errorsInARow>100}, {@code overSaturated} or {@code never}.
   *
   * @throws IllegalArgumentException if there is none
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
