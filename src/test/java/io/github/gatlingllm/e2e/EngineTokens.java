package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Tokens as the engine logged them, compared with the records. */
final class EngineTokens {

  /** Offsets are whole microseconds: a token at an edge of a window may be counted or not. */
  static final double AT_THE_EDGES = 2;

  private static final Duration LIMIT = Duration.ofMinutes(2);

  private EngineTokens() {}

  /** Log of the engine, by request id. */
  static Map<String, GroundTruth> byRequest(Collection<GroundTruth> truths) {
    return truths.stream().collect(Collectors.toMap(GroundTruth::requestId, Function.identity()));
  }

  /** Waits until the engine has finished that many requests and has none in flight. */
  static void awaitEnded(EmbeddedEngine engine, int requests) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (engine.groundTruth().size() < requests || engine.load().running() > 0) {
      assertThat(System.nanoTime())
          .as(() -> engine.groundTruth().size() + " ended, " + engine.load().running() + " running")
          .isLessThan(deadline);
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Asserts that each record has exactly the tokens that the engine sent. */
  static void assertAllArrived(
      Collection<RequestRecord> records, Collection<GroundTruth> groundTruth) {
    Map<String, GroundTruth> truths = byRequest(groundTruth);
    assertThat(records).isNotEmpty().hasSameSizeAs(truths.values());
    assertThat(records)
        .allSatisfy(
            r -> {
              GroundTruth truth = truths.get(r.identity().requestId());
              assertThat(truth).isNotNull();
              assertThat(r.events().offsetsMicros()).hasSameSizeAs(truth.tokenNanos());
            });
  }

  /** Number of tokens that arrived in the time window, one per event. */
  static double arrivedIn(PhaseWindow window, Collection<RequestRecord> records) {
    return records.stream()
        .mapToLong(
            r ->
                Arrays.stream(r.events().offsetsMicros())
                    .mapToLong(micros -> r.timing().admittedUnixNanos() + 1_000L * micros)
                    .filter(at -> at >= window.startUnixNanos() && at < window.endUnixNanos())
                    .count())
        .sum();
  }
}
