package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenGapsRanksTest {

  private final TokenGaps.Ranks ranks = new TokenGaps.Ranks();

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 47, 48, 49, 200, 5_000})
  void ranksAreThoseOfSortedValues(int count) {
    Random random = new Random(count);
    int[] values = new int[count + 3];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt() >> random.nextInt(32);
    }
    int[] sorted = Arrays.copyOf(values, count);
    Arrays.sort(sorted);
    ranks.take(values, count);
    for (int rank = 1; rank <= count; rank += 1 + count / 300) {
      assertThat(ranks.at(rank)).isEqualTo(sorted[rank - 1]);
    }
    assertThat(ranks.at(count)).isEqualTo(sorted[count - 1]);
  }

  @Test
  void equalValues() {
    int[] values = new int[1_000];
    Arrays.fill(values, 13_000);
    ranks.take(values, values.length);
    assertThat(ranks.at(1)).isEqualTo(13_000);
    assertThat(ranks.at(1_000)).isEqualTo(13_000);
  }
}
