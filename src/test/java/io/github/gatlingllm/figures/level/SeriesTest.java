package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.level.Series.OverTime;
import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SeriesTest {
  private static final RunInfo RUN =
      Runs.run(3, Runs.stage(1, 0, 3_000)).slo(Slo.parse("ttft<200ms"));

  /**
   *
   *
   * <pre>
   *          start  tokens at                 closed   second 0        1            2
   * r1          0   100 600 | 1100            1100     2 tokens        1
   * r2        500   800 | 1000, failed        1000     1               1, failed
   * r3       1500   1600 1700 | 2500          2500                     2            1
   * in flight                                          1.0 + 0.5       0.1 + 0.5    0.5
   * </pre>
   *
   * r2 has a TTFT of 300 ms: its tokens are not within the SLO.
   */
  private final Series series =
      Runs.figures(
              RUN,
              at(0).tokens(100, 600, 1_100),
              at(500).phase(Phase.FILL).tokens(300, 500).failed(RequestStatus.TRUNCATED, "cut"),
              at(1_500).tokens(100, 200, 1_000))
          .series();

  /** Who watches a run sees what its report will show, but for the second that is not over. */
  @Test
  void liveFiguresAreThoseOfTheReport() {
    List<RequestRecord> records =
        List.of(
            at(0).tokens(100, 600, 1_100).record(),
            at(500).lag(20).tokens(300, 500).record(),
            at(900).failed(RequestStatus.TRUNCATED, "cut").record(),
            at(1_500).tokens(100, 200, 1_000).record());
    OverTime live = new OverTime(Recorded.ORIGIN);
    records.forEach(live);
    Series report = Runs.figures(Runs.run(3, Runs.stage(1, 0, 3_000)), records).series();

    Series soFar = live.soFar(false);

    assertThat(live.buckets(false)).isEqualTo(report.overTime());
    assertThat(soFar.overTime()).isEqualTo(report.overTime().subList(0, 2));
  }

  @Test
  void figuresOfEachSecond() {
    assertThat(series.bucketS()).isEqualTo(1);
    assertThat(series.overTime()).extracting(Bucket::startS).containsExactly(0.0, 1.0, 2.0);
    assertThat(series.overTime())
        .extracting(Bucket::outputTokensPerS)
        .containsExactly(3.0, 4.0, 1.0);
    assertThat(series.overTime()).extracting(Bucket::sloTokensPerS).containsExactly(2.0, 3.0, 1.0);
    assertThat(series.overTime()).extracting(Bucket::started).containsExactly(2L, 1L, 0L);
    assertThat(series.overTime()).extracting(Bucket::ended).containsExactly(0L, 2L, 1L);
    assertThat(series.overTime()).extracting(Bucket::failed).containsExactly(0L, 1L, 0L);
    assertThat(series.overTime().get(0).inFlight()).isEqualTo(1.5, within(1e-9));
    assertThat(series.overTime().get(1).inFlight()).isEqualTo(0.6, within(1e-9));
    assertThat(series.overTime().get(2).inFlight()).isEqualTo(0.5, within(1e-9));
  }

  @Test
  void percentilesOfTheTokensOfABucket() {
    Bucket first = series.overTime().get(0);
    assertThat(first.ttftP50Ms()).isEqualTo(100, offset(1.0));
    assertThat(first.ttftP99Ms()).isEqualTo(300, offset(3.0));
    assertThat(first.itlP50Ms()).isEqualTo(500, offset(5.0));
    assertThat(series.overTime().get(2).ttftP50Ms()).isNull();
  }

  /** A request per second, with ten tokens after 5 ms. */
  @ParameterizedTest
  @CsvSource({"600, 1, 600", "601, 2, 301", "1200, 2, 600", "1201, 4, 301", "100000, 256, 391"})
  void longRunsHaveWiderBuckets(int seconds, double bucketS, int buckets) {
    OverTime time = new OverTime(Recorded.ORIGIN);
    for (int second = 0; second < seconds; second++) {
      time.accept(at(second * 1_000.0).tokens(5).output(10).record());
    }
    assertThat(time.bucketS()).isEqualTo(bucketS);
    List<Bucket> all = time.buckets(false);
    assertThat(all).hasSize(buckets);
    assertThat(all.size()).isLessThanOrEqualTo(Series.MAX_BUCKETS);
    assertThat(all.stream().mapToDouble(b -> b.outputTokensPerS() * bucketS).sum())
        .isEqualTo(seconds * 10.0, within(1e-6));
    assertThat(all.get(0).ttftP50Ms()).isEqualTo(5, offset(0.05));
    assertThat(all.get(0).sloTokensPerS()).isNull();
  }

  @Test
  void timeInFlightSurvivesWidening() {
    OverTime time = new OverTime(Recorded.ORIGIN);
    time.accept(at(500).tokens(4_999_500).record());
    double seconds =
        time.buckets(false).stream().mapToDouble(b -> b.inFlight() * time.bucketS()).sum();
    assertThat(seconds).isEqualTo(4_999.5, within(1e-6));
  }

  @Test
  void tokensBeforeTheStartCountInTheFirstBucket() {
    OverTime time = new OverTime(Recorded.ORIGIN + 10_000_000_000L);
    time.accept(at(9_500).tokens(100, 200, 1_000).record());
    assertThat(time.buckets(false).get(0).outputTokensPerS()).isEqualTo(3);
    assertThat(time.buckets(false).get(0).inFlight()).isEqualTo(0.5);
  }

  @Test
  void percentileCurveEndsAtTheLargestValue() {
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 1; i <= 2_000; i++) {
      records.add(at(0).tokens(i == 2_000 ? 90_000 : i % 500 + 1).record());
    }
    List<Quantile> curve =
        Runs.figures(RUN, records).series().levelQuantiles().get(0).get(Metric.TTFT_MS);
    assertThat(curve).extracting(Quantile::value).isSorted().endsWith(90_000.0);
    assertThat(curve)
        .extracting(Quantile::percent)
        .startsWith(0.0, 1.0)
        .endsWith(99.9, 99.95, 100.0);
  }

  @Test
  void metricWithoutValuesHasNoCurve() {
    assertThat(Runs.figures(RUN, at(0).body(10, 3)).series().levelQuantiles().get(0))
        .containsOnlyKeys(Metric.E2E_MS);
  }

  /** Of 26 levels, each with one request more than the last; headlines quote the last. */
  @Test
  void operatingPointBeyondTheDrawnLevelsHasItsCurve() {
    Levels levels = new Levels();
    for (int users = 1; users <= 26; users++) {
      levels.level(users, users, 9);
    }
    RunFigures run = levels.figures(Slo.NONE);
    assertThat(run.summary().operatingPoint().stage()).isEqualTo("c=26");
    assertThat(run.series().levelQuantiles()).containsKeys(0, 23, 25).doesNotContainKey(24);
  }

  @Test
  void neighboursAreMergedAtTheLimit() {
    TimeBuckets<AtomicInteger> buckets =
        new TimeBuckets<>(100, 10, 3, AtomicInteger::new, (a, b) -> a.addAndGet(b.get()));
    for (long at : new long[] {99, 100, 110, 120}) {
      buckets.at(at).incrementAndGet();
    }
    assertThat(buckets.all()).extracting(AtomicInteger::get).containsExactly(2, 1, 1);
    assertThat(buckets.endOf(115)).isEqualTo(120);

    buckets.at(130).incrementAndGet();
    assertThat(buckets.width()).isEqualTo(20);
    assertThat(buckets.all()).extracting(AtomicInteger::get).containsExactly(3, 2);

    buckets.at(260).incrementAndGet();
    assertThat(buckets.width()).isEqualTo(80);
    assertThat(buckets.all()).extracting(AtomicInteger::get).containsExactly(5, 0, 1);
  }
}
