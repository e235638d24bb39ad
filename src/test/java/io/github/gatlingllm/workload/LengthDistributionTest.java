package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.workload.LengthDistribution.Draw;
import io.github.gatlingllm.workload.LengthDistribution.Pairs;
import java.util.BitSet;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class LengthDistributionTest {
  private static final int DRAWS = 100_000;

  private static int[] draws(LengthDistribution lengths) {
    SplittableRandom random = new SplittableRandom(11);
    return IntStream.range(0, DRAWS).map(i -> lengths.draw(random, i)).toArray();
  }

  private static double mean(int[] draws) {
    return IntStream.of(draws).average().orElseThrow();
  }

  private static double std(int[] draws) {
    return Math.sqrt(covariance(draws, draws));
  }

  @Test
  void normalLengthsHaveTheirMoments() {
    int[] draws = draws(LengthDistribution.normal(512, 64));
    // 5 standard errors: 5 · 64/√100,000 of the mean, 5 · 64/√200,000 of the std.
    assertThat(mean(draws)).isCloseTo(512, within(1.02));
    assertThat(std(draws)).isCloseTo(64, within(0.72));
  }

  @Test
  void lognormalLengthsHaveTheirMomentsAndAreSkewed() {
    int[] draws = draws(LengthDistribution.lognormal(1_000, 500));
    assertThat(mean(draws)).isCloseTo(1_000, within(8.0));
    assertThat(std(draws)).isCloseTo(500, within(15.0));
    // The median of a lognormal is mean/√(1 + cv²): 1,000/√1.25.
    assertThat(IntStream.of(draws).sorted().skip(DRAWS / 2).findFirst().orElseThrow())
        .isCloseTo(894, within(9));
  }

  @Test
  void normalLengthsAreTruncatedAt1() {
    int[] draws = draws(LengthDistribution.normal(10, 10));
    long ones = IntStream.of(draws).filter(d -> d == 1).count();
    long tens = IntStream.of(draws).filter(d -> d == 10).count();
    assertThat(IntStream.of(draws).min()).hasValue(1);
    // The density at 1 is exp(-0.9²/2) = 0.667 of that at the mean.
    assertThat(ones / (double) tens).isCloseTo(0.667, within(0.06));
  }

  @Test
  void uniformLengthsIncludeBothEnds() {
    IntSummaryStatistics draws =
        IntStream.of(draws(LengthDistribution.uniform(3, 7))).summaryStatistics();
    assertThat(draws.getMin()).isEqualTo(3);
    assertThat(draws.getMax()).isEqualTo(7);
    assertThat(draws.getAverage()).isCloseTo(5, within(0.03));
  }

  @Test
  void weightedLengthsHaveTheirShares() {
    int[] draws = draws(LengthDistribution.weighted(Map.of(128, 70.0, 4_096, 30.0)));
    assertThat(IntStream.of(draws).filter(d -> d == 128).count() / (double) DRAWS)
        .isCloseTo(0.7, within(0.008));
  }

  @Test
  void recordedLengthsRepeatInTheirOrder() {
    LengthDistribution recorded =
        LengthDistribution.recorded(
            new Trace("trace", new long[3], new int[] {5, 1, 9, 1, 7, 1}, "", List.of(), 1));
    assertThat(IntStream.of(draws(recorded)).limit(7)).containsExactly(5, 9, 7, 5, 9, 7, 5);
    assertThat(recorded.min()).isEqualTo(5);
  }

  /**
   * Of 10,000 outputs by the seed of a run: within 5 standard errors, {@code std/100} of the mean
   * and, by the fourth moment, those in the table of the std.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          128 | 128 | 0 | 0
          256:48 | 256 | 48 | 1.7
          64-512 | 288 | 129.6 | 2.9
          lognormal:128:64 | 128 | 64 | 6
          lognormal:16:8 | 16 | 8 | 0.8
          weighted:16=70,512=30 | 164.8 | 227.3 | 5
          """)
  void outputsHaveMeanAndDeviation(String text, double mean, double std, double bound) {
    LengthDistribution lengths = LengthDistribution.parse(text);
    int[] drawn = outputs(lengths, 42);
    assertThat(mean(drawn)).isCloseTo(mean, within(std / 20 + 1e-9));
    assertThat(std(drawn)).isCloseTo(std, within(bound + 1e-9));
    assertThat(lengths.mean()).isCloseTo(mean, within(1e-9));
    assertThat(outputs(lengths, 42)).isEqualTo(drawn);
    assertThat(new Draw(42, null).of(lengths)).as("a warm-up").isEqualTo((int) Math.round(mean));
    if (std > 0) {
      assertThat(outputs(lengths, 43)).isNotEqualTo(drawn);
    }
  }

  private static int[] outputs(LengthDistribution lengths, long seed) {
    return IntStream.range(0, 10_000).map(i -> new Draw(seed, (long) i).of(lengths)).toArray();
  }

  @Test
  void pairsHaveTheirSharesAndEachSideItsLengths() {
    Pairs pairs = Pairs.parse("256|32,128|16:60;4096,512:40");
    SplittableRandom random = new SplittableRandom(11);
    int[] prompts =
        IntStream.range(0, 10_000).map(i -> pairs.inputs(42, 10_000).draw(random, i)).toArray();
    int[] outputs = outputs(pairs.outputs(42, 10_000), 42);
    int[] shorter = IntStream.range(0, 10_000).filter(i -> prompts[i] != 4_096).toArray();
    int[] in = IntStream.of(shorter).map(i -> prompts[i]).toArray();
    int[] out = IntStream.of(shorter).map(i -> outputs[i]).toArray();

    assertThat(shorter.length / 10_000.0).isCloseTo(0.6, within(0.0245));
    assertThat(IntStream.range(0, 10_000).filter(i -> prompts[i] == 4_096))
        .as("both sides are of one pair")
        .allMatch(i -> outputs[i] == 512);
    assertThat(mean(in)).isCloseTo(256, within(5 * 32 / Math.sqrt(6_000)));
    assertThat(std(in)).isCloseTo(32, within(5 * 32 / Math.sqrt(12_000)));
    assertThat(mean(out)).isCloseTo(128, within(5 * 16 / Math.sqrt(6_000)));
    assertThat(std(out)).isCloseTo(16, within(5 * 16 / Math.sqrt(12_000)));
    assertThat(covariance(in, out) / (32 * 16)).as("correlation").isCloseTo(0, within(0.065));
    assertThat(pairs.inputs(42, 9))
        .hasToString(
            "normal lengths of mean 256 and std 32 tokens" + " (60 %), exactly 4096 tokens (40 %)");
    assertThat(pairs.outputs(42, 9).mean()).isCloseTo(0.6 * 128 + 0.4 * 512, within(1e-9));
  }

  /** What run.json states of lengths that were asked for in code is what a setting takes. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "128",
        "64-512",
        "256:96",
        "lognormal:128:64.5",
        "weighted:16=70,512=30",
        "weighted:16=0.5,512=1.5"
      })
  void textIsThatOfTheSetting(String text) {
    assertThat(LengthDistribution.parse(text).text()).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"256|32,128|16:60;4096,512:40", "256,128", "64-128,lognormal|16|8:1;8,2:0.5"})
  void textOfPairsIsThatOfTheSetting(String text) {
    assertThat(Pairs.parse(text).text()).isEqualTo(text);
  }

  private static double covariance(int[] a, int[] b) {
    double ofA = mean(a);
    double ofB = mean(b);
    return IntStream.range(0, a.length)
        .mapToDouble(i -> (a[i] - ofA) * (b[i] - ofB))
        .average()
        .orElseThrow();
  }

  /** Prompts repeat after those that were made, and each keeps its pair. */
  @Test
  void pairsAreTheSameForTheSameSeedAndRepeatWithTheirPrompts() {
    Pairs pairs = Pairs.parse("10,1;20,2;30,3");
    int[] outputs = outputs(pairs.outputs(7, 50), 1);
    assertThat(outputs).isEqualTo(outputs(pairs.outputs(7, 50), 2));
    assertThat(outputs).isNotEqualTo(outputs(pairs.outputs(8, 50), 1));
    assertThat(IntStream.range(0, 9_950)).allMatch(i -> outputs[i] == outputs[i + 50]);
    assertThat(IntStream.of(outputs).limit(50).distinct().count()).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource({
    "512, exactly 512 tokens",
    "1, exactly 1 token",
    "512:64, normal lengths of mean 512 and std 64 tokens",
    "512.5:0, normal lengths of mean 512.5 and std 0 tokens",
    "100-900, uniform lengths of 100 to 900 tokens",
    "5-5, exactly 5 tokens"
  })
  void parsesEveryForm(String text, String meaning) {
    assertThat(LengthDistribution.parse(text)).hasToString(meaning);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-5", "x", "1.5", "9-5", "0-5", "512:", "0:5", "1000001", "5:-1"})
  void rejectsInvalidLengths(String text) {
    assertThatThrownBy(() -> LengthDistribution.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected " + LengthDistribution.EXPECTED);
  }

  @Test
  void everyNumberOccursOncePerPass() {
    SplittableRandom random = new SplittableRandom(1);
    for (int size = 1; size <= 300; size++) {
      long seed = random.nextLong();
      for (int pass = 0; pass < 3; pass++) {
        assertPass(seed, size, pass);
      }
    }
    for (int i = 0; i < 20; i++) {
      int size = 1 + random.nextInt(200_000);
      assertPass(random.nextLong(), size, random.nextInt(1_000_000));
    }
  }

  private static void assertPass(long seed, int size, long pass) {
    BitSet seen = new BitSet();
    for (int i = 0; i < size; i++) {
      int number = (int) Seed.permuted(seed, size, pass * size + i);
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
      counts[0][(int) Seed.permuted(seed, size, 0)]++;
      counts[1][(int) Seed.permuted(seed, size, size - 1)]++;
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
