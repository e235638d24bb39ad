package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.github.gatlingllm.action.ArrivalStep;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Trace;
import java.nio.file.Path;
import java.time.Duration;

/** Arrival processes as injection steps. */
final class Steps {

  private Steps() {}

  static OpenInjectionStep during(Arrivals arrivals, Duration duration) {
    if (duration.isZero() || duration.isNegative()) {
      throw new IllegalArgumentException(
          "during(" + duration + ") starts no user; expected more than 0 s");
    }
    return ArrivalStep.of(arrivals, duration.toNanos());
  }

  static OpenInjectionStep replay(String file, double speed) {
    Arrivals.Replay replay = new Arrivals.Replay(Trace.read(Path.of(file)), speed);
    return ArrivalStep.of(replay, replay.lengthNanos());
  }
}
