package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.TokenGaps;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How long a reader waits for answers that are read as they arrive. */
class ReaderTest {

  private static final RunInfo RUN = Runs.run(10, Runs.stage(1, 0, 10_000));

  /**
   * Answers, tokens read per second, and milliseconds waited in all. Tokens at 1000, 1100, 1700 and
   * 1800 are read at
   *
   * <pre>
   * 5 tokens/s     1000 1200 1400 1900   waits 300 for the third, after that the fourth is there
   * 10 tokens/s    1000 1100 1200 1800   waits 500 for the third, reads the fourth as it comes
   * 100 tokens/s   1000 1010 1110 1710   waits 90, 590 and 90
   * 2 tokens/s     1000 1500 2000 2500   waits nowhere
   * </pre>
   */
  static Stream<Arguments> answers() {
    Recorded four = at(0).tokens(1_000, 1_100, 1_700, 1_800);
    return Stream.of(
        arguments(four, 5, 300.0),
        arguments(four, 10, 500.0),
        arguments(four, 100, 770.0),
        arguments(four, 2, 0.0),
        // The second wait is not spared by the first: 100 ms, then 250 ms more.
        arguments(at(0).tokens(0, 300, 400, 950), 5, 350.0),
        // Two tokens at 0 and three at 500 ms are read until 400 ms, the next then.
        arguments(at(0).tokens(0, 500).perEvent(2, 3), 5, 100.0),
        arguments(at(0).tokens(0, 500).output(4), 5, 100.0),
        // An event without a token is not read; the two at 200 ms are read until 600 ms.
        arguments(at(0).tokens(0, 100, 200, 900).perEvent(1, 0, 2, 1), 5, 300.0),
        // Choice 0 has tokens at 0 and 250, choice 1 at 100 and 400: waits 50 and 100 ms.
        arguments(
            at(0).tokens(0, 100, 250, 400).perEvent(1, 1, 1, 1).choices(0, 1, 0, 1).output(4),
            5,
            100.0),
        // One body and unknown times have no reader.
        arguments(at(0).body(500, 10), 5, null),
        arguments(at(0).bodyForStream(500, 10), 5, null),
        arguments(at(0).tokens(0, 500).withoutTimes(), 5, null));
  }

  @ParameterizedTest
  @MethodSource("answers")
  void waitsInAll(Recorded answer, double tokensPerS, @Nullable Double ms) {
    double waited = Metric.READER_STALL_MS.of(answer.record(), tokensPerS);
    if (ms == null) {
      assertThat(waited).isNaN();
    } else {
      assertThat(waited).isEqualTo(ms, within(1e-9));
    }
  }

  /** Waits of 0, 100 and 300 ms; the failed one is not counted. */
  @Test
  void figuresOfTheRun() {
    List<RequestRecord> records =
        List.of(
            at(0).tokens(100, 120, 140).record(),
            at(1_000).tokens(100, 400, 500).record(),
            at(2_000).tokens(100, 600).record(),
            at(3_000).tokens(100, 2_000).failed(RequestStatus.TRUNCATED, "cut").record());
    Distribution usual = figures(RUN, records).metric(Metric.READER_STALL_MS);
    assertThat(usual.count()).isEqualTo(3);
    assertThat(usual.p50()).isEqualTo(100, within(0.1));
    assertThat(usual.max()).isEqualTo(300, within(1e-9));

    Figures slower = figures(RUN.report(RunInfo.ReportOptions.DEFAULT.readAt(3)), records);
    assertThat(slower.readingSpeed()).isEqualTo(3);
    // Only the last token of the third: read after 333 ms, it comes after 500.
    assertThat(slower.metric(Metric.READER_STALL_MS).max()).isEqualTo(500 - 1e3 / 3, within(1e-3));
    assertThat(slower.metric(Metric.READER_STALL_MS).p50()).isZero();
  }

  private static Figures figures(RunInfo run, List<RequestRecord> records) {
    return Runs.summary(run, records).figures();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY, 2e6})
  void invalidReadingSpeedsAreRefused(double tokensPerS) {
    assertThat(TokenGaps.checkedReadingSpeed(1e6)).isEqualTo(1e6);
    assertThatThrownBy(() -> TokenGaps.checkedReadingSpeed(tokensPerS))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void joinedRunsKeepTheReadingSpeedThatIsNotTheDefault() {
    RunInfo.ReportOptions usual = RunInfo.ReportOptions.DEFAULT;
    assertThat(usual.readAt(8).and(usual).readingSpeed()).isEqualTo(8);
    assertThat(usual.and(usual.readAt(8)).readingSpeed()).isEqualTo(8);
  }
}
