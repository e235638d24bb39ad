package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import org.jspecify.annotations.Nullable;

/**
 * What a record says of its request's level and end, in nanoseconds since the epoch; the rest is
 * any.
 *
 * @param closed how long after its start it was over; null when it was never
 */
record LevelRecord(
    String level,
    Phase phase,
    RequestStatus status,
    boolean ok,
    @Nullable Boolean sloOk,
    long start,
    @Nullable Long closed) {

  static final String TARGET = "target";
  static final String SCENARIO = "scenario";

  static LevelRecord ok(String level) {
    return new LevelRecord(level, Phase.MEASURE, RequestStatus.COMPLETE, true, null, 0, 1L);
  }

  static LevelRecord failed(String level) {
    return new LevelRecord(level, Phase.MEASURE, RequestStatus.TIMEOUT, false, null, 0, 1L);
  }

  LevelRecord in(Phase other) {
    return new LevelRecord(level, other, status, ok, sloOk, start, closed);
  }

  LevelRecord cancelled() {
    return new LevelRecord(level, phase, RequestStatus.CANCELLED, false, sloOk, start, closed);
  }

  LevelRecord rateLimited() {
    return new LevelRecord(level, phase, RequestStatus.RATE_LIMITED, false, sloOk, start, closed);
  }

  /** One whose first token came at once, and its last at once or after 2 s. */
  LevelRecord judged(boolean met) {
    return new LevelRecord(level, phase, status, ok, met, start, closed);
  }

  LevelRecord at(long from, @Nullable Long until) {
    Long duration = until == null ? null : (Long) (until - from);
    return new LevelRecord(level, phase, status, ok, sloOk, from, duration);
  }

  RequestRecord record() {
    Recorded recorded =
        Recorded.at(0)
            .unixNanos(start)
            .scenario(SCENARIO)
            .target(TARGET)
            .stage(level)
            .phase(phase)
            .judged(sloOk);
    if (!ok) {
      recorded.failed(status, null);
    }
    if (sloOk != null) {
      recorded.tokens(1e-6, sloOk ? 1e-6 : 2_000);
    }
    return (closed == null ? recorded : recorded.closed(closed / 1e6)).record();
  }
}
