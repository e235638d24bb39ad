package io.github.gatlingllm.record;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says which objectives a request missed.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>TTFT, TTFO, E2E</td><td>judged from the schedule; of a streamed request, a missing one is
 *     a miss</td></tr>
 * <tr><td>TPOT, ITL, STALL</td><td>a missing one is ignored</td></tr>
 * <tr><td>not ok</td><td>misses {@value #FAILED}, and what else it missed</td></tr>
 * <tr><td>cancelled, never admitted</td><td>misses what was already beyond remedy when it was
 *     cancelled; with no such miss it is excluded from goodput</td></tr>
 * </table>
 */
public final class SloJudge {

  /** Stands in the list of missed objectives of a request that was not ok. */
  public static final String FAILED = "failed";

  private SloJudge() {}

  /**
   * The names of the missed objectives, e.g. {@code ttft}, in the order of the SLO; empty when all
   * were met, when there is no SLO, and for a cancelled request that had missed nothing yet.
   */
  public static List<String> missed(
      Slo slo,
      boolean streamed,
      RequestStatus verdict,
      boolean ok,
      RequestRecord.Timing timing,
      RequestRecord.Events events,
      RequestRecord.Tokens tokens) {
    if (slo.isEmpty()) {
      return List.of();
    }
    boolean cancelled = verdict == RequestStatus.CANCELLED;
    List<String> missed = new ArrayList<>(0);
    for (Slo.Objective objective : slo.objectives()) {
      Slo.Measure measure = objective.measure();
      Double nanos = nanos(measure, timing, events, tokens);
      boolean miss;
      if (cancelled) {
        miss = hadMissed(objective, nanos, timing);
      } else if (nanos == null) {
        miss = mustExist(measure, streamed);
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

  /**
   * As {@link #missed(Slo, boolean, RequestStatus, boolean, RequestRecord.Timing,
   * RequestRecord.Events, RequestRecord.Tokens)}.
   */
  public static List<String> missed(Slo slo, RequestRecord r) {
    return missed(
        slo,
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
  public static @Nullable Boolean met(Slo slo, RequestStatus verdict, List<String> missed) {
    if (slo.isEmpty() || (verdict == RequestStatus.CANCELLED && missed.isEmpty())) {
      return null;
    }
    return missed.isEmpty();
  }

  /** What a measure was for one request, in nanoseconds; null where it has none. */
  public static @Nullable Double nanos(
      Slo.Measure measure,
      RequestRecord.Timing timing,
      RequestRecord.Events events,
      RequestRecord.Tokens tokens) {
    return switch (measure) {
      case TTFT -> real(timing.ttftFromScheduleNanos());
      case TTFO -> ttfoFromSchedule(timing);
      case E2E -> real(timing.latencyFromScheduleNanos());
      case TPOT -> timing.tpotNanos();
      case STALL -> real(events.longestGapNanos());
      case ITL -> {
        double[] gaps = TokenGaps.sortedTokenMicros(events, tokens);
        yield gaps.length == 0 ? null : (Double) (TokenGaps.nearestRank(gaps, 99) * 1e3);
      }
    };
  }

  private static @Nullable Double ttfoFromSchedule(RequestRecord.Timing timing) {
    Long ttfo = timing.ttfoNanos();
    Long queueWait = timing.queueWaitNanos();
    return ttfo == null || queueWait == null ? null : (Double) (double) (ttfo + queueWait);
  }

  private static boolean mustExist(Slo.Measure measure, boolean streamed) {
    return switch (measure) {
      case TTFT, TTFO -> streamed;
      case E2E -> true;
      case TPOT, ITL, STALL -> false;
    };
  }

  /** Whether no further waiting could have met the objective. */
  private static boolean hadMissed(
      Slo.Objective objective, @Nullable Double nanos, RequestRecord.Timing timing) {
    long limit = objective.limitNanos();
    return switch (objective.measure()) {
      case TTFT, TTFO -> nanos == null ? elapsedNanos(timing) >= limit : nanos >= limit;
      case E2E -> elapsedNanos(timing) >= limit;
      case STALL -> nanos != null && nanos >= limit;
      case TPOT, ITL -> false;
    };
  }

  /**
   * From the schedule to the end; for a request that was never admitted {@code closedNanos} counts
   * from its start.
   */
  private static long elapsedNanos(RequestRecord.Timing timing) {
    Long gateWait = timing.gateWaitNanos();
    Long closed = timing.closedNanos();
    return timing.startLagNanos()
        + (gateWait == null ? 0 : gateWait)
        + (closed == null ? 0 : closed);
  }

  private static @Nullable Double real(@Nullable Long nanos) {
    return nanos == null ? null : (Double) (double) nanos;
  }
}
