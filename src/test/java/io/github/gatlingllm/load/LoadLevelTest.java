package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.load.LoadLevel.Phases;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class LoadLevelTest {

  @ParameterizedTest
  @CsvSource({"16, r=16", "2.5, r=2.5", "1000000, r=1000000", "0.001, r=0.001", "20.10, r=20.1"})
  void rateLabelsHaveNoTrailingZeros(double rate, String label) {
    assertThat(new LoadLevel.Open(rate, Arrivals.constant(rate), Phases.DEFAULT).label())
        .isEqualTo(label);
  }

  @Test
  void closedLabel() {
    assertThat(new LoadLevel.Closed(8, Phases.DEFAULT).label()).isEqualTo("c=8");
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        mistake(
            () -> new LoadLevel.Closed(0, Phases.DEFAULT),
            "closedLoop(0) offers no load; expected 1 user or more"),
        mistake(
            () -> Phases.DEFAULT.withMeasure(0),
            "measure(0 s) measures nothing; expected more than 0 s"),
        mistake(
            () -> Phases.DEFAULT.withRequests(0),
            "requests(0) measures nothing; expected 1 or more"),
        mistake(
            () -> Phases.DEFAULT.withDrain(-2_000_000_000L),
            "drain(-2 s) is no duration; expected 0 s or more"),
        mistake(
            () -> Phases.DEFAULT.withFill(-1),
            "fill(-0.000000001 s) is no duration; expected 0 s or more"),
        mistake(
            () -> new LoadPlan.Sweep(List.of()),
            "The load plan has no level; expected at least one"),
        mistake(
            () ->
                new LoadPlan.Sweep(
                    List.of(
                        new LoadLevel.Closed(8, Phases.DEFAULT),
                        new LoadLevel.Closed(8, Phases.DEFAULT))),
            "Level c=8 occurs twice; list each level once"),
        mistake(
            () -> new LoadLevel.Batch(100_000, 100_000, 0),
            "100,000 users times 100,000 trials are more than one load test can offer; expected at"
                + " most 1,000,000 users and 2,147,483,647 requests"),
        mistake(
            () -> new LoadLevel.Closed(1_000_000_000, Phases.DEFAULT),
            "1,000,000,000 users are more than one load test can offer; expected at most 1,000,000"
                + " users and 2,147,483,647 requests"));
  }

  private static Arguments mistake(ThrowingCallable call, String message) {
    return Arguments.of(call, message);
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void mistakesAreNamed(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessage(message);
  }
}
