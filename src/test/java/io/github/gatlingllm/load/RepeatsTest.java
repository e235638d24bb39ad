package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.LoadLevel.Closed;
import io.github.gatlingllm.load.LoadLevel.Open;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.LevelSource;
import io.github.gatlingllm.load.LoadPlan.Sweep;
import io.github.gatlingllm.load.StopRule.Repeats;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RepeatsTest {

  private static final Sweep TWO =
      new Sweep(List.of(new Closed(1, Phases.DEFAULT), new Closed(2, Phases.DEFAULT)));

  private static List<String> labels(Sweep sweep) {
    return sweep.levels().stream().map(LoadLevel::label).toList();
  }

  @Test
  void eachRoundHasEveryLevelInAnOrderOfItsOwn() {
    Sweep plan = TWO.repeated(new Repeats(8), 1);
    Set<List<String>> orders = new HashSet<>();
    for (int round = 1; round <= 8; round++) {
      List<String> some = labels(plan).subList(2 * round - 2, 2 * round);
      assertThat(some).containsExactlyInAnyOrder("c=1#" + round, "c=2#" + round);
      orders.add(some.stream().map(LevelInfo::unnumbered).toList());
    }
    assertThat(orders).hasSize(2);
    assertThat(labels(TWO.repeated(new Repeats(8), 1))).isEqualTo(labels(plan));
    assertThat(labels(TWO.repeated(new Repeats(8), 2))).isNotEqualTo(labels(plan));
    assertThat(plan.once()).isEqualTo(TWO.levels());
    assertThat(TWO.repeated(Repeats.ONCE, 1)).isEqualTo(TWO);
    assertThat(plan.part(new InjectorShare(1, 2)).levels()).hasSize(16);
  }

  @Test
  void arrivalsDifferFromRoundToRound() {
    Sweep open =
        Sweep.open(List.of(Open.steady(5), Open.steady(9)), Gaps.poisson(0), 7, Phases.DEFAULT);
    assertThat(open.repeated(new Repeats(3), 7).levels())
        .extracting(level -> ((Open) level).arrivals().gaps())
        .doesNotHaveDuplicates()
        .hasSize(6);
  }

  /** Ends of the intervals by hand: 100 ± 4.303 × 2 ÷ √3, then 100 ± 3.182 × √(8 ÷ 3) ÷ √4. */
  @Test
  void endsWithTheRoundInWhichTheGoalIsReached() {
    LevelSource source = TWO.repeated(Repeats.parse("auto:3%:ttft.p50"), 1).source();
    assertThat(source.needsResults()).isTrue();
    LoadLevel level = source.next(null);
    double[] values = {98, 102, 100, 100};
    for (int ended = 0; ended < 7; ended++) {
      level = source.next(result(level, values[ended / 2]));
      assertThat(level).isNotNull();
    }
    assertThat(source.next(result(level, 100))).isNull();
    Conclusion found = source.conclusion();
    assertThat(found.sound()).isTrue();
    assertThat(found.value()).isCloseTo(3.182446 * Math.sqrt(8 / 3.0) / 2, within(1e-5));
    assertThat(found.threshold()).isEqualTo(3);
    assertThat(found.text()).contains("after 4 repeats");
  }

  @Test
  void saysWhereTheGoalIsNotReachedAfterTwentyRounds() {
    LevelSource source = TWO.repeated(Repeats.parse("auto:3%"), 1).source();
    LoadLevel level = source.next(null);
    for (int ended = 1; level != null; ended++) {
      level = source.next(level.label().startsWith("c=1") ? result(level, ended) : none(level));
      assertThat(ended).isLessThanOrEqualTo(40);
    }
    assertThat(source.conclusion().sound()).isFalse();
    assertThat(source.conclusion().text()).contains("after 20 repeats", "c=1 ±", "c=2 ±–");
  }

  /** The rule looks after each round, so the interval holds the true value less often than 95 %. */
  @ParameterizedTest
  @ValueSource(doubles = {1, 3, 5, 8})
  void intervalAtTheEndHoldsTheTrueValue(double deviation) {
    Random random = new Random(1);
    int held = 0;
    for (int run = 0; run < 2_000; run++) {
      List<Double> values = new ArrayList<>();
      Conclusion found = null;
      while (values.size() < 20 && (found == null || !found.sound())) {
        values.add(100 + deviation * random.nextGaussian());
        found =
            values.size() < 3
                ? null
                : new Repeats(20, 3.0, "throughput").conclude(values.size(), Map.of("c=1", values));
      }
      double mean = values.stream().mapToDouble(value -> value).average().orElseThrow();
      held += Math.abs(mean - 100) <= found.value() / 100 * mean ? 1 : 0;
    }
    assertThat(held / 2_000.0).isBetween(0.89, 0.97);
  }

  private static LevelResult result(@Nullable LoadLevel level, double value) {
    Map<String, Double> figures = Map.of("ttft.p50", value, "throughput", value);
    return new LevelResult(
        level.label(), 0, null, 99, 0, 0, 0, null, 0, false, null, null, figures, Map.of());
  }

  private static LevelResult none(LoadLevel level) {
    return FakeLoad.result(level.label(), 0, null, null);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"0", "101", "-3", "many", "auto", "auto:0%", "auto:3", "auto:3%:ttft", "auto:3%:"})
  void refusesOtherTexts(String text) {
    assertThatThrownBy(() -> Repeats.parse(text)).hasMessageContaining("expected");
  }

  @Test
  void refusesWhatHasNoLevelsOrNoOrder() {
    Repeats twice = new Repeats(2);
    Sweep trials = new Sweep(List.of(new LoadLevel.FixedBatch(4, 2, 30)));
    Sweep curve = new Sweep(List.of(Open.curve(at -> 5, 9_000_000_000L)));
    assertThatThrownBy(() -> trials.repeated(twice, 1)).hasMessageContaining("trials");
    assertThatThrownBy(() -> curve.repeated(twice, 1)).hasMessageContaining("curve");
    List<StopRule> rules = List.of(StopRule.errorsAbove(5));
    assertThatThrownBy(() -> TWO.stopWhen(rules).repeated(twice, 1)).hasMessageContaining("rule");
    assertThatThrownBy(() -> TWO.repeated(twice, 1).stopWhen(rules)).hasMessageContaining("rule");
    Sweep certain = TWO.repeated(Repeats.parse("auto:3%"), 1);
    assertThatThrownBy(() -> certain.part(new InjectorShare(1, 2))).hasMessageContaining("repeats");
  }
}
