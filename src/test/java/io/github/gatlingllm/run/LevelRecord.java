package io.github.gatlingllm.run;

import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RandomRecords;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.List;
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
    Long latency = sloOk == null ? null : (Long) (sloOk ? 1L : 2_000_000_000L);
    Long ttft = latency == null ? null : (Long) 1L;
    RequestRecord any = new RandomRecords(1).answer(2);
    RequestRecord.Identity id = any.identity();
    return new RequestRecord(
        new RequestRecord.Identity(
            id.requestId(),
            id.runId(),
            id.injector(),
            null,
            id.requestIndex(),
            SCENARIO,
            id.name(),
            id.groups(),
            id.userId(),
            null,
            TARGET,
            id.endpoint(),
            id.model(),
            id.api(),
            id.streamed(),
            id.hasTools(),
            level,
            phase),
        new RequestRecord.Timing(
            start, null, 0, 0L, null, null, null, ttft, ttft, latency, closed, null, null),
        any.events(),
        any.tokens(),
        new RequestRecord.Outcome(null, 200, status, ok, null, sloOk, List.of(), false),
        any.server(),
        null);
  }
}
