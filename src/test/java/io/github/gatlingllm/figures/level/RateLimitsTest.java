package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.Pacing;
import io.github.gatlingllm.figures.metric.Figures.Quota;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Requests that a rate limit turned away are distinguished from failures, and from successes. */
class RateLimitsTest {

  private static final RunInfo RUN = Runs.run(10, Runs.stage(1, 0, 10_000));

  /**
   * Of 10 requests 7 are ok, 2 turned away and 1 times out; 4 had to pass a limit of ours, which
   * delayed 2, one of them for good.
   */
  private static RunFigures figures() {
    List<RequestRecord> records =
        Recorded.requests(5, i -> at(i * 1_000).tokens(10, 20).limits(remaining(60, 6 - i), null));
    records.add(at(5_000).tokens(10, 20).limits(remaining(100, 5), null).paced(0).record());
    records.add(at(5_100).gate(2_000.0).tokens(10, 20).paced(2_000).record());
    records.add(limited(6_000).limits(remaining(60, 0), 1.0).record());
    records.add(limited(6_500).limits(Map.of(), 3.0).paced(0).record());
    records.add(
        at(7_000)
            .gate(null)
            .failed(RequestStatus.TIMEOUT, "too late")
            .closed(4_000)
            .paced(4_000)
            .record());
    return Runs.figures(RUN.slo(Slo.parse("ttft<1s")), records);
  }

  private static Map<String, Double> remaining(double limit, double remaining) {
    return Map.of("requests_limit", limit, "requests_remaining", remaining, "tokens_reset_s", 9.0);
  }

  private static Recorded limited(double ms) {
    return at(ms).failed(RequestStatus.RATE_LIMITED, "HTTP 429: slow down").closed(7);
  }

  @Test
  void rateLimitedRequestsAreNeitherOkNorFailedAndMissTheSlo() {
    Figures figures = figures().summary().figures();
    assertThat(figures.counts().ok()).isEqualTo(7);
    assertThat(figures.counts().failed()).isEqualTo(1);
    assertThat(figures.counts().rateLimited()).isEqualTo(2);
    assertThat(Figure.parse("errors.percent").of(figures)).isEqualTo(10);
    assertThat(Figure.parse("rate_limited.percent").of(figures)).isEqualTo(20);
    assertThat(figures.goodput().attempted()).isEqualTo(10);
    assertThat(figures.goodput().met()).isEqualTo(6);
    assertThat(figures.metric(Metric.FAILED_E2E_MS).count()).isZero();
    assertThat(figures.errors())
        .extracting(Figures.ErrorCount::verdict)
        .containsExactlyInAnyOrder("rate_limited", "timeout");
  }

  @Test
  void limitsOfTheServerAndOfTheClientAreCounted() {
    Figures.RateLimits limits = figures().summary().stages().get(0).figures().rateLimits();
    assertThat(limits.requests()).isEqualTo(2);
    assertThat(limits.share()).isEqualTo(0.2);
    assertThat(limits.retryAfterS().count()).isEqualTo(2);
    assertThat(limits.retryAfterS().mean()).isEqualTo(2, within(1e-9));
    assertThat(limits.quotas()).isEqualTo(Map.of("requests", new Quota(60.0, 0.0, 0.0)));
    assertThat(limits.pacing()).isEqualTo(new Pacing(4, 2, 1, 3.0, 4.0));
    assertThat(limits.remaining()).isEqualTo("requests 0 of 60");
    assertThat(limits.pacing().effect().text())
        .containsSubsequence("2 of 4 requests", "3 s on average", "at most 4 s", "1 of them");
  }

  @Test
  void lowestQuotaOverTime() {
    List<Bucket> buckets = figures().series().overTime();
    assertThat(buckets.subList(0, 7))
        .extracting(bucket -> bucket.quotaLeft().get("requests"))
        .containsExactly(6 / 60.0, 5 / 60.0, 4 / 60.0, 3 / 60.0, 2 / 60.0, 0.05, 0.0);
    assertThat(buckets.get(6).rateLimited()).isEqualTo(2);
    assertThat(buckets.get(6).failed()).isZero();
  }

  @Test
  void checksNameTheLimitAndItsEffect() {
    Summary summary =
        Runs.summary(
            RUN.config("maxRequestsPerMinute", "60").slo(Slo.parse("ttft<1s")),
            at(0).tokens(10, 20).limits(remaining(60, 1), null).paced(0),
            at(100).gate(500.0).tokens(10, 20).paced(500),
            limited(200).limits(remaining(60, 0), 2.0));
    assertThat(Runs.check(summary, "rate_limited").message())
        .contains("1 of 3 requests", "33.3 %", "HTTP 429: slow down", "2 s (median; at most 2 s)")
        .contains("the SLO counts them as missed", "requests 0 of 60");
    assertThat(Runs.check(summary, "paced").message())
        .startsWith("maxRequestsPerMinute=60 delayed 1 of 2 requests, 0.500 s on average");
    assertThat(Runs.check(summary, "errors").message())
        .startsWith("0 of 3 requests failed (0 %), and 1 were rate limited;");
    assertThat(summary.verdict())
        .endsWith("The server's rate limits rejected 33.3 % of the requests.");
  }

  @Test
  void aRunWithoutLimitsHasNoFiguresOfThem() {
    Summary summary = Runs.summary(RUN, at(0).tokens(10, 20));
    assertThat(summary.figures().rateLimits()).isNull();
    assertThat(summary.checks()).extracting(Check::id).doesNotContain("rate_limited", "paced");
  }
}
