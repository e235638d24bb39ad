package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Timeline.TokenGaps.ReadingSpeed;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What somebody who reads answers as they come has to wait. */
class ReaderTest {

  private static final RunInfo RUN = Recorded.run(10, Recorded.stage(1, 0, 10_000));

  private static @Nullable Double stallMs(Recorded request, double tokensPerS) {
    return Metric.READER_STALL_MS.of(request.record(), tokensPerS);
  }

  /**
   *
   *
   * <pre>
   * tokens at      1000 1100 1700 1800
   * 5 tokens/s     1000 1200 1400 1900   waits 300 for the third, after that the fourth is there
   * 10 tokens/s    1000 1100 1200 1800   waits 500 for the third, wants the fourth as it comes
   * 100 tokens/s   1000 1010 1110 1710   waits 90, 590 and 90
   * 2 tokens/s     1000 1500 2000 2500   waits nowhere
   * </pre>
   */
  @ParameterizedTest
  @CsvSource({"5, 300", "10, 500", "100, 770", "2, 0"})
  void waitsInAll(double tokensPerS, double ms) {
    assertThat(stallMs(at(0).tokens(1_000, 1_100, 1_700, 1_800), tokensPerS))
        .isEqualTo(ms, within(1e-9));
  }

  /** Two waits of which the second is not spared by the first: 100 ms, then 250 ms more. */
  @Test
  void waitsAddUp() {
    assertThat(stallMs(at(0).tokens(0, 300, 400, 950), 5)).isEqualTo(350, within(1e-9));
  }

  /** Two tokens at 0 and three at 500 ms are read until 400 ms and wanted then: 100 ms too late. */
  @Test
  void eventsOfSeveralTokensAreReadForAsLong() {
    assertThat(stallMs(at(0).tokens(0, 500).perEvent(2, 3), 5)).isEqualTo(100, within(1e-9));
    assertThat(stallMs(at(0).tokens(0, 500).output(4), 5))
        .as("shared")
        .isEqualTo(100, within(1e-9));
    assertThat(stallMs(at(0).tokens(0, 200, 900).perEvent(0, 2, 1), 5))
        .as("an event without a token is no beginning")
        .isEqualTo(300, within(1e-9));
  }

  /** Choice 0 has tokens at 0 and 250, choice 1 at 100 and 400: waits 50 and 100 ms. */
  @Test
  void eachChoiceHasItsReader() {
    assertThat(
            stallMs(
                at(0).tokens(0, 100, 250, 400).perEvent(1, 1, 1, 1).choices(0, 1, 0, 1).output(4),
                5))
        .isEqualTo(100, within(1e-9));
  }

  @Test
  void oneBodyAndUnknownTimesHaveNoReader() {
    assertThat(stallMs(at(0).body(500, 10), 5)).isNull();
    assertThat(stallMs(at(0).bodyForStream(500, 10), 5)).isNull();
    assertThat(stallMs(at(0).tokens(0, 500).withoutTimes(), 5)).isNull();
  }

  /** Waits of 0, 100 and 300 ms; the failed one is nobody's. */
  @Test
  void figuresOfTheRun() {
    List<RequestRecord> records =
        List.of(
            at(0).tokens(100, 120, 140).record(),
            at(1_000).tokens(100, 400, 500).record(),
            at(2_000).tokens(100, 600).record(),
            at(3_000).tokens(100, 2_000).failed(RequestStatus.TRUNCATED, "cut").record());
    Figures usual = figures(RUN, records);
    assertThat(usual.reader()).isEqualTo(new Figures.Reader(5, 3, 2, 2 / 3.0));
    Distribution stall = usual.metric(Metric.READER_STALL_MS);
    assertThat(stall.count()).isEqualTo(3);
    assertThat(stall.p50()).isEqualTo(100, within(0.1));
    assertThat(stall.max()).isEqualTo(300);
    assertThat(Metric.READERS_STALLED.number(usual)).isEqualTo(66.667, within(1e-3));

    Figures slower = figures(RUN.report(RunInfo.ReportOptions.DEFAULT.readAt(3)), records);
    assertThat(slower.reader()).isEqualTo(new Figures.Reader(3, 3, 1, 1 / 3.0));
  }

  private static Figures figures(RunInfo run, List<RequestRecord> records) {
    return Recorded.summary(run, records.toArray(RequestRecord[]::new)).figures();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY, 2e6})
  void invalidReadingSpeedsAreRefused(double tokensPerS) {
    assertThat(ReadingSpeed.checked(1e6)).isEqualTo(1e6);
    assertThatThrownBy(() -> ReadingSpeed.checked(tokensPerS))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void joinedRunsKeepTheReadingSpeedThatIsNotTheDefault() {
    RunInfo.ReportOptions usual = RunInfo.ReportOptions.DEFAULT;
    assertThat(usual.readAt(8).and(usual).readingSpeed()).isEqualTo(8);
    assertThat(usual.and(usual.readAt(8)).readingSpeed()).isEqualTo(8);
  }
}
