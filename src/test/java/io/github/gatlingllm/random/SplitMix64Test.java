package io.github.gatlingllm.random;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SplitMix64Test {

  /** The first draws of {@code SplittableRandom(0)}, which every implementation gives. */
  @Test
  void mixedStepsAreThePublishedSequence() {
    assertThat(SplitMix64.mix(SplitMix64.GOLDEN_GAMMA)).isEqualTo(0xe220a8397b1dcdafL);
    assertThat(SplitMix64.mix(SplitMix64.GOLDEN_GAMMA << 1)).isEqualTo(0x6e789e6aa1b965f4L);
    SplittableRandom random = new SplittableRandom(0);
    assertThat(random.nextLong()).isEqualTo(0xe220a8397b1dcdafL);
  }

  @Test
  void aDrawStartsWhereSingleDrawsWouldEnd() {
    SplittableRandom random = new SplittableRandom(42 ^ 7);
    for (int i = 0; i < 5; i++) {
      assertThat(SplitMix64.at(42, 7, i).nextLong()).isEqualTo(random.nextLong());
    }
  }
}
