package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.workload.Dataset.Permutation;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PermutationTest {

  @Test
  void everyNumberOccursOncePerPass() {
    SplittableRandom random = new SplittableRandom(1);
    for (int size = 1; size <= 300; size++) {
      Permutation permutation = new Permutation(size, random.nextLong());
      for (int pass = 0; pass < 3; pass++) {
        assertPass(permutation, size, pass);
      }
    }
    for (int i = 0; i < 20; i++) {
      int size = 1 + random.nextInt(200_000);
      assertPass(new Permutation(size, random.nextLong()), size, random.nextInt(1_000_000));
    }
  }

  private static void assertPass(Permutation permutation, int size, long pass) {
    BitSet seen = new BitSet();
    for (int i = 0; i < size; i++) {
      int number = permutation.at(pass * size + i);
      assertThat(number).isBetween(0, size - 1);
      seen.set(number);
    }
    assertThat(seen.cardinality()).as("size %d, pass %d", size, pass).isEqualTo(size);
  }

  /** Pearson's test over the number that comes first, and the one after it. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5, 10, 17, 100})
  void everyNumberIsEquallyLikelyAtEveryIndex(int size) {
    int seeds = 400 * size;
    int[][] counts = new int[2][size];
    for (long seed = 0; seed < seeds; seed++) {
      Permutation permutation = new Permutation(size, seed);
      counts[0][permutation.at(0)]++;
      counts[1][permutation.at(size - 1)]++;
    }
    for (int[] count : counts) {
      double expected = (double) seeds / size;
      double chiSquare = 0;
      for (int n : count) {
        chiSquare += (n - expected) * (n - expected) / expected;
      }
      int freedom = size - 1;
      assertThat(chiSquare)
          .as("far below mean + 4 standard deviations")
          .isLessThan(freedom + 4 * Math.sqrt(2.0 * freedom));
    }
  }
}
