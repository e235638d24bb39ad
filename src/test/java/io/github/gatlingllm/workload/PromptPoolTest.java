package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.load.SplitMix64;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class PromptPoolTest {

  private final PromptPool pool = PromptPool.builtIn();

  @Test
  void builtInPromptsAreManyAndDistinct() {
    assertThat(pool.texts()).hasSize(100).doesNotHaveDuplicates();
    assertThat(pool.chars().getMin()).isGreaterThan(25);
    assertThat(pool.chars().getMax()).isLessThan(300);
  }

  @Test
  void picksAreFixedBySeedAndIndex() {
    List<String> once = LongStream.range(0, 100).mapToObj(i -> pool.pick(42, i)).toList();
    assertThat(LongStream.range(0, 100).mapToObj(i -> pool.pick(42, i))).isEqualTo(once);
    assertThat(LongStream.range(0, 100).mapToObj(i -> pool.pick(43, i))).isNotEqualTo(once);
    assertThat(new HashSet<>(once)).hasSizeGreaterThan(50);
  }

  @Test
  void picksAreUniform() {
    long[] counts = new long[100];
    LongStream.range(0, 100_000).forEach(i -> counts[pool.texts().indexOf(pool.pick(7, i))]++);
    // 1000 each; five standard deviations of a binomial are 155
    assertThat(Arrays.stream(counts).boxed()).allMatch(count -> count > 845 && count < 1155);
  }

  /** The correlation of n independent pairs has the standard deviation 1 / √n, here 0.01. */
  @Test
  void lengthsOfNeighbouringPromptsAreIndependent() {
    double[] chars = chars(Prompts.Source.synthetic(1), 10_000);
    double[] lengths = new double[10_000];
    LengthDistribution lognormal = new LengthDistribution.Lognormal(512, 300);
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = lognormal.draw(SplitMix64.at(42, 7, i), i);
    }

    assertThat(lag1Correlation(chars)).isCloseTo(0, within(0.04));
    assertThat(lag1Correlation(lengths)).isCloseTo(0, within(0.04));
  }

  private static double[] chars(Prompts.Source source, int count) {
    return LongStream.range(0, count).mapToDouble(i -> source.pick(42, i).length()).toArray();
  }

  private static double lag1Correlation(double[] values) {
    double mean = Arrays.stream(values).average().orElseThrow();
    double own = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
    return IntStream.range(1, values.length)
            .mapToDouble(i -> (values[i] - mean) * (values[i - 1] - mean))
            .sum()
        / own;
  }

  @Test
  void aFixedTextIsAlwaysPicked() {
    assertThat(PromptPool.of("Hi").pick(1, 99)).isEqualTo("Hi");
  }

  @Test
  void anEmptyPoolIsRefused() {
    assertThatThrownBy(() -> new PromptPool("empty.txt", List.of()))
        .hasMessage("empty.txt holds no prompt; expected at least one");
  }
}
