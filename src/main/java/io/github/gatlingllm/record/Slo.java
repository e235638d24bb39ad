package io.github.gatlingllm.record;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Service level objectives of one request, and the share of requests that must meet them all.
 *
 * <pre>{@code
 * Slo.parse("ttft<200ms,tpot<50ms,e2e<10s", 99)
 * }</pre>
 *
 * <p>TTFT and E2E are judged from the schedule, so that waiting inside the client counts: it is
 * what the user feels.
 *
 * @param objectives all must hold; empty means no SLO
 * @param percentile share of attempted requests, in percent, at which a load level holds
 */
public record Slo(List<Objective> objectives, double percentile) {

  /** No objective at all. */
  public static final Slo NONE = new Slo(List.of(), 99);

  private static final Pattern FORM = Pattern.compile("([a-z0-9]+)<=?([0-9.]+)(us|ms|s)");

  public Slo {
    objectives = List.copyOf(objectives);
    if (!(percentile > 0 && percentile <= 100)) {
      throw new IllegalArgumentException(
          "SLO percentile " + percentile + " is out of range; expected more than 0, at most 100");
    }
  }

  /** What an objective limits. */
  public enum Measure {
    /** Time to first token, from schedule. */
    TTFT,
    /** Time to first output token (reasoning excluded), from schedule. */
    TTFO,
    /** Time per output token; ignored for answers of fewer than 2 tokens. */
    TPOT,
    /** 99th percentile of the request's inter-token gaps; ignored where it has none. */
    ITL,
    /** Whole request, from schedule. */
    E2E,
    /** Longest gap of the request; ignored where it has none. */
    STALL;

    /** The name used in settings and files: lower case. */
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * One limit.
   *
   * @param limitNanos the measure must be below it
   */
  public record Objective(Measure measure, long limitNanos) {

    /** As it is written in settings, e.g. {@code ttft<200ms}. */
    @Override
    public String toString() {
      return measure.key() + "<" + duration(limitNanos);
    }

    private static String duration(long nanos) {
      if (nanos % 1_000_000_000L == 0) {
        return nanos / 1_000_000_000L + "s";
      }
      if (nanos % 1_000_000L == 0) {
        return nanos / 1_000_000L + "ms";
      }
      return nanos / 1_000 + "us";
    }
  }

  /**
   * Reads {@code ttft<200ms,tpot<50ms,e2e<10s}.
   *
   * @throws IllegalArgumentException in one line that names the part, and what is allowed
   */
  public static Slo parse(String text, double percentile) {
    List<Objective> objectives = new ArrayList<>();
    for (String part : text.toLowerCase(Locale.ROOT).replace(" ", "").split(",", -1)) {
      Matcher form = FORM.matcher(part);
      @Nullable Measure measure =
          form.matches()
              ? Arrays.stream(Measure.values())
                  .filter(m -> m.key().equals(form.group(1)))
                  .findFirst()
                  .orElse(null)
              : null;
      if (measure == null) {
        throw new IllegalArgumentException(
            "SLO '"
                + part
                + "' is not understood; expected <measure><limit> such as ttft<200ms, measures: "
                + Arrays.stream(Measure.values()).map(Measure::key).collect(Collectors.joining(" "))
                + ", units: us ms s");
      }
      double unit =
          switch (form.group(3)) {
            case "us" -> 1e3;
            case "ms" -> 1e6;
            default -> 1e9;
          };
      objectives.add(new Objective(measure, Math.round(Double.parseDouble(form.group(2)) * unit)));
    }
    return new Slo(objectives, percentile);
  }

  /** Whether there is nothing to meet. */
  public boolean isEmpty() {
    return objectives.isEmpty();
  }

  /** As it is written in settings; empty when there is no objective. */
  @Override
  public String toString() {
    return objectives.stream().map(Objective::toString).collect(Collectors.joining(","));
  }
}
