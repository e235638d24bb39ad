package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Figures.FailingSpan;
import io.github.gatlingllm.figures.metric.Figures.Failures;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Endpoints that fail for a while, by chance, or by limits, in virtual time. */
class OutagesTest {

  private static final RunInfo RUN = Runs.run(60, Runs.stage(2, 0, 60_000));

  private final List<RequestRecord> records = new ArrayList<>();

  private void ok(double fromMs, double toMs) {
    records.add(at(fromMs).stage("c=2").tokens(toMs - fromMs).record());
  }

  private void fails(double fromMs, double toMs, RequestStatus status) {
    records.add(at(fromMs).stage("c=2").failed(status, "x").closed(toMs - fromMs).record());
  }

  private void fails(double fromMs, double toMs) {
    fails(fromMs, toMs, RequestStatus.CONNECTION_ERROR);
  }

  /** By clocks that differ, an answer may end before its request was sent: it counts as usual. */
  @Test
  void aRequestThatEndedBeforeItWasSentCountsOnceAndInFull() {
    records.add(at(1_000).stage("c=2").tokens(10, 20).closed(-100).record());
    Summary summary = summary();
    assertThat(summary.figures().counts().ok()).isEqualTo(1);
    assertThat(failures(summary).ended()).isEqualTo(1);
  }

  private Summary summary() {
    return Runs.summary(RUN, records);
  }

  private static Failures failures(Summary summary) {
    return Objects.requireNonNull(summary.targets().get(0).failures());
  }

  private static Check check(Summary summary) {
    return Runs.check(summary, "failing_spans");
  }

  /*
   * user 1  ok from 0 to 10 s, one a second       fails every 100 ms until 15 s   ok again from 15 s
   * user 2  ok from 0.5 to 9.5 s, then from 9.5 s on waits until it fails at 12 s, ok from 15.2 s
   *
   * No ok request is under way from 10 s to 15 s; 51 failing ones are.
   */
  private void awayForFiveSeconds() {
    for (int i = 0; i < 10; i++) {
      ok(i * 1_000, (i + 1) * 1_000);
      ok(i * 1_000 + 15_000, (i + 1) * 1_000 + 15_000);
      if (i < 9) {
        ok(i * 1_000 + 500, (i + 1) * 1_000 + 500);
        ok(i * 1_000 + 15_200, (i + 1) * 1_000 + 15_200);
      }
    }
    fails(9_500, 12_000);
    for (int i = 0; i < 50; i++) {
      fails(10_020 + i * 99, 10_020 + i * 99 + 5);
    }
  }

  @Test
  void outageInTheMiddle() {
    awayForFiveSeconds();
    Summary summary = summary();
    Failures of = failures(summary);
    assertThat(of.ended()).isEqualTo(89);
    assertThat(of.failed()).isEqualTo(51);
    assertThat(of.meanTimeBetweenS()).isEqualTo(25 / 51.0, within(1e-9));
    assertThat(of.outages()).isEqualTo(1);
    FailingSpan span = Objects.requireNonNull(of.longestSpan());
    // The last ok request ends at 10.00 s and takes that slot of 10 ms; 10,020 + 49 × 99 + 5 ms.
    assertThat(span.fromS()).isEqualTo(10.01, within(1e-9));
    assertThat(span.toS()).isEqualTo(14.88, within(1e-9));
    assertThat(span.requests()).isEqualTo(51);
    assertThat(span.sent()).isEqualTo(50);
    assertThat(span.backAtS()).isEqualTo(15);
    assertThat(check(summary).level()).isEqualTo(CheckLevel.WARNING);
    assertThat(check(summary).value()).isEqualTo(4.87, within(1e-9));
    assertThat(check(summary).message())
        .contains("from 0:10 to 0:15", "4.87 s", "51 requests failed")
        .endsWith("at 0:15.");
    assertThat(summary.checks().stream().map(Check::id)).contains("errors");
  }

  /** It does not come back: requests that were sent meanwhile show that it is away. */
  @Test
  void outageUntilTheEnd() {
    for (int i = 0; i < 20; i++) {
      ok(i * 500, i * 500 + 500);
    }
    for (int i = 0; i < 30; i++) {
      fails(10_100 + i * 100, 10_105 + i * 100);
    }
    assertThat(check(summary()).message())
        .contains("30 requests failed", "no later request succeeded");
  }

  /** Three slow requests remain when the load ends, and time out: there were no other requests. */
  @Test
  void lastRequestsThatTimeOutAreNoOutage() {
    for (int i = 0; i < 50; i++) {
      ok(i * 200, i * 200 + 200);
    }
    for (int i = 0; i < 3; i++) {
      fails(9_000, 30_000, RequestStatus.TIMEOUT);
    }
    Summary summary = summary();
    assertThat(check(summary).level()).isEqualTo(CheckLevel.OK);
    assertThat(failures(summary).outages()).isZero();
    assertThat(Objects.requireNonNull(failures(summary).longestSpan()).seconds())
        .isEqualTo(20, within(1e-9));
  }

