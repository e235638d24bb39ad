package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.core.controller.inject.open.OpenInjectionStep;
import io.gatling.javaapi.core.CoreDsl;
import io.github.gatlingllm.load.Arrivals;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import scala.collection.Iterator;
import scala.collection.Iterator$;
import scala.concurrent.duration.FiniteDuration;

class LoadInjectionTest {
  private static final long SECOND = 1_000_000_000L;

  @Test
  void chainsWithGatlingsOwnSteps() {
    List<OpenInjectionStep> steps =
        List.of(
            CoreDsl.atOnceUsers(1).asScala(),
            CoreDsl.nothingFor(10).asScala(),
            LoadInjection.step(Arrivals.constant(3), SECOND).asScala(),
            CoreDsl.atOnceUsers(2).asScala());

    assertThat(offsets(steps))
        .containsExactly(
            0L, 10 * SECOND, 10_333_333_333L, 10_666_666_667L, 11 * SECOND, 11 * SECOND);
  }

  @Test
  void givesTheSameScheduleOnEachCall() {
    List<OpenInjectionStep> steps =
        List.of(LoadInjection.step(Arrivals.poisson(25, 42), 60 * SECOND).asScala());

    assertThat(offsets(steps)).isEqualTo(offsets(steps)).hasSize((int) steps.get(0).users());
  }

  private static List<Long> offsets(List<OpenInjectionStep> steps) {
    Iterator<FiniteDuration> all = Iterator$.MODULE$.empty();
    for (int i = steps.size() - 1; i >= 0; i--) {
      all = steps.get(i).chain(all);
    }
    List<Long> offsets = new ArrayList<>();
    while (all.hasNext()) {
      offsets.add(all.next().toNanos());
    }
    return offsets;
  }
}
