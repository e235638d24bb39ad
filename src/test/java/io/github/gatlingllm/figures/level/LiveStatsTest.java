package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.metric.Distribution.EMPTY;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LiveStatsTest {

  private static final long SECOND = 1_000_000_000L;

  private final AtomicLong clock = new AtomicLong(-5);
  private final LiveStats stats = new LiveStats(clock::get);

  @Test
  void nothingIsKnownBeforeTheFirstRequestEnds() {
    LiveFigures figures = stats.snapshot();
    assertThat(figures.figures().counts().started()).isZero();
    assertThat(figures.figures().metric(Metric.TTFT_MS)).isEqualTo(EMPTY);
    assertThat(figures.byName()).isEmpty();
    assertThat(figures.sloShare()).isNull();
    assertThat(figures.tokensPerSecondNow()).isNull();
  }

  @Test
  void latenciesAreThoseOfOkRequests() {
    stats.accept(request(RequestStatus.COMPLETE, 100, List.of(10, 10, 10, 30), true));
    stats.accept(request(RequestStatus.TRUNCATED, 900, List.of(900, 900), false));
    LiveFigures figures = stats.snapshot();
    assertThat(figures.figures().metric(Metric.TTFT_MS))
        .extracting(Distribution::p50, Distribution::p95, Distribution::p99)
        .containsExactly(100.0, 100.0, 100.0);
    assertThat(figures.figures().metric(Metric.ITL_MS))
        .extracting(Distribution::p50, Distribution::p95, Distribution::p99)
        .containsExactly(10.007, 30.0, 30.0);
    assertThat(figures.figures().counts().ok()).isOne();
    assertThat(figures.figures().counts().failed()).isOne();
  }

  @Test
  void theRateOfNowIsSinceTheSnapshotBefore() {
    stats.accept(request(RequestStatus.COMPLETE, 1, List.of(1, 1, 1), true));
    clock.addAndGet(2 * SECOND);
    LiveFigures first = stats.snapshot();
    assertThat(first.tokensPerSecondNow()).isEqualTo(2.0);
    assertThat(first.number(Metric.OUTPUT_TOKENS_PER_S)).isEqualTo(2.0);

    stats.accept(request(RequestStatus.IN_STREAM_ERROR, 1, List.of(1), false));
    clock.addAndGet(2 * SECOND);
    LiveFigures second = stats.snapshot();
    assertThat(second.tokensPerSecondNow()).isEqualTo(1.0);
    assertThat(second.number(Metric.OUTPUT_TOKENS_PER_S)).isEqualTo(1.5);

    clock.addAndGet(2 * SECOND);
    assertThat(stats.snapshot().tokensPerSecondNow()).isZero();
  }

  /**
   * The window is [1,000 ms, 3,000 ms), and the records are those of {@link RunStatisticsTest}: 11
   * tokens in it, 2 requests that ended in it, TTFT of the two that were scheduled in it.
   */
  @Test
  void aMeasureWindowHasTheFiguresOfTheReport() {
    long from = Recorded.ORIGIN + SECOND;
    long until = Recorded.ORIGIN + 3 * SECOND;
    clock.set(5 * SECOND);
    LiveStats window = new LiveStats(clock::get, 3 * SECOND);
    for (RequestRecord each : RunStatisticsTest.ALL) {
      window.add(each, each.identity().phase() == Phase.MEASURE, from, until);
    }
    LiveFigures figures = window.peek();
    assertThat(figures.number(Metric.OUTPUT_TOKENS_PER_S)).isEqualTo(5.5);
    assertThat(figures.number(Metric.REQUESTS_PER_S)).isEqualTo(1);
    assertThat(figures.figures().metric(Metric.TTFT_MS))
        .extracting(Distribution::p50, Distribution::p95, Distribution::p99)
        .containsExactly(100.0, 100.0, 100.0);
    assertThat(figures.figures().metric(Metric.ITL_MS).p99()).isEqualTo(100);
    assertThat(figures.figures().counts().ok()).isEqualTo(2);
    assertThat(figures.figures().counts().failed()).isOne();
  }

  @Test
  void theShareInSloIsOfAttemptedRequests() {
    stats.accept(request(RequestStatus.COMPLETE, 1, List.of(), null));
    assertThat(stats.snapshot().sloShare()).isNull();
    stats.accept(request(RequestStatus.COMPLETE, 1, List.of(), true));
    stats.accept(request(RequestStatus.COMPLETE, 1, List.of(), false));
    stats.accept(request(RequestStatus.HTTP_ERROR, 1, List.of(), false));
    stats.accept(request(RequestStatus.CANCELLED, 1, List.of(), false));
    assertThat(stats.snapshot().sloShare()).isEqualTo(0.25);
    stats.accept(request(RequestStatus.CANCELLED, 1, List.of(), null));
    assertThat(stats.snapshot().sloShare()).isEqualTo(0.25);
    assertThat(stats.snapshot().figures().counts().failed()).isOne();
  }

  private static RequestRecord request(
      RequestStatus verdict, double ttftMs, List<Integer> gapsMs, @Nullable Boolean inSlo) {
    double[] tokens = new double[gapsMs.size() + 1];
    tokens[0] = ttftMs;
    for (int i = 1; i < tokens.length; i++) {
      tokens[i] = tokens[i - 1] + gapsMs.get(i - 1);
    }
    Recorded request = Recorded.at(0).tokens(tokens).judged(inSlo);
    return (verdict == RequestStatus.COMPLETE ? request : request.failed(verdict, "x")).record();
  }
}
