package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SeedTest {

  private static final Map<String, String> NONE = Map.of();

  @Test
  void sameSeedGivesTheSameDrawsOneAfterTheOther() {
    Seed one = new Seed(42);
    Seed other = new Seed(42);
    assertThat(one.isDrawnFrom()).isFalse();
    long first = one.next();

    assertThat(other.next()).isEqualTo(first);
    assertThat(other.next()).isEqualTo(one.next()).isNotEqualTo(first);
    assertThat(new Seed(43).next()).isNotEqualTo(first);
    assertThat(one.isDrawnFrom()).isTrue();
    assertThat(one.value()).isEqualTo(42);
  }

  @Test
  void randomOneIsExactInJavaScript() {
    assertThat(Seed.random()).isBetween(0L, 1L << 53);
  }

  @Test
  void settingIsReadLikeAnyOther() {
    assertThat(Seed.setting(Map.of("llm.seed", " 42 "), NONE)).isEqualTo(42);
    assertThat(Seed.setting(NONE, Map.of("LLM_SEED", "-7"))).isEqualTo(-7);
    assertThatThrownBy(() -> Seed.setting(Map.of("llm.seed", "soon"), NONE))
        .hasMessage("llm.seed=soon: expected an integer, or leave it out");
  }

  @Test
  void nonceIsOfTheRunUnlessItIsSetAndInjectorsWithACommonStartAgree() {
    Instant start = Injector.start("2027-03-01T12:00:00Z");
    Map<String, String> seed = Map.of("llm.nonce", "Seed");

    assertThat(Seed.ofRun(NONE, NONE, null)).isNotEqualTo(Seed.ofRun(NONE, NONE, null));
    assertThat(Seed.ofRun(NONE, NONE, start))
        .isEqualTo(Seed.ofRun(Map.of("llm.nonce", "run"), NONE, start))
        .isNotEqualTo(Seed.ofRun(NONE, NONE, Injector.start("2027-03-01T12:00:01Z")));
    assertThat(Seed.ofRun(seed, NONE, null)).isEqualTo(Seed.ofRun(seed, NONE, start)).isZero();
    assertThat(Seed.ofRun(NONE, Map.of("LLM_NONCE", "12"), start)).isEqualTo(12);
    assertThatThrownBy(() -> Seed.ofRun(Map.of("llm.nonce", "new"), NONE, null))
        .hasMessage("llm.nonce=new: expected an integer, run or seed");
  }

  /** The first draws of {@code SplittableRandom(0)}, which every implementation gives. */
  @Test
  void mixReproducesThePublishedSequence() {
    assertThat(Seed.mix(Seed.GOLDEN_GAMMA)).isEqualTo(0xe220a8397b1dcdafL);
    assertThat(Seed.mix(Seed.GOLDEN_GAMMA << 1)).isEqualTo(0x6e789e6aa1b965f4L);
  }

  @Test
  void sameArgumentsSameNumbers() {
    SplittableRandom random = new SplittableRandom(Seed.mix(42 ^ 7));
    SplittableRandom first = Seed.at(42, 7, 0);
    for (int i = 0; i < 5; i++) {
      assertThat(first.nextLong()).isEqualTo(random.nextLong());
    }
  }

  /**
   * The correlation of n independent pairs has the standard deviation 1 / √n, here 0.01. Of 25
   * correlations the largest stays below five of them but once in 70,000.
   */
  @Test
  void drawsOfNeighbouringIndicesAreIndependent() {
    int n = 10_000;
    double[][] draws = new double[n + 1][];
    Arrays.setAll(draws, i -> Seed.at(42, 7, i).doubles(5).map(u -> u - 0.5).toArray());
    for (int a = 0; a < 5; a++) {
      for (int b = 0; b < 5; b++) {
        double together = 0;
        for (int i = 0; i < n; i++) {
          together += draws[i][a] * draws[i + 1][b];
        }
        // The variance of a number between 0 and 1 is 1/12.
        assertThat(Math.abs(together / n * 12)).as("draw %s, then %s", a, b).isLessThan(0.05);
      }
    }
  }
}
