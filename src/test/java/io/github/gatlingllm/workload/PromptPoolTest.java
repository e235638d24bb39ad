package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.workload.Prompts.PromptPool;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
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
