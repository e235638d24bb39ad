package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.docs.SimulatedTable;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.load.Arrival.OpenSchedule;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel.Phases;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongFunction;
import java.util.function.LongToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;
import org.apache.commons.statistics.distribution.GammaDistribution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrival processes. Tolerances are those of fixed seeds at the stated significance. */
class ArrivalsTest {
  private static final long SECOND = 1_000_000_000L;

  /** 20 ± 15 users per second over a minute. */
  private static double waveRate(long nanos) {
    return 20 + 15 * Math.sin(2 * Math.PI * nanos / (60.0 * SECOND));
  }

  private static double waveIntegral(double seconds) {
    double angle = 2 * Math.PI / 60;
    return 20 * seconds + 15 / angle * (1 - Math.cos(angle * seconds));
  }

  @Test
  void constantDoesNotDrift() {
    Arrivals arrivals = Arrivals.constant(3);

    assertThat(head(arrivals, SECOND)).containsExactly(0, 333_333_333, 666_666_667);
    assertThat(arrivals.countBefore(3_600 * SECOND)).isEqualTo(3 * 3_600);
  }

  /** With a cv of 1 it is Poisson. */
  @ParameterizedTest
  @CsvSource({
    "25, 1.4, 7",
    "25, 3, 8",
    "25, 0.5, 9",
    "25, 0.1, 10",
    "25, 1, 42",
    "1000, 1, 7",
    "0.5, 1, 3"
  })
  void gammaHasItsRateDispersionAndDistribution(double rate, double cv, long seed) {
    int n = 20_000;
    double[] gaps = gaps(Arrivals.gamma(rate, cv, seed).offsets(), n);
    double mean = Arrays.stream(gaps).average().orElseThrow();
    double std =
        Math.sqrt(Arrays.stream(gaps).map(g -> (g - mean) * (g - mean)).average().orElseThrow());

    assertThat(mean * rate).isCloseTo(1, within(4 * cv / Math.sqrt(n)));
    assertThat(std / mean).isCloseTo(cv, within(0.05 * cv));
    // Kolmogorov-Smirnov: beyond 1.63/√n once in a hundred samples.
    double shape = 1 / (cv * cv);
    GammaDistribution gamma = GammaDistribution.of(shape, 1);
    // Unrounded: with a cv of 3 one gap in eight is below half a nanosecond.
    double[] unit = DoubleStream.generate(Gaps.gamma(cv, seed).draws()).limit(n).toArray();
    assertThat(distance(unit, gap -> gamma.cumulativeProbability(gap * shape)))
        .isLessThan(1.63 / Math.sqrt(n));
    assertThat(lag1Autocorrelation(gaps)).isCloseTo(0, within(4 / Math.sqrt(n)));
    // Counts in long windows of a renewal process: variance ÷ mean goes to cv².
    assertThat(
            dispersion(
                gaps(Arrivals.gamma(rate, cv, seed).offsets(), 20 * n),
                40 * Math.max(1, cv * cv) / rate))
        .isCloseTo(cv * cv, within(0.2 * cv * cv + 0.02));
  }

  /**
   * 100 arrivals are expected in 10 s, also where the variance of their number is 100 times that of
   * Poisson arrivals. A process that starts at an arrival has (cv² − 1) / 2 too many in the long
   * run: 49.5 with a cv of 10, −0.48 with 0.2.
   */
  @ParameterizedTest
  @ValueSource(doubles = {0.2, 1, 3, 10})
  void expectedArrivalsInAnyWindowAreRateTimesTime(double cv) {
    int windows = 4_000;
    double[] counts = new double[windows];
    Arrays.setAll(counts, seed -> (double) Arrivals.gamma(10, cv, seed).countBefore(10 * SECOND));
    double mean = Arrays.stream(counts).average().orElseThrow();
    double variance =
        Arrays.stream(counts).map(c -> (c - mean) * (c - mean)).average().orElseThrow();

    assertThat(mean).isCloseTo(100, within(3 * Math.sqrt(variance / windows)));
  }

  @Test
  void gammaOfCv1IsPoissonToTheNanosecond() {
    assertThat(head(Arrivals.gamma(25, 1, 42), 60 * SECOND))
        .isEqualTo(head(Arrivals.poisson(25, 42), 60 * SECOND));
  }

