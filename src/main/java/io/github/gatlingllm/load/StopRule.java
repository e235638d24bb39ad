package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A condition that ends a sweep after the first level that breaks it. Limits of errors count in all
 * phases and also end the level itself. Rejections with status 429 are no errors, and neither
 * continue nor end a row of them.
 */
public record StopRule(Condition condition, double limit) {

  /** Applies beside other rules unless {@link #NEVER} is one: the server is taken to be down. */
  static final StopRule DEFAULT = errorsInARowAbove(100);

  /** Ends nothing, and disables {@link #DEFAULT}. */
  public static final StopRule NEVER = new StopRule(Condition.NEVER, 0);

  /** The queue of an open level grows, see {@link Backlog}; levels must be long for requests. */
  public static final StopRule OVER_SATURATED = new StopRule(Condition.OVER_SATURATED, 0);

  /** The conditions, with the text before and after their limit. */
  enum Condition {
    SLO_SHARE("slo<", "%"),
    ERROR_SHARE("errors>", "%"),
    ERROR_COUNT("errors>", ""),
    ERRORS_IN_A_ROW("errorsInARow>", ""),
    OVER_SATURATED("overSaturated", null),
    NEVER("never", null);

    private final String prefix;
    private final @Nullable String suffix;

    Condition(String prefix, @Nullable String suffix) {
      this.prefix = prefix;
      this.suffix = suffix;
    }

    private boolean matches(String text) {
      return suffix == null
          ? text.equals(prefix)
          : text.startsWith(prefix) && text.endsWith(suffix);
    }
  }

  /** Too few requests met the SLO; by rule {@code percentiles} its worst objective. */
  public static StopRule sloBelow(double percent) {
    require(percent > 0 && percent <= 100, "sloBelow", percent);
    return new StopRule(Condition.SLO_SHARE, percent);
  }

  public static StopRule errorsAbove(double percent) {
    require(percent >= 0 && percent <= 100, "errorsAbove", percent);
    return new StopRule(Condition.ERROR_SHARE, percent);
  }

  public static StopRule errorCountAbove(long count) {
    if (count < 0) {
      throw new IllegalArgumentException(
          "errorCountAbove(" + count + ") is always broken; expected 0 or more");
    }
    return new StopRule(Condition.ERROR_COUNT, count);
  }

  public static StopRule errorsInARowAbove(long count) {
    if (count < 1) {
      throw new IllegalArgumentException(
          "errorsInARowAbove(" + count + ") is no row; expected 1 or more");
    }
    return new StopRule(Condition.ERRORS_IN_A_ROW, count);
  }

  /** Parses a rule such as {@code slo<50%}, {@code errors>10%} or {@code never}. */
  public static StopRule parse(String text) {
    String plain = text.replace(" ", "");
    for (Condition condition : Condition.values()) {
      if (condition.matches(plain)) {
        String limit =
            condition.suffix == null
                ? ""
                : plain.substring(
                    condition.prefix.length(), plain.length() - condition.suffix.length());
        return switch (condition) {
          case SLO_SHARE -> sloBelow(Double.parseDouble(limit));
          case ERROR_SHARE -> errorsAbove(Double.parseDouble(limit));
          case ERROR_COUNT -> errorCountAbove(Long.parseLong(limit));
          case ERRORS_IN_A_ROW -> errorsInARowAbove(Long.parseLong(limit));
          case OVER_SATURATED -> OVER_SATURATED;
          case NEVER -> NEVER;
        };
      }
    }
    throw new IllegalArgumentException(
        "'%s' is no rule; expected slo<50%%, errors>10%%, errors>50, errorsInARow>100, overSaturated"
            .formatted(text));
  }

  @Nullable String brokenBy(LevelResult level) {
    return switch (condition) {
      case SLO_SHARE -> {
        Double share = level.sloShare();
        yield share != null && share * 100 < limit
            ? text("only %.1f %% of %,d requests met the SLO", share * 100, level.attempted())
            : null;
      }
      case ERROR_SHARE -> {
        Double share = level.failedShare();
        yield share != null && share * 100 > limit
            ? text("%.1f %% of %,d requests failed", share * 100, level.ended())
            : null;
      }
      case ERROR_COUNT ->
          level.failures() > limit
              ? NumberText.counted(level.failures(), "request")
                  + " failed, more than "
                  + NumberText.count((long) limit)
              : null;
      case ERRORS_IN_A_ROW -> {
        LevelResult.FailedInARow row = level.failedInARow();
        yield level.cut() && row != null && row.count() > limit
            ? text(
                "%,d requests failed one after the other and none succeeded between (last error:"
                    + " %s)",
                row.count(), row.lastError())
            : null;
      }
      case OVER_SATURATED ->
          level.queue() != null && level.queue().grows() ? level.queue().words("the load") : null;
      case NEVER -> null;
    };
  }

  /** More failed requests than this end a level at once; null for other conditions. */
  @Nullable Long maxFailures() {
    return condition == Condition.ERROR_COUNT ? (Long) (long) limit : null;
  }

  /** More consecutive failed requests than this end a level at once; null for other conditions. */
  @Nullable Long maxFailuresInARow() {
    return condition == Condition.ERRORS_IN_A_ROW ? (Long) (long) limit : null;
  }

  boolean appliesAtLevelEnd() {
    return condition != Condition.ERRORS_IN_A_ROW;
  }

  public boolean needsSlo() {
    return condition == Condition.SLO_SHARE;
  }

  private static void require(boolean inRange, String name, double percent) {
    if (!inRange) {
      throw new IllegalArgumentException(
          name + "(" + percent + ") is no share; expected a percentage up to 100");
    }
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  /** What ends a sweep, e.g. {@code more than 100 failures in a row}. */
  String words() {
    String number = NumberText.plain(limit);
    return switch (condition) {
      case SLO_SHARE -> "a level with less than " + number + " % of requests in SLO";
      case ERROR_SHARE -> "a level with more than " + number + " % failures";
      case ERROR_COUNT -> "more than " + number + " failures";
      case ERRORS_IN_A_ROW -> "more than " + number + " failures in a row";
      case OVER_SATURATED -> "a level whose queue grows";
      case NEVER -> "nothing";
    };
  }

  @Override
  public String toString() {
    return condition.suffix == null
        ? condition.prefix
        : condition.prefix + NumberText.plain(limit) + condition.suffix;
  }
}
