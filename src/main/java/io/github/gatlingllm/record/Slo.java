package io.github.gatlingllm.record;

import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.Tokens;
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
 * <p>What a request missed:
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>TTFT, TTFO, E2E</td><td>judged from the schedule, so that waiting inside the client
 *     counts: it is what the user feels; of a streamed request, a missing one is a miss</td></tr>
 * <tr><td>TPOT, ITL, STALL</td><td>a missing one is ignored</td></tr>
 * <tr><td>not ok</td><td>misses {@value #FAILED}, and what else it missed</td></tr>
 * <tr><td>cancelled, never admitted</td><td>misses what it had already missed when it was
 *     cancelled; with no such miss it is excluded from goodput</td></tr>
 * </table>
 *
 * @param objectives all must hold; empty means no SLO
 * @param percentile share of attempted requests, in percent, at which a load level holds
 */
public record Slo(List<Objective> objectives, double percentile) {

  /** Stands in the list of missed objectives of a request that was not ok. */
  public static final String FAILED = "failed";

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

    /** Whether it counts from the planned arrival, so that waiting inside the client counts. */
    public boolean isFromSchedule() {
      return this == TTFT || this == TTFO || this == E2E;
    }

    /** What it was for one request, in nanoseconds; null where it has none. */
    public @Nullable Double nanos(Timing timing, Events events, Tokens tokens) {
      return switch (this) {
        case TTFT -> real(timing.ttftFromScheduleNanos());
        case TTFO -> real(timing.ttfoFromScheduleNanos());
        case E2E -> real(timing.latencyFromScheduleNanos());
        case TPOT -> timing.tpotNanos();
        case STALL -> real(events.longestGapNanos());
        case ITL -> {
          double[] gaps = TokenGaps.sortedTokenMicros(events, tokens);
          yield gaps.length == 0 ? null : (Double) (TokenGaps.nearestRank(gaps, 99) * 1e3);
        }
      };
    }

    private static @Nullable Double real(@Nullable Long nanos) {
      return nanos == null ? null : (Double) (double) nanos;
    }

    private boolean mustExist(boolean streamed) {
      return this == E2E || (streamed && (this == TTFT || this == TTFO));
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

    /** Whether no further waiting could have met it. */
    private boolean hadMissed(@Nullable Double nanos, Timing timing) {
      return switch (measure) {
        case TTFT, TTFO -> nanos == null ? elapsedNanos(timing) >= limitNanos : nanos >= limitNanos;
        case E2E -> elapsedNanos(timing) >= limitNanos;
        case STALL -> nanos != null && nanos >= limitNanos;
        case TPOT, ITL -> false;
      };
    }

    /**
     * From the schedule to the end; for a request that was never admitted {@code closedNanos}
     * counts from its start.
     */
    private static long elapsedNanos(Timing timing) {
      Long gateWait = timing.gateWaitNanos();
      Long closed = timing.closedNanos();
      return timing.startLagNanos()
          + (gateWait == null ? 0 : gateWait)
          + (closed == null ? 0 : closed);
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

  /**
   * The names of the missed objectives, e.g. {@code ttft}, in the order of the SLO; empty when all
   * were met, when there is no SLO, and for a cancelled request that had missed nothing yet.
   */
  public List<String> missed(
      boolean streamed,
      RequestStatus status,
      boolean ok,
      Timing timing,
      Events events,
      Tokens tokens) {
    if (isEmpty()) {
      return List.of();
    }
    boolean cancelled = status == RequestStatus.CANCELLED;
    List<String> missed = new ArrayList<>(0);
    for (Objective objective : objectives) {
      Measure measure = objective.measure();
      Double nanos = measure.nanos(timing, events, tokens);
      boolean miss;
      if (cancelled) {
        miss = objective.hadMissed(nanos, timing);
      } else if (nanos == null) {
        miss = measure.mustExist(streamed);
      } else {
        miss = nanos >= objective.limitNanos();
      }
      if (miss && !missed.contains(measure.key())) {
        missed.add(measure.key());
      }
    }
    if (!ok && !cancelled) {
      missed.add(FAILED);
    }
    return missed;
  }

  /** The same of a record. */
  public List<String> missed(RequestRecord r) {
    return missed(
        r.identity().streamed(),
        r.outcome().status(),
        r.outcome().ok(),
        r.timing(),
        r.events(),
        r.tokens());
  }

  /**
   * Whether the request met the SLO, given what it missed; null when there is no SLO, and for a
   * cancelled request that had missed nothing yet.
   */
  public @Nullable Boolean met(RequestStatus status, List<String> missed) {
    if (isEmpty() || (status == RequestStatus.CANCELLED && missed.isEmpty())) {
      return null;
    }
    return missed.isEmpty();
  }

  /** As it is written in settings; empty when there is no objective. */
  @Override
  public String toString() {
    return objectives.stream().map(Objective::toString).collect(Collectors.joining(","));
  }
}
