package io.github.gatlingllm.record;

import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Service level objectives (SLO) of a request, and the rule by which a load level holds them.
 *
 * <pre>{@code
 * Slo.parse("ttft<200ms,tpot<50ms,e2e<10s", 99, Slo.Rule.PERCENTILES)
 * }</pre>
 *
 * <p>Which objectives a request misses:
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>TTFT, TTFO, E2E</td><td>measured from the planned arrival, so that they include the
 *     wait inside the client, as the user feels it; a streamed request without a value misses
 *     </td></tr>
 * <tr><td>TPOT, ITL, STALL</td><td>a request without a value is not judged by them</td></tr>
 * <tr><td>not ok</td><td>misses {@value #FAILED}, besides the objectives that it misses</td></tr>
 * <tr><td>cancelled, never admitted</td><td>TTFT, TTFO and E2E: missed if the limit had passed,
 *     met if the token came in time. TPOT, ITL and STALL: judged by the tokens received, from two
 *     on; STALL includes the gap that was open at the end. Everything else is unknown. A request
 *     with an unknown objective and no missed one is not judged</td></tr>
 * </table>
 *
 * @param objectives all must hold; empty if there is no SLO
 * @param percentile share of requests, in percent, that {@code rule} requires
 * @param rule when a load level holds the SLO
 */
public record Slo(List<Objective> objectives, double percentile, Rule rule) {

  /** The entry in the list of missed objectives of a request that was not ok. */
  public static final String FAILED = "failed";

  public static final Slo NONE = new Slo(List.of(), 99, Rule.PERCENTILES);

  /**
   * Published limits that settings can name instead of objectives: the interactive scenarios of
   * MLPerf Inference, which judges as {@link Rule#PERCENTILES} does: p99 of TTFT and of TPOT, from
   * the instant at which a query was scheduled.
   *
   * <p>Source: MLCommons, <a
   * href="https://github.com/mlcommons/inference_policies/blob/ac93e89c0c9a8819eb0ad987768c2f6e22896714/inference_rules.adoc">MLPerf
   * Inference Rules</a>, datacenter suite, July 2026. Only the limits are taken from there: model,
   * dataset and lengths are those of the run, so its figures are not MLPerf results.
   */
  static final Map<String, String> PRESETS = new LinkedHashMap<>();

  static {
    PRESETS.put("mlperf-llama3.1-8b-interactive", "ttft<500ms,tpot<30ms");
    PRESETS.put("mlperf-llama2-70b-interactive", "ttft<450ms,tpot<40ms");
    PRESETS.put("mlperf-llama3.1-405b-interactive", "ttft<4500ms,tpot<80ms");
    PRESETS.put("mlperf-deepseek-r1-interactive", "ttft<1500ms,tpot<15ms");
    PRESETS.put("mlperf-gpt-oss-120b-interactive", "ttft<2s,tpot<20ms");
  }

  private static final String MEASURES =
      Arrays.stream(Measure.values()).map(Measure::key).collect(Collectors.joining("|"));

  private static final Pattern FORM =
      Pattern.compile(
          "(" + MEASURES + ")<=?(" + DurationText.NUMBER + "(?:" + DurationText.UNITS + "))");

  public Slo {
    objectives = List.copyOf(objectives);
    if (!(percentile > 0 && percentile <= 100)) {
      throw new IllegalArgumentException(
          "SLO percentile " + percentile + " is out of range; expected more than 0, at most 100");
    }
  }

  /** When a load level holds an SLO of several objectives; failed requests meet none. */
  public enum Rule implements RunInfo.Keyed {
    /** Each objective is met by at least that share of the attempted requests. */
    PERCENTILES,
    /** At least that share of the attempted requests meets all objectives together. */
    REQUESTS;

    @Override
    public String toString() {
      return key();
    }
  }

  public enum ObjectiveResult {
    MET,
    MISSED,
    /** The request has no value, such as TPOT of one token. This is not a miss. */
    ABSENT,
    /** The request was cancelled before the objective could be judged. */
    UNKNOWN
  }

  /** The verdicts on a request, in the order of the objectives, and whether it failed. */
  public record Judgement(Slo slo, List<ObjectiveResult> verdicts, boolean failed) {

    /** The verdict on the objective at that position; a failed request meets none. */
    public ObjectiveResult of(int objective) {
      return failed ? ObjectiveResult.MISSED : verdicts.get(objective);
    }

    /** The missed measures, e.g. {@code ttft}, in the order of the SLO, and {@value #FAILED}. */
    public List<String> missed() {
      Set<String> missed = new LinkedHashSet<>();
      for (int i = 0; i < verdicts.size(); i++) {
        if (verdicts.get(i) == ObjectiveResult.MISSED) {
          missed.add(slo.objectives.get(i).measure().key());
        }
      }
      if (failed && !slo.isEmpty()) {
        missed.add(FAILED);
      }
      return List.copyOf(missed);
    }

    /** Whether the request met the SLO; null if there is none, or if that is unknown. */
    public @Nullable Boolean met() {
      if (slo.isEmpty()) {
        return null;
      }
      if (failed || verdicts.contains(ObjectiveResult.MISSED)) {
        return false;
      }
      return verdicts.contains(ObjectiveResult.UNKNOWN) ? null : (Boolean) true;
    }
  }

  public enum Measure implements RunInfo.Keyed {
    TTFT,
    /** Time to first output token, reasoning excluded. */
    TTFO,
    TPOT,
    /** 99th percentile of the request's inter-token gaps. */
    ITL,
    E2E,
    /** Longest gap of the request. */
    STALL;

    /** Whether it is measured from the planned arrival, and so includes the wait in the client. */
    public boolean isFromSchedule() {
      return this == TTFT || this == TTFO || this == E2E;
    }

    /** Its value for a request, in nanoseconds; null if the request has none. */
    public @Nullable Double nanos(Timing timing, Events events, Tokens tokens) {
      return switch (this) {
        case TTFT -> decimal(timing.ttftFromScheduleNanos());
        case TTFO -> decimal(timing.ttfoFromScheduleNanos());
        case E2E -> decimal(timing.latencyFromScheduleNanos());
        case TPOT -> timing.tpotNanos();
        case STALL -> decimal(events.longestGapNanos());
        case ITL -> {
          Double micros = TokenGaps.tokenMicrosAt(events, tokens, 99);
          yield micros == null ? null : (Double) (micros * 1e3);
        }
      };
    }

    private static @Nullable Double decimal(@Nullable Long nanos) {
      return nanos == null ? null : (Double) (double) nanos;
    }

    private boolean isRequired(boolean streamed) {
      return this == E2E || (streamed && (this == TTFT || this == TTFO));
    }
  }

  /** A limit above 0; the measure must be below it. */
  public record Objective(Measure measure, long limitNanos) {

    /** As it is written in settings, e.g. {@code ttft<200ms}. */
    @Override
    public String toString() {
      return measure.key() + "<" + duration(limitNanos);
    }

    /** The verdict on a request that was not cut. */
    private ObjectiveResult ofEnded(@Nullable Double nanos, boolean streamed) {
      return nanos == null
          ? measure.isRequired(streamed) ? ObjectiveResult.MISSED : ObjectiveResult.ABSENT
          : within(nanos);
    }

    /** The verdict on a request that was cut, by the tokens received. */
    private ObjectiveResult ofCut(@Nullable Double nanos, boolean streamed, Timing timing) {
      boolean late = elapsedNanos(timing) >= limitNanos;
      return switch (measure) {
        case TTFT, TTFO ->
            nanos != null
                ? within(nanos)
                : late && streamed ? ObjectiveResult.MISSED : ObjectiveResult.UNKNOWN;
        case E2E -> late ? ObjectiveResult.MISSED : ObjectiveResult.UNKNOWN;
        case TPOT, ITL -> nanos != null ? within(nanos) : ObjectiveResult.UNKNOWN;
        case STALL ->
            openGapNanos(timing) >= limitNanos
                ? ObjectiveResult.MISSED
                : nanos != null ? within(nanos) : ObjectiveResult.UNKNOWN;
      };
    }

    private ObjectiveResult within(double nanos) {
      return nanos >= limitNanos ? ObjectiveResult.MISSED : ObjectiveResult.MET;
    }

    /** From the last token to the end of a stream that was cut; 0 without tokens. */
    private static long openGapNanos(Timing timing) {
      Long last = timing.latencyNanos();
      Long closed = timing.closedNanos();
      return last == null || closed == null ? 0 : closed - last;
    }

    /** From the planned arrival to the end; without admission it is closed since its start. */
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
      return BigDecimal.valueOf(nanos, 3).stripTrailingZeros().toPlainString() + "us";
    }
  }

  /** Parses {@code ttft<200ms,tpot<50ms,e2e<10s}; an empty text has no objective. */
  public static Slo parse(String text, double percentile, Rule rule) {
    return new Slo(text.isEmpty() ? List.of() : objectives(text), percentile, rule);
  }

  public static String presets() {
    return PRESETS.entrySet().stream()
        .map(preset -> preset.getKey() + " (" + preset.getValue() + ")")
        .collect(Collectors.joining(", "));
  }

  public static Slo parse(String text) {
    return new Slo(objectives(text), NONE.percentile, NONE.rule);
  }

  public Slo judgedBy(double otherPercentile, Rule otherRule) {
    return new Slo(objectives, otherPercentile, otherRule);
  }

  private static List<Objective> objectives(String text) {
    return Arrays.stream(text.toLowerCase(Locale.ROOT).replace(" ", "").split(",", -1))
        .flatMap(part -> Arrays.stream(PRESETS.getOrDefault(part, part).split(",", -1)))
        .map(Slo::objective)
        .toList();
  }

  private static Objective objective(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException(
          ("SLO '%s' is not understood; expected <measure><limit> such as ttft<200ms, measures: %s,"
                  + " units: us ms s m h; or a preset such as mlperf-llama2-70b-interactive")
              .formatted(text, MEASURES.replace('|', ' ')));
    }
    long limit = DurationText.nanos(form.group(2), "ms");
    if (limit == 0) {
      throw new IllegalArgumentException(
          "SLO '" + text + "' has limit 0, which no request meets; expected a time above 0");
    }
    return new Objective(Measure.valueOf(form.group(1).toUpperCase(Locale.ROOT)), limit);
  }

  public boolean isEmpty() {
    return objectives.isEmpty();
  }

  public boolean hasSameRule(Slo other) {
    return percentile == other.percentile && rule == other.rule;
  }

  public Judgement judge(
      boolean streamed,
      RequestStatus status,
      boolean ok,
      Timing timing,
      Events events,
      Tokens tokens) {
    boolean cut = status.isCut();
    List<ObjectiveResult> verdicts = new ArrayList<>(objectives.size());
    for (Objective objective : objectives) {
      Double nanos = objective.measure().nanos(timing, events, tokens);
      verdicts.add(
          cut ? objective.ofCut(nanos, streamed, timing) : objective.ofEnded(nanos, streamed));
    }
    return new Judgement(this, verdicts, !ok && !cut);
  }

  /** Judges a record; ITL without event times by its recorded outcome, decided when it ended. */
  public Judgement judge(RequestRecord r) {
    RequestRecord.RequestOutcome outcome = r.outcome();
    Judgement judgement =
        judge(
            r.identity().streamed(),
            outcome.status(),
            outcome.ok(),
            r.timing(),
            r.events(),
            r.tokens());
    if (r.events().offsetsMicros().length == 0 && r.events().count() > 1) {
      ObjectiveResult then =
          outcome.sloMissed().contains(Measure.ITL.key())
              ? ObjectiveResult.MISSED
              : outcome.sloOk() == null ? ObjectiveResult.UNKNOWN : ObjectiveResult.MET;
      for (int i = 0; i < objectives.size(); i++) {
        if (objectives.get(i).measure() == Measure.ITL) {
          judgement.verdicts().set(i, then);
        }
      }
    }
    return judgement;
  }

  /** The objectives as written in settings; empty if there are none. */
  @Override
  public String toString() {
    return objectives.stream().map(Objective::toString).collect(Collectors.joining(","));
  }
}
