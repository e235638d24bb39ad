package io.github.gatlingllm.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RandomRecords;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.stats.LiveStats.LiveFigures;
import io.github.gatlingllm.stats.LiveStats.LiveFigures.Percentiles;
import io.github.gatlingllm.stats.LiveStats.LiveFigures.Progress;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LiveStatsTest {

  private static final long SECOND = 1_000_000_000L;

  private final AtomicLong clock = new AtomicLong(-5);
  private final LiveStats stats = new LiveStats(clock::get);

  @Test
  void nothingIsKnownBeforeTheFirstRequestEnds() {
    assertThat(stats.snapshot())
        .isEqualTo(
            new LiveFigures(0, 0, 0, 0, null, null, null, null, null, null, null, null, null));
  }

  @Test
  void latenciesAreThoseOfOkRequests() {
    stats.accept(request(RequestStatus.COMPLETE, 100, List.of(10, 10, 10, 30), true));
    stats.accept(request(RequestStatus.TRUNCATED, 900, List.of(900, 900), false));
    LiveFigures figures = stats.snapshot();
    assertThat(figures.ttftMicros()).isEqualTo(close(100_000, 100_000, 100_000));
    assertThat(figures.itlMicros()).isEqualTo(close(10_000, 30_000, 30_000));
    assertThat(figures.ok()).isOne();
    assertThat(figures.failed()).isOne();
  }

  @Test
  void theRateOfNowIsSinceTheSnapshotBefore() {
    stats.accept(request(RequestStatus.COMPLETE, 1, List.of(1, 1, 1), true));
    clock.addAndGet(2 * SECOND);
    LiveFigures first = stats.snapshot();
    assertThat(first.tokensPerSecondNow()).isEqualTo(2.0);
    assertThat(first.tokensPerSecondMean()).isEqualTo(2.0);

    stats.accept(request(RequestStatus.IN_STREAM_ERROR, 1, List.of(1), false));
    clock.addAndGet(2 * SECOND);
    LiveFigures second = stats.snapshot();
    assertThat(second.tokensPerSecondNow()).isEqualTo(1.0);
    assertThat(second.tokensPerSecondMean()).isEqualTo(1.5);

    clock.addAndGet(2 * SECOND);
    assertThat(stats.snapshot().tokensPerSecondNow()).isZero();
  }

  /** Of a measure window: what ends in it makes its rates, what was scheduled in it the rest. */
  @Test
  void latenciesAndRatesAreOfTheirOwnRequests() {
    stats.add(request(RequestStatus.COMPLETE, 100, List.of(10, 10), true), true, false);
    stats.add(request(RequestStatus.COMPLETE, 900, List.of(10, 10), true), false, true);
    clock.addAndGet(2 * SECOND);
    LiveFigures figures = stats.snapshot();
    assertThat(figures.ttftMicros()).isEqualTo(close(100_000, 100_000, 100_000));
    assertThat(figures.ok()).isOne();
    assertThat(figures.requestsPerSecond()).isEqualTo(0.5);
    assertThat(figures.tokensPerSecondMean()).isEqualTo(1.5);
  }

  @Test
  void theShareInSloIsOfAttemptedRequests() {
    stats.accept(request(RequestStatus.COMPLETE, 1, List.of(), true));
    stats.accept(request(RequestStatus.COMPLETE, 1, List.of(), false, "ttft"));
    stats.accept(request(RequestStatus.HTTP_ERROR, 1, List.of(), false));
    stats.accept(request(RequestStatus.CANCELLED, 1, List.of(), false, "ttft"));
    assertThat(stats.snapshot().sloShare()).isEqualTo(0.25);
    stats.accept(request(RequestStatus.CANCELLED, 1, List.of(), null));
    assertThat(stats.snapshot().sloShare()).isEqualTo(0.25);
    assertThat(stats.snapshot().failed()).isOne();
  }

  @Test
  void withoutSloThereIsNoShare() {
    stats.accept(request(RequestStatus.COMPLETE, 1, List.of(), null));
    assertThat(stats.snapshot().sloShare()).isNull();
  }

  @Test
  void valuesBeyondAnHourAreKeptAtAnHour() {
    stats.accept(request(RequestStatus.COMPLETE, 7_200_000, List.of(), null));
    assertThat(stats.snapshot().ttftMicros().p50()).isBetween(3_596_000_000L, 3_604_000_000L);
  }

  @Test
  void whatOthersKnowIsAdded() {
    Progress progress = new Progress("c=8", null, 0.5, null);
    LiveFigures figures = stats.snapshot().withInFlight(7L).withProgress(progress);
    assertThat(figures)
        .isEqualTo(
            new LiveFigures(0, 0, 0, 0, null, null, null, null, null, null, null, 7L, progress));
  }

  /** Values as a histogram of three digits gives them back. */
  private static Percentiles close(long p50, long p95, long p99) {
    return new Percentiles(rounded(p50), rounded(p95), rounded(p99));
  }

  private static long rounded(long value) {
    return new Histogram(1, 3_600_000_000L, 3).highestEquivalentValue(value);
  }

  private static RequestRecord request(
      RequestStatus verdict,
      long ttftMillis,
      List<Integer> gapMillis,
      @Nullable Boolean sloOk,
      String... missed) {
    RequestRecord base = new RandomRecords(1).answer(gapMillis.size() + 1);
    RequestRecord.Timing timing = base.timing();
    int[] offsets = new int[gapMillis.size() + 1];
    offsets[0] = (int) Math.min(Integer.MAX_VALUE, ttftMillis * 1_000);
    for (int i = 1; i < offsets.length; i++) {
      offsets[i] = offsets[i - 1] + gapMillis.get(i - 1) * 1_000;
    }
    return new RequestRecord(
        base.identity(),
        new RequestRecord.Timing(
            timing.startUnixNanos(),
            null,
            0,
            0L,
            null,
            null,
            null,
            ttftMillis * 1_000_000L,
            null,
            null,
            null,
            null,
            null),
        new RequestRecord.Events(
            offsets, new int[0], new int[0], offsets.length, 0, 0, true, null, null),
        base.tokens(),
        new RequestRecord.Outcome(
            null,
            200,
            verdict,
            verdict == RequestStatus.COMPLETE,
            null,
            sloOk,
            List.of(missed),
            false),
        base.server(),
        null);
  }
}
