package io.github.gatlingllm.javaapi;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gatling.javaapi.core.OpenInjectionStep;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.PlanText;
import org.junit.jupiter.api.Test;

class LoadDslTest {
  private static final long SECOND = 1_000_000_000L;

  private static Phases seconds(long fill, long stabilize, long measure, long drain) {
    return new Phases(fill * SECOND, stabilize * SECOND, measure * SECOND, drain * SECOND, null);
  }

  @Test
  void closedLoopIsALevelPerNumber() {
    assertThat(
            ClosedLoop.of(1, 2)
                .fill(0)
                .stabilize(10)
                .measure(60)
                .disableCooldown()
                .drain(20)
                .plan()
                .levels())
        .containsExactly(
            new LoadLevel.Closed(1, seconds(0, 10, 60, 20)),
            new LoadLevel.Closed(2, seconds(0, 10, 60, 20)));
  }

  @Test
  void fillStartsOneUserPerSecond() {
    assertThat(ClosedLoop.of(4, 32).fill().measure(60).plan().levels())
        .extracting(level -> level.phases().fillNanos())
        .containsExactly(4 * SECOND, 32 * SECOND);
    assertThat(ClosedLoop.of(4).fill().fill(2).plan().levels())
        .extracting(level -> level.phases().fillNanos())
        .containsExactly(2 * SECOND);
  }

  @Test
  void secondsAndDurationsMeanTheSame() {
    assertThat(ClosedLoop.of(1).fill(3).stabilize(4).measure(5).drain(6).plan())
        .isEqualTo(
            ClosedLoop.of(1)
                .fill(ofSeconds(3))
                .stabilize(ofSeconds(4))
                .measure(ofSeconds(5))
                .drain(ofSeconds(6))
                .plan());
    assertThat(OpenLoop.of(1).seed(1).stabilize(4).measure(5).drain(6).plan())
        .isEqualTo(
            OpenLoop.of(1)
                .seed(1)
                .stabilize(ofSeconds(4))
                .measure(ofSeconds(5))
                .drain(ofSeconds(6))
                .plan());
  }

  @Test
  void requestsAndMeasureReplaceEachOther() {
    assertThat(ClosedLoop.of(1).measure(5).requests(7).plan().levels().get(0).phases().requests())
        .isEqualTo(7);
    assertThat(ClosedLoop.of(1).requests(7).measure(5).plan())
        .isEqualTo(ClosedLoop.of(1).measure(5).plan());
    assertThat(OpenLoop.of(1).requests(7).plan().levels().get(0).phases().requests()).isEqualTo(7);
  }

  @Test
  void openLoopDrawsItsArrivals() {
    assertThat(OpenLoop.of(1, 2.5).seed(7).plan().levels())
        .extracting(level -> ((LoadLevel.Open) level).arrivals())
        .containsExactly(Arrivals.poisson(1, 7), Arrivals.poisson(2.5, 8));
    assertThat(OpenLoop.of(4).constant().plan().levels())
        .extracting(level -> ((LoadLevel.Open) level).arrivals())
        .containsExactly(Arrivals.constant(4));
    assertThat(OpenLoop.of(4).constant().poisson().seed(1).plan())
        .isEqualTo(OpenLoop.of(4).seed(1).plan());
    assertThat(OpenLoop.of(4).plan()).as("random seed").isNotEqualTo(OpenLoop.of(4).plan());
  }

  @Test
  void poissonStepIsAStepOfGatling() {
    OpenInjectionStep step = LlmDsl.poissonUsersPerSec(25).seed(42).during(60);
    long planned = Arrivals.poisson(25, 42).countBefore(60 * SECOND);

    assertThat(step.asScala().users()).isEqualTo(planned).isBetween(1_350L, 1_650L);
    assertThat(step.asScala().duration().toSeconds()).isEqualTo(60);
    assertThat(step.asScala()).hasToString("Poisson (seed 42) at 25 users/s during 60 s");
    assertThat(LlmDsl.poissonUsersPerSec(25).seed(42).during(ofSeconds(60)).asScala().users())
        .isEqualTo(planned);
  }

  @Test
  void stopRulesThatAreAddedLaterCount() {
    LoadProfile.Levels first = LlmDsl.closedLoop(1, 2).stopWhen(LlmDsl.sloBelow(50));
    LoadProfile.Levels never = first.stopWhen(LlmDsl.never());

    assertThat(rules(first)).isEqualTo("[slo<50%, errorsInARow>100]");
    assertThat(rules(never)).isEqualTo("[slo<50%]");
    assertThat(rules(never.stopWhen(LlmDsl.errorsAbove(5)))).isEqualTo("[slo<50%, errors>5%]");
    assertThat(rules(first.stopWhen(LlmDsl.errorsInARowAbove(5))))
        .isEqualTo("[slo<50%, errorsInARow>5]");
  }

  @Test
  void levelsAreRepeated() {
    LoadProfile.Levels repeated = LlmDsl.openLoop(1, 2).measure(9).repeats(3);
    assertThat(repeated.plan().levels())
        .extracting(level -> level.label())
        .containsExactlyInAnyOrder("r=1#1", "r=2#1", "r=1#2", "r=2#2", "r=1#3", "r=2#3");
    assertThatThrownBy(() -> LlmDsl.batch(2).trials(2).repeats(3))
        .hasMessage("trials are repeats already; expected one of the two");
  }

  private static String rules(LoadProfile sweep) {
    return new PlanText(sweep.plan()).stopWhen().toString();
  }
}
