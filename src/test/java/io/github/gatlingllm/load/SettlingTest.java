package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.gatlingllm.load.LoadLevel.Phases;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** When levels with automatic phases start to measure, and their figures, in virtual time. */
class SettlingTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int USERS = 64;

  /** A server that prefills one prompt after the other, 45 ms each, and decodes all at once. */
  private static final class SerialPrefill {
    private static final long PREFILL = 45;
    private final SplittableRandom random = new SplittableRandom(3);
    private final List<Long> ttfts = new ArrayList<>();
    private final List<Long> ends = new ArrayList<>();
    private final FakeLoad load;
    private long idleFrom;

    private SerialPrefill(LoadLevel... levels) {
      load = new FakeLoad(this::answer, iteration -> false, levels);
    }

    /** Answers of 5 to 9 s. */
    private long answer() {
      long now = load.nowMillis();
      idleFrom = Math.max(idleFrom, now) + PREFILL;
      long ttft = idleFrom - now;
      ttfts.add(ttft);
      long e2e = ttft + 5_000 + random.nextInt(4_001);
      ends.add(now + e2e);
      return e2e;
    }

    private List<Long> ttfts(String level, String phase) {
      List<Long> of = new ArrayList<>();
      for (int i = 0; i < ttfts.size(); i++) {
        if (load.iterations.get(i).endsWith(" " + level + " " + phase)) {
          of.add(ttfts.get(i));
        }
      }
      return of.stream().sorted().toList();
    }

    private long p95(String level) {
      List<Long> of = ttfts(level, "measure");
      return of.get((int) Math.ceil(0.95 * of.size()) - 1);
    }

    /** When a phase of a level began. */
    private long start(String level, String phase) {
      return load.events.stream()
          .filter(event -> event.endsWith(" " + level + " " + phase))
          .mapToLong(event -> Long.parseLong(event.substring(0, event.indexOf(' '))))
          .findFirst()
          .orElseThrow();
    }

    /** Requests per second that ended in a measure window of that length. */
    private double rate(String level, double seconds) {
      long from = start(level, "measure");
      return ends.stream().filter(end -> end >= from && end < from + seconds * 1e3).count()
          / seconds;
    }
  }

  private static SerialPrefill run(Phases phases, int... users) {
    LoadLevel[] levels = new LoadLevel[users.length];
    for (int i = 0; i < users.length; i++) {
      levels[i] = new LoadLevel.Closed(users[i], phases);
    }
    SerialPrefill server = new SerialPrefill(levels);
    server.load.run();
    return server;
  }

  /** Reference: 2,000 s after 160 s of warm-up give 110 ms and 9.06 requests/s. */
  @Test
  void measuredSharesAreThoseOfALongRun() {
    SerialPrefill truth =
        run(new Phases(60 * SECOND, 100 * SECOND, 2_000 * SECOND, 30 * SECOND, null), USERS);
    double perSecond = truth.rate("c=64", 2_000);

    assertThat(truth.p95("c=64")).isBetween(100L, 120L);
    for (SerialPrefill level :
        List.of(run(Phases.DEFAULT, USERS), run(Phases.DEFAULT, 16, USERS))) {
      assertThat(level.p95("c=64")).isBetween(100L, 135L);
      assertThat(level.rate("c=64", 30)).isCloseTo(perSecond, withinPercentage(5));
    }
  }

  /** Who starts all users at once measures the burst: 64 prompts of 45 ms, the last after 2.9 s. */
  @Test
  void explicitPhasesHaveTheirLengths() {
    SerialPrefill burst = run(new Phases(0, 0, 30 * SECOND, 30 * SECOND, null), USERS);

    assertThat(burst.start("c=64", "measure")).isZero();
    assertThat(burst.p95("c=64")).isGreaterThan(2_000);
    assertThat(burst.load.events).noneMatch(event -> event.endsWith(" cooldown"));
  }

  /** Alone the first answer takes 3.7 s; the fill ends after half the bound of 30 s at most. */
  @Test
  void usersAreSpreadAndEachHasAnAnswerBeforeMeasuring() {
    SerialPrefill level = run(Phases.DEFAULT, USERS);

    assertThat(level.load.events.subList(0, 6))
        .containsExactly(
            "0 c=64 started",
            "0 c=64 fill",
            "15000 c=64 stabilize",
            "28787 c=64: filled in 15 s, measuring from 28.8 s (each user had an answer, 2 × median"
                + " E2E = 13.8 s)",
            "28787 c=64 measure",
            "58787 c=64 cooldown");
    assertThat(level.ttfts("c=64", "fill").get(64)).as("no burst").isLessThan(200);
  }

  /** The load is the same from the first request that is measured to the end of the last. */
  @Test
  void lateRequestsMeetFullLoad() {
    SerialPrefill level = run(Phases.DEFAULT, USERS);
    long from = level.start("c=64", "measure");
    long until = level.start("c=64", "drain");

    assertThat(level.load.millisInFlight(from, until)).isEqualTo(USERS * (until - from));
    assertThat(until - from - 30_000).as("cooldown").isBetween(5_000L, 9_200L);
    assertThat(level.ttfts("c=64", "cooldown")).hasSizeGreaterThan(30);
  }

  private static List<String> events(long iterationMillis, LoadLevel... levels) {
    return FakeLoad.of(iterationMillis, levels).run().events;
  }

  /** Users of the second level start over twice the 2 s of the first. */
  @Test
  void laterLevelsUseTheE2eOfThePreviousOne() {
    Phases phases = Phases.DEFAULT.withMeasure(20 * SECOND);
    List<String> events =
        events(2_000, new LoadLevel.Closed(1, phases), new LoadLevel.Closed(4, phases));

    assertThat(events)
        .containsExactly(
            "0 c=1 started",
            "0 c=1 stabilize",
            "4000 c=1: measuring from 4 s (the first answer was there, 2 × median E2E = 4 s)",
            "4000 c=1 measure",
            "24000 c=1 cooldown",
            "24000 c=1 drain",
            "24000 c=1 ended, 0 running, measured until 24000",
            "24000 c=4 started",
            "24000 c=4 fill",
            "28000 c=4 stabilize",
            "32000 c=4: filled in 4 s, measuring from 8 s (each user had an answer, 2 × median E2E"
                + " = 4 s)",
            "32000 c=4 measure",
            "52000 c=4 cooldown",
            "53000 c=4 drain",
            "55000 c=4 ended, 0 running, measured until 52000");
  }

  /** Answers of 60 s: users start after a quarter of the bound, and measuring does not wait. */
  @Test
  void waitsAreBounded() {
    Phases phases = Phases.DEFAULT.withMeasure(20 * SECOND).withDrain(15 * SECOND);

    assertThat(events(60_000, new LoadLevel.Closed(4, phases)))
        .containsExactly(
            "0 c=4 started",
            "0 c=4 fill",
            "10000 c=4 stabilize",
            "20000 c=4: filled in 10 s, measuring from 20 s, the longest wait (0 of 4 users had an"
                + " answer): measure longer, or set how long to stabilize",
            "20000 c=4 measure",
            "40000 c=4 drain",
            "55000 c=4 ended, 4 running, measured until 40000");
  }

  /** What is measured has no more than the drain time, in cooldown and drain together. */
  @Test
  void cooldownLastsNoLongerThanDrain() {
    Phases phases = new Phases(0L, 0L, 20 * SECOND, true, 15 * SECOND, null);

    assertThat(events(19_000, new LoadLevel.Closed(2, phases)))
        .containsExactly(
            "0 c=2 started",
            "0 c=2 measure",
            "20000 c=2 cooldown",
            "35000 c=2 drain",
            "35000 c=2 ended, 2 running, measured until 20000");
  }

  @Test
  void explicitFillAndAutomaticStabilizing() {
    Phases phases = Phases.DEFAULT.withFill(3 * SECOND).withMeasure(20 * SECOND);

    assertThat(events(1_000, new LoadLevel.Closed(3, phases)))
        .startsWith("0 c=3 started", "0 c=3 fill", "3000 c=3 stabilize")
        .contains(
            "5000 c=3: filled in 3 s, measuring from 5 s (each user had an answer, 2 × median E2E ="
                + " 2 s)");
    assertThat(events(1_000, new LoadLevel.Closed(3, Phases.DEFAULT.withStabilize(4 * SECOND))))
        .contains("7000 c=3: filled in 3 s, measuring from 7 s", "7000 c=3 measure");
  }

  /** A count is exact: nothing is sent that it does not count. */
  @Test
  void levelBoundedByRequestsHasNoAutomaticPhasesAndNoCooldown() {
    FakeLoad load = FakeLoad.of(1_000, new LoadLevel.Closed(4, Phases.DEFAULT.withRequests(10)));

    assertThat(load.run().iterations).hasSize(10).allMatch(line -> line.endsWith(" measure"));
    assertThat(load.events)
        .containsExactly(
            "0 c=4 started", "0 c=4 measure", "3000 c=4 ended, 0 running, measured until 3000");
  }

  /** Arrivals every 0.5 s, answers of 0.7 s: from 1.4 s on, until the last measured one is over. */
  @Test
  void openLevelsSettleAndCoolDown() {
    FakeLoad load =
        FakeLoad.of(
            700,
            new LoadLevel.Open(
                2, Arrivals.constant(2), Phases.DEFAULT.withMeasure(3_100_000_000L)));

    assertThat(load.run().events)
        .containsExactly(
            "20 r=2 started",
            "20 r=2 stabilize",
            "1420 r=2: measuring from 1.40 s (the first answer was there, 2 × median E2E = 1.40 s)",
            "1420 r=2 measure",
            "4520 r=2 cooldown",
            "4720 r=2 drain",
            "5220 r=2 ended, 0 running, measured until 4520");
    assertThat(load.iterations)
        .containsExactly(
            "20 r=2 stabilize",
            "520 r=2 stabilize",
            "1020 r=2 stabilize",
            "1520 r=2 measure",
            "2020 r=2 measure",
            "2520 r=2 measure",
            "3020 r=2 measure",
            "3520 r=2 measure",
            "4020 r=2 measure",
            "4520 r=2 cooldown");
    assertThat(load.usersStarted).as("none that does not begin").isEqualTo(10);
    assertThat(load.usersPresent).isZero();
  }

  /** Ten arrivals in 5 s with a final rate of 2 per second, which then stays constant. */
  @Test
  void curvesAreMeasuredFromTheirStartAndHoldTheirLastRate() {
    LoadLevel.Open curve =
        LoadLevel.Open.curve(nanos -> 2, 5 * SECOND)
            .with(new Arrivals.Gaps.Equal(), Phases.DEFAULT.withMeasure(5 * SECOND));
    FakeLoad load = FakeLoad.of(900, curve);

    assertThat(load.run().events)
        .startsWith("20 curve started", "20 curve measure", "5020 curve cooldown");
    assertThat(load.iterations).filteredOn(line -> line.endsWith(" measure")).hasSize(10);
    assertThat(load.iterations).filteredOn(line -> line.endsWith(" cooldown")).hasSize(1);
  }

  /** All requests fail and none may: nothing is measured, and all users end. */
  @Test
  void aLevelThatIsCutBeforeItMeasuresEnds() {
    LoadPlan plan =
        new LoadPlan.Sweep(List.of(new LoadLevel.Closed(8, Phases.DEFAULT)))
            .stopWhen(List.of(StopRule.errorCountAbove(0)));
    FakeLoad load = new FakeLoad(() -> 1_000, i -> false, plan).failing();

    assertThat(load.run().events)
        .contains("0 c=8 fill", "1000 c=8 drain")
        .noneMatch(event -> event.endsWith(" measure"));
    assertThat(load.usersPresent).isZero();
  }
}
