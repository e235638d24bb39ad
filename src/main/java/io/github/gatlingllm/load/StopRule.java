package io.github.gatlingllm.load;

import io.github.gatlingllm.load.LoadPlan.LevelResult;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Ends a sweep early: after a level that it finds broken, no further one is offered. A number of
 * errors ends the level itself, too.
 */
public sealed interface StopRule {

  /** In what way the level broke the rule, with its figure; null when it did not. */
  @Nullable String brokenBy(LevelResult level);

  /** More failed requests than this end a level at once; null where the rule waits for its end. */
  default @Nullable Long mostFailures() {
    return null;
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
          ? text("only %.1f %% of %d requests met the SLO", share * 100, level.attempted())
          : null;
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
          ? text("%.1f %% of %d requests failed", share * 100, level.ended())
          : null;
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
          ? text("%d requests failed, more than %d", level.failures(), count)
          : null;
    }

    @Override
    public Long mostFailures() {
      return count;
    }
  }

  /**
   * Requests pile up: in the second half of an open level's measure phase fewer than {@value
   * #SERVED} of those that arrived were served, and the gap is larger than chance (3 √n of Poisson
   * arrivals). Needs levels that are longer than a few requests; let them stabilize first.
   */
  record OverSaturated() implements StopRule {
    private static final double SERVED = 0.9;
    private static final double DEVIATIONS = 3;

    @Override
    public @Nullable String brokenBy(LevelResult level) {
      Long arrived = level.arrived();
      if (arrived == null
          || level.served() >= SERVED * arrived
          || arrived - level.served() <= DEVIATIONS * Math.sqrt(arrived)) {
        return null;
      }
      return text("requests pile up: of %d that arrived %d were served", arrived, level.served());
    }
  }

  /**
   * The rule that is written so: {@code slo<50%}, {@code errors>10%}, {@code errors>50} or {@code
   * overSaturated}.
   *
   * @throws IllegalArgumentException if there is none
   */
  static StopRule parse(String text) {
    String plain = text.replace(" ", "");
    if (plain.equals("overSaturated")) {
      return new OverSaturated();
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
