package io.github.gatlingllm.engine;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EngineProcess.Written;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.SelfTest.Errors;
import io.github.gatlingllm.record.SelfTest.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** With planned times of 100 ms and 20 ms; times are milliseconds since the start of the run. */
class DeliveryErrorsTest {

  private final List<Written> answers = new ArrayList<>();
  private final List<RequestRecord> records = new ArrayList<>();

  private void written(String id, double receivedMs, double... tokenMs) {
    answers.add(
        new Written(
            id, epoch(receivedMs), Arrays.stream(tokenMs).mapToLong(this::epoch).toArray()));
  }

  private long epoch(double ms) {
    return Recorded.ORIGIN + Math.round(ms * 1e6);
  }

  /** Recorded at these milliseconds since its start. */
  private Recorded recorded(String id, double startMs, double... tokenMs) {
    return Recorded.at(startMs).id(id).stage("c=2").tokens(tokenMs);
  }

  private Level level() {
    DeliveryErrors errors =
        new DeliveryErrors(answers, MILLISECONDS.toNanos(100), MILLISECONDS.toNanos(20));
    records.forEach(errors::add);
    return errors.levels(List.of(Recorded.stage(2, 0, 1_000), Recorded.stage(4, 0, 1_000))).get(0);
  }

  @Test
  void errorsAreRelativeToTheWriteTimeNotThePlan() {
    // 145 was due at 140: the engine was 5 ms late, and the record 0.9 ms.
    written("a", 0, 100, 120, 145);
    records.add(recorded("a", -1, 101.3, 121.1, 146.9).record());
    Level level = level();
    assertThat(level.ttftErrorMs()).isEqualTo(new Errors(0.3, 0.3, 0.3));
    assertThat(level.itlErrorMs()).isEqualTo(new Errors(0.2, 0.8, 0.8));
    assertThat(level.engineLateP99Ms()).isEqualTo(5);
    assertThat(level.requests()).isOne();
    assertThat(level.streams()).isEqualTo(2);
  }

  @Test
  void percentilesAreNearestRanks() {
    for (int i = 1; i <= 200; i++) {
      written("r" + i, 0, 100);
      records.add(recorded("r" + i, 0, 100 + i / 10.0).record());
    }
    assertThat(level().ttftErrorMs()).isEqualTo(new Errors(10, 19.8, 20));
    assertThat(level().itlErrorMs()).as("one token has no gap").isEqualTo(new Errors(0, 0, 0));
  }

  @Test
  void ratesAreThoseThatTheEngineWroteInTheWindow() {
    written("a", 0, 100, 120, 140);
    written("b", 880, 980, 999, 1_000);
    records.add(recorded("a", 0, 100, 120, 140).record());
    Level level = level();
    assertThat(level.eventsPerS()).isEqualTo(5);
    assertThat(level.requestsPerS()).as("b ends after the window").isEqualTo(1);
  }

  @Test
  void onlyWholeMeasuredAnswersAreCompared() {
    for (String id : List.of("a", "warm", "failed", "cut")) {
      written(id, 0, 100, 120);
    }
    records.add(recorded("a", 0, 100, 120).record());
    records.add(recorded("unknown", 0, 500, 620).record());
    records.add(recorded("warm", 0, 500, 620).phase(Phase.STABILIZE).record());
    records.add(recorded("failed", 0, 500, 620).failed(RequestStatus.TIMEOUT, "too long").record());
    records.add(recorded("cut", 0, 500).record());
    records.add(recorded("never", 0).gate(null).record());
    assertThat(level().requests()).isOne();
    assertThat(level().ttftErrorMs().max()).isZero();
  }

  @Test
  void aLevelWithoutRequestsIsLeftOut() {
    DeliveryErrors errors = new DeliveryErrors(List.of(), 1, 1);
    assertThat(errors.levels(List.of(Recorded.stage(2, 0, 1_000)))).isEmpty();
  }
}