  @Test
  void sameSeedSameSchedule() {
    for (LongFunction<Arrivals> process :
        List.<LongFunction<Arrivals>>of(
            seed -> Arrivals.gamma(25, 1.4, seed),
            seed -> Arrivals.poisson(25, seed),
            seed -> wave(seed))) {
      assertThat(head(process.apply(42), 60 * SECOND))
          .isEqualTo(head(process.apply(42), 60 * SECOND))
          .isNotEqualTo(head(process.apply(43), 60 * SECOND));
    }
  }

  /** Other versions and machines must plan the same. */
  @Test
  void scheduleOfASeedIsPinned() {
    assertThat(head(Arrivals.gamma(25, 1.4, 42), SECOND))
        .startsWith(155_759_660L, 169_338_512L, 261_985_749L);
  }

  @Test
  void curveIsAPoissonProcessOfItsRate() {
    int runs = 40;
    int bins = 30;
    double[] counts = new double[bins];
    double[] rescaled = new double[0];
    for (int seed = 0; seed < runs; seed++) {
      long[] offsets = head(wave(seed), 60 * SECOND);
      for (long offset : offsets) {
        counts[(int) (offset / (2 * SECOND))]++;
      }
      double[] times = Arrays.stream(offsets).mapToDouble(o -> waveIntegral(o / 1e9)).toArray();
      int before = rescaled.length;
      rescaled = Arrays.copyOf(rescaled, before + times.length);
      for (int i = 0; i < times.length; i++) {
        rescaled[before + i] = times[i] - (i == 0 ? 0 : times[i - 1]);
      }
    }
    double chiSquare = 0;
    for (int bin = 0; bin < bins; bin++) {
      double expected = runs * (waveIntegral(2 * bin + 2) - waveIntegral(2 * bin));
      chiSquare += (counts[bin] - expected) * (counts[bin] - expected) / expected;
    }

    assertThat(chiSquare).as("30 degrees of freedom, 1 %% beyond").isLessThan(50.9);
    // Rescaled by the integral of the true curve, gaps are exponential with mean 1.
    assertThat(distance(rescaled, gap -> -Math.expm1(-gap)))
        .isLessThan(1.63 / Math.sqrt(rescaled.length));
    assertThat(lag1Autocorrelation(rescaled)).isCloseTo(0, within(4 / Math.sqrt(rescaled.length)));
  }

  @Test
  void evenArrivalsOfARampAreAtIntegersOfItsIntegral() {
    // 0 to 10 per second in 10 s: the integral is t²/2.
    Arrivals ramp = new VaryingRate(nanos -> nanos / 1e9, 10 * SECOND, Gaps.EQUAL);
    long[] offsets = head(ramp, 10 * SECOND);

    assertThat(offsets).hasSize(50);
    for (int k = 0; k < offsets.length; k++) {
      assertThat(offsets[k] / 1e9).isCloseTo(Math.sqrt(2.0 * k), within(1e-8));
    }
  }

  @Test
  void flatCurveIsConstant() {
    assertThat(head(new VaryingRate(nanos -> 4, 5 * SECOND, Gaps.EQUAL), 5 * SECOND))
        .isEqualTo(head(Arrivals.constant(4), 5 * SECOND));
    assertThat(head(new VaryingRate(nanos -> 0, 5 * SECOND, Gaps.EQUAL), 5 * SECOND)).isEmpty();
  }

  /** 0 to 10 per second in 10 s, then 10 per second; no arrivals after a curve that ends at 0. */
  @Test
  void curveHoldsItsLastRate() {
    Arrivals ramp = new VaryingRate(nanos -> nanos / 1e9, 10 * SECOND, Gaps.EQUAL);
    long[] offsets = head(ramp, 12 * SECOND);

    assertThat(offsets).hasSize(70).startsWith(head(ramp, 10 * SECOND));
    assertThat(offsets[50]).isEqualTo(10 * SECOND);
    assertThat(offsets[69]).isEqualTo(11_900_000_000L);
    Arrivals fall = new VaryingRate(n -> 10 - n / 1e9, 10 * SECOND, Gaps.EQUAL);
    assertThat(head(fall, 1_000 * SECOND)).hasSize(50);
    assertThat(LongStream.range(0, 10).map(ArrivalsTest::firstHeld).distinct().count())
        .as("first arrivals after the curve, by seed")
        .isEqualTo(10);
  }

