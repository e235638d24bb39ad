package io.github.gatlingllm.figures.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.ClassChange;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is found of classes of traffic against what theory states of {@link ClassRuns}. */
class ClassInterferenceTest {

  /** Mean time to the only token, in milliseconds: the wait and the service. */
  private static final double CHAT_ALONE = 112.5;

  private static final double CHAT_TOGETHER = 212.5;
  private static final double BATCH_ALONE = 533.333;
  private static final double BATCH_TOGETHER = 681.25;

  private static ClassChange change(Summary run, String name, String figure) {
    return run.interference().stream()
        .filter(each -> Objects.equals(each.name(), name) && each.figure().equals(figure))
        .findFirst()
        .orElseThrow();
  }

  private static boolean holds(ClassChange found, double alone, double together) {
    Interval interval = Objects.requireNonNull(found.interval());
    double percent = (together / alone - 1) * 100;
    return interval.low() <= percent && percent <= interval.high();
  }

  @Test
  void foundInterferenceIsThatOfTheQueue() {
    int contained = 0;
    int runs = 8;
    for (long seed = 0; seed < runs; seed++) {
      Summary run = ClassRuns.run(seed, true);
      ClassChange chat = change(run, "chat", "ttft.mean");
      ClassChange batch = change(run, "batch", "ttft.mean");
      contained += holds(chat, CHAT_ALONE, CHAT_TOGETHER) ? 1 : 0;
      contained += holds(batch, BATCH_ALONE, BATCH_TOGETHER) ? 1 : 0;
      assertThat(chat.outcome()).isEqualTo("worse");
      assertThat(Objects.requireNonNull(chat.interval()).low()).isBetween(20.0, 88.9);
      assertThat(chat.stage()).isEqualTo("r=2 alone");
      assertThat(change(run, "chat", "output_tokens_per_s").outcome()).isEqualTo("no clear change");
    }
    assertThat(contained)
        .as("of %s intervals that contain the truth", 2 * runs)
        .isGreaterThanOrEqualTo(15);
  }

  @Test
  void separateServersDoNotInterfere() {
    Summary run = ClassRuns.run(1, false);
    assertThat(run.interference()).isNotEmpty();
    assertThat(run.interference())
        .extracting(ClassChange::outcome)
        .doesNotContain("worse", "better");
    assertThat(run.findings())
        .filteredOn(sentence -> sentence.id().equals("classes.change"))
        .hasSize(2)
        .allSatisfy(
            sentence -> assertThat(sentence.values()).containsEntry("outcome", "no clear change"));
  }

  /** Levels of a class alone are in the comparison, and in no figure that anything is judged by. */
  @Test
  void levelsAloneAreOnlyCompared() {
    Summary run = ClassRuns.run(2, true);
    assertThat(run.stages()).hasSize(4);
    assertThat(run.curves())
        .extracting(LoadCurve::stages)
        .containsOnly(List.of("r=2"), List.of("r=1"));
    long together =
        Stream.of(0, 1).mapToLong(i -> run.requests().get(i).figures().counts().started()).sum();
    assertThat(together).isLessThan(run.figures().counts().started());
  }
}