  /** The generator runs out of ports, files and memory for 5 s; then the server is away for 3 s. */
  @Test
  void limitsOfTheGeneratorAreNoOutages() {
    for (int i = 0; i < 20; i++) {
      ok(i * 500, i * 500 + 500);
      ok(15_000 + i * 250, 15_250 + i * 250);
    }
    GeneratorLimit[] limits = GeneratorLimit.values();
    for (int i = 0; i < 50; i++) {
      records.add(
          at(10_020 + i * 99)
              .stage("c=2")
              .failed(
                  RequestStatus.CONNECTION_ERROR,
                  (i < 40 ? "" : "b:80: ") + limits[i < 30 ? 0 : i % 3].error())
              .closed(5)
              .record());
    }
    Summary limited = summary();
    assertThat(failures(limited).failed()).isZero();
    assertThat(limited.checks()).noneMatch(check -> check.id().equals("failing_spans"));
    Check generator = Runs.check(limited, "generator");
    assertThat(generator.level()).isEqualTo(CheckLevel.INVALID);
    assertThat(generator.value()).isEqualTo(50 / 90.0, within(1e-3));
    assertThat(generator.message()).contains("50 requests", "local port", "files", "memory");
    assertThat(generator.remedy()).isEqualTo("Share connections, or add local addresses.");

    for (int i = 0; i < 30; i++) {
      fails(20_100 + i * 100, 20_105 + i * 100);
    }
    assertThat(failures(summary()).failed()).isEqualTo(30);
    assertThat(failures(summary()).outages()).isEqualTo(1);
    assertThat(check(summary()).message()).contains("30 requests failed");
    assertThat(Runs.check(summary(), "generator").level()).isEqualTo(CheckLevel.INVALID);
  }

  /** A server that states the same of itself has an outage. */
  @Test
  void limitsOfTheServerAreItsOwn() {
    awayForFiveSeconds();
    records.replaceAll(
        each ->
            each.outcome().ok()
                ? each
                : at(11_000)
                    .stage("c=2")
                    .failed(RequestStatus.HTTP_ERROR, "HTTP 500: too many open files")
                    .closed(3_000)
                    .record());
    assertThat(failures(summary()).outages()).isEqualTo(1);
    assertThat(summary().checks()).noneMatch(check -> check.id().equals("generator"));
  }

  /** A limit is not an outage, and neither are failures beside answers that come. */
  @Test
  void limitsAndFailuresBesideAnswers() {
    ok(0, 10_000);
    for (int i = 0; i < 50; i++) {
      fails(i * 100, i * 100 + 5);
      fails(12_000 + i * 100, 12_005 + i * 100, RequestStatus.RATE_LIMITED);
    }
    ok(20_000, 21_000);
    Summary summary = summary();
    assertThat(failures(summary).failed()).isEqualTo(50);
    assertThat(failures(summary).longestSpan()).isNull();
    assertThat(check(summary).level()).isEqualTo(CheckLevel.OK);
    assertThat(check(summary).message())
        .isEqualTo("Other requests succeeded while failed ones were in flight.");
  }

  /** One after the other, of which chance lets 30 % fail: runs of failures are not outages. */
  @Test
  void chanceIsNoOutage() {
    Random random = new Random(5);
    for (int i = 0; i < 120; i++) {
      if (random.nextDouble() < 0.3) {
        fails(i * 500, i * 500 + 490);
      } else {
        ok(i * 500, i * 500 + 490);
      }
    }
    Summary summary = summary();
    assertThat(failures(summary).failed()).isBetween(25L, 50L);
    assertThat(Objects.requireNonNull(failures(summary).longestSpan()).seconds()).isGreaterThan(1);
    assertThat(check(summary).level()).isEqualTo(CheckLevel.OK);
  }

  @Test
  void nothingFailed() {
    ok(0, 1_000);
    Summary summary = summary();
    assertThat(failures(summary)).isEqualTo(new Failures(1, 0, null, 0, 0, null));
    assertThat(summary.checks()).noneMatch(check -> check.id().equals("failing_spans"));
  }

  /** Of an outage and a longer span that may be chance, the outage is reported. */
  @Test
  void anOutageComesBeforeLongerSpansByChance() {
    awayForFiveSeconds();
    fails(40_000, 50_000);
    ok(55_000, 56_000);
    assertThat(check(summary()).value()).isEqualTo(4.87, within(1e-9));
    assertThat(failures(summary()).outages()).isEqualTo(1);
  }

  @Test
  void kindsOfFailureOverTime() {
    awayForFiveSeconds();
    fails(11_000, 11_500, RequestStatus.HTTP_ERROR);
    Series series = Runs.figures(RUN, records).series();
    assertThat(series.overTime().get(5).failures()).isEmpty();
    assertThat(series.overTime().get(11).failures())
        .containsEntry("http_error", 1L)
        .containsEntry("connection_error", 10L);
  }
}