  private static long firstHeld(long seed) {
    Arrivals flat = new VaryingRate(nanos -> 1, SECOND, Gaps.poisson(seed));
    return flat.offsets().filter(at -> at > SECOND).findFirst().orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(doubles = {-0.5, Double.NaN, Double.POSITIVE_INFINITY})
  void invalidRatesAndSpreadsAreNamed(double bad) {
    Arrivals curve =
        new VaryingRate(nanos -> nanos >= 2 * SECOND ? bad : 1, 5 * SECOND, Gaps.poisson(1));
    assertThatThrownBy(() -> curve.countBefore(5 * SECOND))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("The rate curve is " + bad + " at 2.0 s; expected");
    for (double rate : new double[] {bad, 0}) {
      assertThatThrownBy(() -> Arrivals.poisson(rate, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("Rate " + rate + " is out of range; expected");
    }
    for (double cv : new double[] {bad, 0, 101}) {
      assertThatThrownBy(() -> Arrivals.gamma(25, cv, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("cv(" + cv + ") is not valid; expected");
    }
  }

  /**
   * Numbers of arrivals of ramps against the integral of the planned rate: as drawn, and as a
   * driver starts them whose timers are late by 1 ms on average, and one in 100 by 50 ms.
   */
  @Test
  void curvesHaveTheirPlannedArrivals() throws IOException {
    int runs = SimulatedTable.runs(400, 10_000);
    int driven = SimulatedTable.runs(20, 400);
    List<List<String>> rows = new ArrayList<>();
    for (double[] ramp : new double[][] {{0, 2}, {1, 20}, {20, 1}, {5, 200}}) {
      LongToDoubleFunction rate = nanos -> ramp[0] + (ramp[1] - ramp[0]) * nanos / (60.0 * SECOND);
      double planned = 30 * (ramp[0] + ramp[1]);
      double sum = 0;
      double squares = 0;
      int within = 0;
      for (int seed = 0; seed < runs; seed++) {
        double found =
            new VaryingRate(rate, 60 * SECOND, Gaps.poisson(seed)).countBefore(60 * SECOND);
        sum += found;
        squares += (found - planned) * (found - planned);
        within += Math.abs(found - planned) <= 1.96 * Math.sqrt(planned) ? 1 : 0;
      }
      double bias = sum / runs / planned - 1;
      assertThat(bias).isCloseTo(0, within(4 / Math.sqrt(planned * runs)));
      assertThat((double) within / runs).isBetween(0.92, 0.98);
      long realised = 0;
      ValueRecorder lags = new ValueRecorder(ValueRecorder.MICROS);
      for (int seed = 0; seed < driven; seed++) {
        Arrivals drawn = new VaryingRate(rate, 60 * SECOND, Gaps.poisson(seed));
        FakeLoad load = driven(rate, seed);
        assertThat(load.lags()).hasSize((int) drawn.countBefore(60 * SECOND));
        load.lags().forEach(nanos -> lags.add(nanos / 1e6));
        realised += load.measured("curve");
      }
      double realisedBias = realised / planned / driven - 1;
      assertThat(realisedBias).isCloseTo(0, within(4 / Math.sqrt(planned * driven)));
      assertThat((double) realised / lags.moments().count()).isBetween(0.999, 1.0);
      rows.add(
          List.of(
              "%.0f to %.0f requests/s".formatted(ramp[0], ramp[1]),
              "%.0f".formatted(planned),
              "%+.2f %%".formatted(100 * bias),
              "%.1f %%".formatted(100 * Math.sqrt(squares / runs) / planned),
              "%.1f %%".formatted(100 / Math.sqrt(planned)),
              "%.0f %%".formatted(100.0 * within / runs),
              "%.2f %%".formatted(100.0 * realised / lags.moments().count()),
              "%+.2f %%".formatted(100 * realisedBias),
              "%.1f ms".formatted(lags.percentile(99))));
    }
    new SimulatedTable(getClass())
        .hasRows(
            List.of(
                "ramp of 60 s",
                "planned",
                "bias",
                "standard error",
                "expected",
                "within 1.96 σ",
                "realised",
                "its bias",
                "lag p99"),
            rows);
  }

  private static FakeLoad driven(LongToDoubleFunction rate, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    LoadLevel.Open ramp =
        LoadLevel.Open.curve(rate, 60 * SECOND)
            .with(Gaps.poisson(seed), new Phases(0, 0, 60 * SECOND, SECOND, null));
    return FakeLoad.of(100, ramp)
        .late(
            () ->
                (random.nextInt(100) == 0 ? 50_000_000L : 0)
                    - (long) (1e6 * Math.log1p(-random.nextDouble())))
        .run();
  }

  private static Arrivals wave(long seed) {
    return new VaryingRate(ArrivalsTest::waveRate, 60 * SECOND, Gaps.poisson(seed));
  }

  private static long[] head(Arrivals arrivals, long untilNanos) {
    return arrivals.offsetsBefore(untilNanos).toArray();
  }

  private static double[] gaps(LongStream arrivals, int n) {
    PrimitiveIterator.OfLong offsets = arrivals.iterator();
    double[] gaps = new double[n];
    long last = 0;
    for (int i = 0; i < n; i++) {
      long next = offsets.nextLong();
      gaps[i] = (next - last) / 1e9;
      last = next;
    }
    return gaps;
  }

  /** Variance over mean of the counts in windows of equal length, over all the gaps last. */
  private static double dispersion(double[] gaps, double windowSeconds) {
    int windows = (int) (Arrays.stream(gaps).sum() / windowSeconds);
    double[] counts = new double[windows];
    double at = 0;
    for (double gap : gaps) {
      at += gap;
      int index = (int) (at / windowSeconds);
      if (index < counts.length) {
        counts[index]++;
      }
    }
    double mean = Arrays.stream(counts).average().orElseThrow();
    return Arrays.stream(counts).map(c -> (c - mean) * (c - mean)).average().orElseThrow() / mean;
  }

  /** Largest distance of the values' distribution from that one (Kolmogorov–Smirnov). */
  private static double distance(double[] values, DoubleUnaryOperator cdf) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    double distance = 0;
    for (int i = 0; i < sorted.length; i++) {
      double expected = cdf.applyAsDouble(sorted[i]);
      distance = Math.max(distance, Math.abs(expected - (double) i / sorted.length));
      distance = Math.max(distance, Math.abs(expected - (i + 1.0) / sorted.length));
    }
    return distance;
  }

  private static double lag1Autocorrelation(double[] gaps) {
    double mean = Arrays.stream(gaps).average().orElseThrow();
    double together = 0;
    double own = 0;
    for (int i = 0; i < gaps.length; i++) {
      own += (gaps[i] - mean) * (gaps[i] - mean);
      if (i > 0) {
        together += (gaps[i] - mean) * (gaps[i - 1] - mean);
      }
    }
    return together / own;
  }

  private static final long MARGIN = OpenSchedule.MARGIN_NANOS;

  @Test
  void firstToStartTakesFirstArrival() {
    OpenSchedule schedule = schedule(5, 100, 205);

    Arrival first = schedule.next(1_000);
    Arrival second = schedule.next(1_093);
    Arrival third = schedule.next(1_200 + MARGIN + 17);

    assertThat(first.plannedNanos()).isEqualTo(1_000 + MARGIN);
    assertThat(second.plannedNanos()).isEqualTo(1_095 + MARGIN);
    assertThat(second.scheduledOffsetNanos()).isEqualTo(100);
    assertThat(third.plannedNanos()).isEqualTo(1_200 + MARGIN);
    assertThat(schedule.next(2_000)).as("more users than planned").isNull();
  }

  @Test
  void earlyUserLagsOnlyAfterItsInstant() {
    Arrival arrival = schedule(0).next(1_000);

    assertThat(arrival.startLagNanos()).as("early is not late").isZero();
    arrival.started(1_000 + MARGIN + 42);
    assertThat(arrival.startLagNanos()).isEqualTo(42);
  }

  @Test
  void lateUserLagsByItsOwnStart() {
    OpenSchedule schedule = schedule(0, 0);
    Arrival first = schedule.next(1_000);
    Arrival late = schedule.next(1_000 + MARGIN + 3);

    assertThat(first.startLagNanos()).isZero();
    assertThat(late.startLagNanos()).as("its own start, not its first request").isEqualTo(3);
  }

  @Test
  void arrivalIsTakenOnce() {
    Arrival arrival = schedule(0).next(1_000);

    assertThat(arrival.isTaken()).isFalse();
    assertThat(arrival.take()).isTrue();
    assertThat(arrival.take()).isFalse();
    assertThat(arrival.isTaken()).isTrue();
  }

  private static OpenSchedule schedule(long... offsets) {
    return new OpenSchedule(
        "test", () -> LongStream.of(offsets).mapToObj(offset -> new Planned(0, offset, null)));
  }
}
