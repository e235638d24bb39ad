package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.RequestStatus;

/** Requests of a load level, of a nanosecond at the start of the epoch. */
final class LevelRecord {

  static final String TARGET = "target";
  static final String SCENARIO = "scenario";

  private LevelRecord() {}

  static Recorded ok(String level) {
    return between(0, 1).stage(level);
  }

  static Recorded failed(String level) {
    return ok(level).failed(RequestStatus.TIMEOUT, null);
  }

  /** In nanoseconds since the epoch. */
  static Recorded between(long start, long end) {
    return Recorded.at(0)
        .unixNanos(start)
        .closed((end - start) / 1e6)
        .scenario(SCENARIO)
        .target(TARGET);
  }
}
