package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestRankTest {

  @ParameterizedTest
  @CsvSource({"50, 2", "51, 3", "75, 3", "76, 4", "99, 4", "100, 4", "25, 1", "1, 1"})
  void ofFourValues(double percent, double expected) {
    assertThat(NearestRank.in(new double[] {1, 2, 3, 4}, percent)).isEqualTo(expected);
  }

  /** Whole numbers tell the exact rank: ⌈thousandths × n ÷ 100,000⌉. */
  @Test
  void isExactWhereBinaryFractionsAreNot() {
    for (int count = 1; count <= 20_000; count += count < 2_000 ? 1 : 500) {
      for (int tenths : new int[] {1, 10, 101, 500, 551, 900, 950, 990, 999, 1_000}) {
        long exact = ((long) tenths * count + 999) / 1_000;
        assertThat(NearestRank.of(tenths / 10.0, count))
            .as("p%s of %s", tenths / 10.0, count)
            .isEqualTo(exact);
      }
    }
  }
}
