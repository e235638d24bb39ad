package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Runs.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BacklogTest {

  private static final LevelInfo TWO = Runs.rate(2, 0, 60_000);

  /**
   * Two requests/s for 60 s against one server of 762 ms: the n-th waits (n − 1) × 262 ms, the last
   * of the 120 31 s. By 60 s 79 have begun (0.01 s later the 80th would not yet): 120 − 79 = 41
   * wait.
   */
  @Test
  void aGrowingQueueIsNotKeptUpWith() {
    Summary summary = summary(Runs.run(61, TWO), twoPerSecond(0));

    LevelFigures level = summary.stages().get(0);
    assertThat(level.offered()).isEqualTo(2);
    assertThat(level.arrivedPerS()).isEqualTo(2);
    assertThat(level.completedPerS()).as("78 of 120").isEqualTo(78 / 60.0, within(1e-9));
    assertThat(level.queue()).isEqualTo(new Queue(true, false, 0, 41));
    assertThat(summary.verdict())
        .startsWith("Does not keep up with 2 requests/s: the queue grew to 41. At 2 requests/s: ")
        .contains("1.30 requests/s completed");
  }

  private static List<RequestRecord> twoPerSecond(double fromMs) {
    return Recorded.requests(
        120,
        n -> Recorded.at(fromMs + n * 500).lag(0).stage("r=2").tokens(n * 262 + 28, n * 262 + 762));
  }

  /** 60 in 60 s at both: the second rate saturates nothing. */
  @Test
  void ratesAtWhichByChanceAsManyCameHaveNoKnee() {
    List<RequestRecord> records =
        Recorded.requests(
            120, n -> Recorded.at(n * 1_000).lag(0).stage(n < 60 ? "r=1" : "r=2").tokens(28, 762));
    LevelInfo one = Runs.rate(1, 0, 60_000);
    Summary summary = summary(Runs.run(121, one, Runs.rate(2, 60_000, 120_000)), records);
    assertThat(summary.knee().reached()).isFalse();
    assertThat(summary.knee().saturatedFromFirst()).isFalse();
    assertThat(summary.verdict()).startsWith("No knee up to the highest load tried, 2 requests/s");
  }

  /** All are within a generous SLO, and would not be for much longer: that holds nothing. */
  @Test
  void aLoadThatIsNotKeptUpWithMissesTheSlo() {
    Slo slo = Slo.parse("ttft<60s");
    Summary alone = summary(Runs.run(61, TWO).slo(slo), twoPerSecond(0));
    assertThat(alone.figures().goodput().max()).isNull();
    assertThat(alone.verdict())
        .startsWith("Does not keep up with 2 requests/s: the queue grew to 41. At 2 requests/s: ")
        .containsSubsequence("p99 < 60 s is met", "100 % of 120 requests", "too few", "381");

    LevelInfo one = Runs.rate(1, 0, 60_000);
    LevelInfo two = Runs.rate(2, 60_000, 120_000);
    List<RequestRecord> records = twoPerSecond(60_000);
    records.addAll(
        Recorded.requests(60, n -> Recorded.at(n * 1_000).lag(0).stage("r=1").tokens(28, 762)));
    Summary both = summary(Runs.run(121, one, two).slo(slo), records);
    assertThat(both.figures().goodput().max().stage()).isEqualTo("r=1");
    assertThat(both.operatingPoint().stage()).isEqualTo("r=1");
    assertThat(both.verdict())
        .containsSubsequence("Does not keep up with 2 requests/s", "41", "met up to 1 request/s");
  }

  /**
   * Four requests/s for 60 s, of which a throttle lets two through: by 60 s 120 of 240 wait to be
   * sent. A server that answers each in 0.2 s keeps up; one that takes 762 ms for each, one after
   * the other, does not, whatever waits here.
   */
  @Test
  void requestsThatWaitToBeSentAreNotTheServersQueue() {
    LevelInfo four = Runs.rate(4, 0, 60_000);
    List<RequestRecord> quick = new ArrayList<>();
    List<RequestRecord> slow = new ArrayList<>();
    for (int n = 0; n < 240; n++) {
      double wait = n * 262;
      Recorded sent = Recorded.at(n * 250).lag(0).gate(n * 250.0).stage("r=4");
      quick.add(sent.tokens(28, 200).record());
      slow.add(sent.tokens(wait + 28, wait + 762).record());
    }
    Summary summary = summary(Runs.run(121, four), quick);
    assertThat(summary.stages().get(0).queue()).isEqualTo(new Queue(true, true, 0, 120));
    assertThat(summary.verdict())
        .startsWith(
            "The load generator did not send 4 requests/s: 120 requests waited in the client")
        .containsSubsequence("not by the server", "At 4 requests/s");

    // By 60 s 79 have begun, as above.
    summary = summary(Runs.run(300, four), slow);
    assertThat(summary.stages().get(0).queue()).isEqualTo(new Queue(true, false, 0, 240 - 79));
  }

  /**
   * 68 arrivals in 10 s at r=8, each answered in 2.5 s from an empty server: 51 end by 10 s, 17 are
   * in flight, and no request waits.
   */
  @Test
  void longAnswersOfAnEmptyServerAreKeptUpWith() {
    LevelInfo eight = Runs.rate(8, 0, 10_000);
    List<RequestRecord> records =
        Recorded.requests(
            68, n -> Recorded.at(n * 10_000 / 68.0).lag(0).stage("r=8").tokens(30, 2_500));
    LevelFigures level = summary(Runs.run(13, eight), records).stages().get(0);

    assertThat(level.offered()).isEqualTo(8);
    assertThat(level.arrivedPerS()).isEqualTo(6.8);
    assertThat(level.completedPerS()).isEqualTo(5.1, within(1e-9));
    assertThat(level.queue()).isEqualTo(new Queue(false, false, 0, 0));
  }

  /** In a closed loop no user arrives independently. */
  @Test
  void closedLoopsHaveNoQueue() {
    Summary summary = Levels.of("4:10").summary();
    assertThat(summary.arrivals()).isNull();
    LevelFigures level = summary.stages().get(0);
    assertThat(level.arrivedPerS()).isEqualTo(10);
    assertThat(level.completedPerS()).isEqualTo(10);
    assertThat(level.queue()).isNull();
  }

  /** Requests of the stage before wait too, and those cut off at the end stay in the queue. */
  @Test
  void queueAtTheEdgesOfTheWindow() {
    LevelInfo second = Runs.rate(2, 1_000, 2_000);
    List<RequestRecord> records =
        List.of(
            Recorded.at(0).lag(0).stage("r=2").phase(Phase.FILL).tokens(500, 900).record(),
            Recorded.at(100).lag(0).stage("r=2").phase(Phase.FILL).tokens(1_000, 1_100).record(),
            Recorded.at(900).lag(0).stage("r=2").phase(Phase.FILL).tokens(2_000, 2_100).record(),
            Recorded.at(1_500).lag(0).stage("r=2").tokens(600).record(),
            Recorded.at(1_600)
                .lag(0)
                .stage("r=2")
                .closed(399)
                .failed(RequestStatus.CANCELLED, "cut off")
                .record());
    assertThat(summary(Runs.run(3, second), records).stages().get(0).queue())
        .isEqualTo(new Queue(false, false, 2, 3));
  }

  /**
   * Poisson arrivals at 16 servers of 2 s (exponential), 30 s from an empty start: of 100 windows
   * each, at most 2 % are called falling behind while the load is below capacity, 80 % or more at
   * 1.5 times it, 99 % at twice. The last are 8 requests/s of 30 s at servers enough for all.
   */
  @Test
  void simulatedQueues() {
    for (boolean streamed : new boolean[] {true, false}) {
      assertThat(fallingBehind(16, 0.5, 2_000, streamed)).isLessThanOrEqualTo(2);
      assertThat(fallingBehind(16, 0.9, 2_000, streamed)).isLessThanOrEqualTo(2);
      assertThat(fallingBehind(16, 0.95, 2_000, streamed)).isLessThanOrEqualTo(2);
      assertThat(fallingBehind(16, 1.5, 2_000, streamed)).isGreaterThanOrEqualTo(80);
      assertThat(fallingBehind(16, 2, 2_000, streamed)).isGreaterThanOrEqualTo(99);
      assertThat(fallingBehind(10_000, 0.024, 30_000, streamed)).isLessThanOrEqualTo(2);
    }
  }

  private static int fallingBehind(
      int servers, double utilization, double meanMs, boolean streamed) {
    int found = 0;
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      Backlog backlog = new Backlog(Recorded.ORIGIN, 30_000_000_000L, 1);
      PriorityQueue<Double> free = new PriorityQueue<>();
      double at = 0;
      while (true) {
        at -= Math.log(1 - random.nextDouble()) * meanMs / (servers * utilization);
        if (at >= 30_000) {
          break;
        }
        double begin = free.size() < servers ? at : Math.max(at, free.remove());
        double end = begin - Math.log(1 - random.nextDouble()) * meanMs;
        free.add(end);
        Recorded request = Recorded.at(at).lag(0);
        backlog.add(
            streamed
                ? request.tokens(begin - at, end - at).record()
                : request.body(end - at, 10).record());
      }
      found += backlog.queue().grows() ? 1 : 0;
    }
    return found;
  }
}
