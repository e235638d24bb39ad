package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonValue;
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
 * Service level objectives of one request, and when a load level holds them.
 *
 * <pre>{@code
 * Slo.parse("ttft<200ms,tpot<50ms,e2e<10s", 99, Slo.Rule.PERCENTILES)
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
 * <tr><td>cancelled, never admitted</td><td>TTFT, TTFO and E2E: missed where the limit had passed,
 *     met where it came in time. TPOT, ITL and STALL: judged by what was seen, once two tokens had
 *     come; a gap that was still open counts for STALL. All else cannot be told; a request with an
 *     objective that cannot be told, and none missed, is not judged</td></tr>
 * </table>
 *
 * @param objectives all must hold; empty means no SLO
 * @param percentile share of requests, in percent, that {@code rule} asks for
 * @param rule when a load level holds
 */
public record Slo(List<Objective> objectives, double percentile, Rule rule) {

  /** Stands in the list of missed objectives of a request that was not ok. */
  public static final String FAILED = "failed";

  /** No objective at all. */
  public static final Slo NONE = new Slo(List.of(), 99, Rule.PERCENTILES);

  private static final Pattern FORM =
      Pattern.compile("([a-z0-9]+)<=?(" + DurationText.NUMBER + "(?:" + DurationText.UNITS + "))");

  /** Whatever somebody may have meant as one. */
  private static final Pattern ATTEMPT = Pattern.compile("([^<>=]*)([<>=]+)(.*)");

  public Slo {
    objectives = List.copyOf(objectives);
    if (!(percentile > 0 && percentile <= 100)) {
      throw new IllegalArgumentException(
          "SLO percentile " + percentile + " is out of range; expected more than 0, at most 100");
    }
  }

  /** When a load level holds an SLO of several objectives; failed requests meet none. */
  public enum Rule {
    /** Each objective by itself is met by at least that share of the attempted requests. */
    PERCENTILES,
    /** At least that share of the attempted requests meets all objectives at once. */
    REQUESTS;

    /** The name used in settings and files: lower case. */
    @JsonValue
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What became of one objective of one request. */
  public enum Verdict {
    MET,
    MISSED,
    /** The request has nothing to be judged by, such as TPOT of one token: no miss. */
    ABSENT,
    /** It was cancelled before it could be told. */
    UNKNOWN
  }

  /**
   * What became of all objectives of one request.
   *
   * @param verdicts in the order of the objectives; empty without SLO
   * @param failed whether it ended by itself and was not ok
   */
  public record Judgement(Slo slo, List<Verdict> verdicts, boolean failed) {

    /** Of the objective at that position: a failed request meets none. */
    public Verdict of(int objective) {
      return failed ? Verdict.MISSED : verdicts.get(objective);
    }

    /**
     * The names of the missed objectives, e.g. {@code ttft}, in the order of the SLO, and {@value
     * #FAILED}.
     */
    public List<String> missed() {
      List<String> missed = new ArrayList<>(0);
      for (int i = 0; i < verdicts.size(); i++) {
        String key = slo.objectives.get(i).measure().key();
        if (verdicts.get(i) == Verdict.MISSED && !missed.contains(key)) {
          missed.add(key);
        }
      }
      if (failed && !slo.isEmpty()) {
        missed.add(FAILED);
      }
      return missed;
    }

    /** Whether it met the SLO; null where there is none, and where that cannot be told. */
    public @Nullable Boolean met() {
      if (slo.isEmpty()) {
        return null;
      }
      if (failed || verdicts.contains(Verdict.MISSED)) {
        return false;
      }
      return verdicts.contains(Verdict.UNKNOWN) ? null : (Boolean) true;
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
          Double micros = TokenGaps.tokenMicrosAt(events, tokens, 99);
          yield micros == null ? null : (Double) (micros * 1e3);
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

    /** Of a request that ended by itself. */
    private Verdict ofEnded(@Nullable Double nanos, boolean streamed) {
      return nanos == null
          ? measure.mustExist(streamed) ? Verdict.MISSED : Verdict.ABSENT
          : within(nanos);
    }

    /** Of a request that was cancelled: by what was seen. */
    private Verdict ofCancelled(@Nullable Double nanos, boolean streamed, Timing timing) {
      boolean late = elapsedNanos(timing) >= limitNanos;
      return switch (measure) {
        case TTFT, TTFO ->
            nanos != null ? within(nanos) : late && streamed ? Verdict.MISSED : Verdict.UNKNOWN;
        case E2E -> late ? Verdict.MISSED : Verdict.UNKNOWN;
        case TPOT, ITL -> nanos != null ? within(nanos) : Verdict.UNKNOWN;
        case STALL ->
            openGapNanos(timing) >= limitNanos
                ? Verdict.MISSED
                : nanos != null ? within(nanos) : Verdict.UNKNOWN;
      };
    }

    private Verdict within(double nanos) {
      return nanos >= limitNanos ? Verdict.MISSED : Verdict.MET;
    }

    /** From the last token to the end of a stream that was cut; 0 where no token came. */
    private static long openGapNanos(Timing timing) {
      Long last = timing.latencyNanos();
      Long closed = timing.closedNanos();
      return last == null || closed == null ? 0 : closed - last;
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
   * Reads {@code ttft<200ms,tpot<50ms,e2e<10s}; empty is no objective.
   *
   * @throws IllegalArgumentException in one line that names the part, and what is allowed
   */
  public static Slo parse(String text, double percentile, Rule rule) {
    return new Slo(text.isEmpty() ? List.of() : objectives(text), percentile, rule);
  }

  /** What presets there are: name and objectives of each. */
  public static String presets() {
    return Arrays.stream(SloPreset.values())
        .map(preset -> preset + " (" + preset.objectives() + ")")
        .collect(Collectors.joining(", "));
  }

  /** As they are written in settings, with what settings have by default. */
  public static Slo parse(String text) {
    return new Slo(objectives(text), NONE.percentile, NONE.rule);
  }

  /** The same objectives, judged otherwise. */
  public Slo judgedBy(double otherPercentile, Rule otherRule) {
    return new Slo(objectives, otherPercentile, otherRule);
  }

  private static List<String> withLimitsOfPresets(String text) {
    return Arrays.stream(text.split(",", -1))
        .map(part -> SloPreset.named(part).map(SloPreset::objectives).orElse(part))
        .flatMap(part -> Arrays.stream(part.split(",", -1)))
        .toList();
  }

  private static List<Objective> objectives(String text) {
    List<Objective> objectives = new ArrayList<>();
    for (String part : withLimitsOfPresets(text.toLowerCase(Locale.ROOT).replace(" ", ""))) {
      Matcher form = FORM.matcher(part);
      @Nullable Measure measure =
          form.matches()
              ? Arrays.stream(Measure.values())
                  .filter(m -> m.key().equals(form.group(1)))
                  .findFirst()
                  .orElse(null)
              : null;
      if (measure == null) {
        throw notUnderstood(part);
      }
      objectives.add(new Objective(measure, DurationText.nanos(form.group(2), "ms")));
    }
    return objectives;
  }

  /** Says which of its three pieces is wrong, where it has three. */
  private static IllegalArgumentException notUnderstood(String part) {
    List<String> measures = Arrays.stream(Measure.values()).map(Measure::key).toList();
    Matcher attempt = ATTEMPT.matcher(part);
    String what;
    if (part.isEmpty()) {
      what = "is empty; expected objectives such as ttft<200ms,tpot<50ms";
    } else if (!attempt.matches()) {
      what =
          "is not understood; expected <measure><limit> such as ttft<200ms, measures: "
              + String.join(" ", measures)
              + ", units: us ms s m h; or a preset such as "
              + SloPreset.MLPERF_LLAMA2_70B_INTERACTIVE;
    } else if (!measures.contains(attempt.group(1))) {
      what =
          "has no known measure: '"
              + attempt.group(1)
              + "'; expected one of "
              + String.join(" ", measures);
    } else if (!attempt.group(2).matches("<=?")) {
      what = "has '" + attempt.group(2) + "'; a limit is an upper one: < or <=";
    } else {
      what =
          "has no known limit: '" + attempt.group(3) + "'; expected a number and us, ms, s, m or h";
    }
    return new IllegalArgumentException("SLO '" + part + "' " + what);
  }

  /** Whether there is nothing to meet. */
  public boolean isEmpty() {
    return objectives.isEmpty();
  }

  /** Whether it holds at the same share, by the same rule. */
  public boolean isHeldAs(Slo other) {
    return percentile == other.percentile && rule == other.rule;
  }

  /** What became of the objectives of one request. */
  public Judgement judge(
      boolean streamed,
      RequestStatus status,
      boolean ok,
      Timing timing,
      Events events,
      Tokens tokens) {
    boolean cancelled = status == RequestStatus.CANCELLED;
    List<Verdict> verdicts = new ArrayList<>(objectives.size());
    for (Objective objective : objectives) {
      Double nanos = objective.measure().nanos(timing, events, tokens);
      verdicts.add(
          cancelled
              ? objective.ofCancelled(nanos, streamed, timing)
              : objective.ofEnded(nanos, streamed));
    }
    return new Judgement(this, verdicts, !ok && !cancelled);
  }

  /**
   * The same of a record. ITL of one whose event times were not kept is what it was found to be
   * when the request ended.
   */
  public Judgement judge(RequestRecord r) {
    RequestRecord.Outcome outcome = r.outcome();
    Judgement judgement =
        judge(
            r.identity().streamed(),
            outcome.status(),
            outcome.ok(),
            r.timing(),
            r.events(),
            r.tokens());
    if (r.events().offsetsMicros().length == 0 && r.events().count() > 1) {
      Verdict then =
          outcome.sloMissed().contains(Measure.ITL.key())
              ? Verdict.MISSED
              : outcome.sloOk() == null ? Verdict.UNKNOWN : Verdict.MET;
      for (int i = 0; i < objectives.size(); i++) {
        if (objectives.get(i).measure() == Measure.ITL) {
          judgement.verdicts().set(i, then);
        }
      }
    }
    return judgement;
  }

  /** As it is written in settings; empty when there is no objective. */
  @Override
  public String toString() {
    return objectives.stream().map(Objective::toString).collect(Collectors.joining(","));
  }
}
