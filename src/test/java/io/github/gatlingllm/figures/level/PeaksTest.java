package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Instants in milliseconds. */
class PeaksTest {

  private static final long MS = 1_000_000;

  private static Peaks window(long from, long to) {
    return new Peaks(from * MS, to * MS);
  }

  private static Peaks only(Peaks... windows) {
    List<Peaks> joined = Peaks.joined(List.of(windows));
    assertThat(joined).hasSize(1);
    return joined.get(0);
  }

  /**
   * [0.5 s, 3.5 s) has the full seconds 1 and 2: 3 + 4 tokens in one, 5 in the other, 9 in none.
   */
  @Test
  void peakOfAFullSecond() {
    Peaks peaks = window(500, 3_500);
    peaks.tokens(600 * MS, 9);
    peaks.tokens(1_000 * MS, 3);
    peaks.tokens(1_999 * MS, 4);
    peaks.tokens(2_000 * MS, 5);
    peaks.tokens(3_000 * MS, 9);
    assertThat(only(peaks).tokensPerS()).isEqualTo(7);
  }

  @ParameterizedTest
  @CsvSource({"0, 1000, 0", "0, 999,", "500, 1999,", "500, 2000, 0", "700, 700,"})
  void aWindowWithoutAFullSecondHasNoPeak(long from, long to, Double expected) {
    assertThat(only(window(from, to)).tokensPerS()).isEqualTo(expected);
  }

  /** One ends as the next begins: never more than 2 together, though 4 were there within 100 ms. */
  @Test
  void requestsThatFollowEachOtherAreNotInFlightTogether() {
    Peaks peaks = window(1_000, 2_000);
    peaks.inFlight(0, 1_052 * MS);
    peaks.inFlight(1_052 * MS, 1_100 * MS);
    peaks.inFlight(1_010 * MS, 1_058 * MS);
    peaks.inFlight(1_058 * MS, 5_000 * MS);
    assertThat(only(peaks).inFlight()).isEqualTo(2);
  }

  /** Side by side they add up, as long as both are measured; one after the other they do not. */
  @Test
  void windowsThatOverlapAddUp() {
    Peaks one = window(0, 10_000);
    Peaks other = window(0, 20_000);
    Peaks later = window(20_000, 30_000);
    for (Peaks peaks : List.of(one, other, later)) {
      peaks.inFlight(0, 100_000 * MS);
      peaks.inFlight(0, 100_000 * MS);
    }
    one.tokens(3_000 * MS, 10);
    other.tokens(3_500 * MS, 20);
    other.tokens(15_000 * MS, 25);
    other.inFlight(12_000 * MS, 13_000 * MS);
    later.tokens(25_000 * MS, 29);
    List<Peaks> joined = Peaks.joined(List.of(later, other, one));
    assertThat(joined).extracting(Peaks::tokensPerS).containsExactly(30.0, 29.0);
    assertThat(joined).extracting(Peaks::inFlight).containsExactly(4L, 2L);
    assertThat(only(other).inFlight()).isEqualTo(3);
  }

  /** A day is sampled every 5.12 s, and joined with a window of a minute, sampled every 10 ms. */
  @Test
  void longWindowsAreSampledLessOften() {
    Peaks day = window(0, 86_400_000);
    Peaks minute = window(60_000, 120_000);
    for (int user = 0; user < 64; user++) {
      day.inFlight(user * MS, 80_000_000 * MS);
      minute.inFlight(0, 200_000 * MS);
    }
    assertThat(only(day).inFlight()).isEqualTo(64);
    assertThat(only(minute).inFlight()).isEqualTo(64);
    assertThat(only(day, minute).inFlight()).isEqualTo(128);
  }
}
