package io.github.gatlingllm.load;

import static io.github.gatlingllm.load.GapStatistics.dispersion;
import static io.github.gatlingllm.load.GapStatistics.distance;
import static io.github.gatlingllm.load.GapStatistics.lag1Autocorrelation;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.PrimitiveIterator;
import java.util.Spliterators;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArrivalsTest {
  private static final long SECOND = 1_000_000_000L;

  @ParameterizedTest
  @CsvSource({"25, 1", "25, 42", "1000, 7", "0.5, 3"})
  void poissonIsPoisson(double rate, long seed) {
    int n = 20_000;
    double[] gaps = gapSeconds(Arrivals.poisson(rate, seed), n);

    // Mean 1/rate with a standard error of mean/√n: five of them.
    assertThat(Arrays.stream(gaps).average().orElseThrow() * rate)
        .isCloseTo(1, within(5 / Math.sqrt(n)));
    assertThat(dispersion(gaps, 10 / rate, n / 11)).isCloseTo(1, within(0.15));
    // Kolmogorov-Smirnov: beyond 1.63/√n once in a hundred samples.
    assertThat(distance(gaps, gap -> -Math.expm1(-rate * gap))).isLessThan(1.63 / Math.sqrt(n));
    assertThat(lag1Autocorrelation(gaps)).isCloseTo(0, within(4 / Math.sqrt(n)));
  }

  /** The tests above would notice a process that is not Poisson. */
  @Test
  void constantIsNotPoisson() {
    double[] gaps = gapSeconds(Arrivals.constant(25), 20_000);

    assertThat(dispersion(gaps, 10 / 25.0, 20_000 / 11)).isLessThan(0.1);
    assertThat(distance(gaps, gap -> -Math.expm1(-25 * gap))).isGreaterThan(0.3);
  }

  @Test
  void sameSeedSameSchedule() {
    Arrivals arrivals = Arrivals.poisson(25, 42);

    assertThat(head(arrivals, 60 * SECOND)).isEqualTo(head(arrivals, 60 * SECOND));
    assertThat(head(arrivals, 60 * SECOND))
        .isEqualTo(head(Arrivals.poisson(25, 42), 60 * SECOND))
        .isNotEqualTo(head(Arrivals.poisson(25, 43), 60 * SECOND));
  }

  @Test
  void countVariesAsPoissonCountsDo() {
    double[] counts =
        LongStream.range(0, 400)
            .mapToDouble(seed -> Arrivals.poisson(25, seed).countBefore(4 * SECOND))
            .toArray();

    double mean = Arrays.stream(counts).average().orElseThrow();
    double variance =
        Arrays.stream(counts).map(c -> (c - mean) * (c - mean)).sum() / (counts.length - 1);
    assertThat(mean).isCloseTo(100, within(2.0));
    assertThat(variance / mean).isCloseTo(1, within(0.25));
  }

  @Test
  void constantDoesNotDrift() {
    Arrivals arrivals = Arrivals.constant(3);

    assertThat(head(arrivals, SECOND)).containsExactly(0, 333_333_333, 666_666_667);
    assertThat(arrivals.countBefore(3_600 * SECOND)).isEqualTo(3 * 3_600);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
  void rejectsInvalidRates(double rate) {
    assertThatThrownBy(() -> Arrivals.poisson(rate, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "Rate " + rate + " is no load; expected users per second above 0, at most 1,000,000");
  }

  private static long[] head(Arrivals arrivals, long untilNanos) {
    return StreamSupport.longStream(
            Spliterators.spliteratorUnknownSize(arrivals.offsetsBefore(untilNanos), 0), false)
        .toArray();
  }

  private static double[] gapSeconds(Arrivals arrivals, int n) {
    PrimitiveIterator.OfLong offsets = arrivals.offsets();
    double[] gaps = new double[n];
    long last = 0;
    for (int i = 0; i < n; i++) {
      long next = offsets.nextLong();
      gaps[i] = (next - last) / 1e9;
      last = next;
    }
    return gaps;
  }
}
