package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.SimulatedTable;
import io.github.gatlingllm.load.LoadLevel.Phases;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** When levels with automatic phases start to measure, and their figures, in virtual time. */
class SettlingTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int USERS = 64;
  private static final int RUNS = SimulatedTable.runs(10, 200);

  /** A server that prefills one prompt after the other, 45 ms each, and decodes all together. */
  private static final class SerialPrefill {
    private static final long PREFILL = 45;
    private final SplittableRandom random;
    private final List<Long> ttfts = new ArrayList<>();
    private final List<Long> ends = new ArrayList<>();
    private final FakeLoad load;
    private long idleFrom;

    private SerialPrefill(long seed, LoadLevel... levels) {
      random = new SplittableRandom(seed);
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

    private long start(String level, String phase) {
      return load.events.stream()
          .filter(event -> event.endsWith(" " + level + " " + phase))
          .mapToLong(event -> Long.parseLong(event.substring(0, event.indexOf(' '))))
          .findFirst()
          .orElseThrow();
    }

    /** Requests per second that ended in a measure window of 30 s. */
    private double rate(String level) {
      long from = start(level, "measure");
      return ends.stream().filter(end -> end >= from && end < from + 30_000).count() / 30.0;
    }
  }

  private static SerialPrefill run(Phases phases, int... users) {
    return run(3, phases, users);
  }

  private static SerialPrefill run(long seed, Phases phases, int... users) {
    LoadLevel[] levels = new LoadLevel[users.length];
    Arrays.setAll(levels, i -> new LoadLevel.Closed(users[i], phases));
    SerialPrefill server = new SerialPrefill(seed, levels);
    server.load.run();
    return server;
  }

  /** Levels of 30 s with automatic phases, alone and after another, against settled ones. */
  @Test
  void figuresOfAutomaticPhasesAreUnbiased() throws IOException {
    Phases settled = new Phases(60 * SECOND, 100 * SECOND, 30 * SECOND, 30 * SECOND, null);
    List<List<String>> rows = new ArrayList<>();
    for (int[] users : new int[][] {{8}, {32}, {64}, {16, 64}}) {
      int last = users[users.length - 1];
      String level = "c=" + last;
      DoubleSummaryStatistics[] rates = {
        new DoubleSummaryStatistics(), new DoubleSummaryStatistics()
      };
      DoubleSummaryStatistics[] ttfts = {
        new DoubleSummaryStatistics(), new DoubleSummaryStatistics()
      };
      for (int seed = 0; seed < RUNS; seed++) {
        SerialPrefill[] both = {run(seed, Phases.DEFAULT, users), run(seed, settled, last)};
        for (int i = 0; i < 2; i++) {
          rates[i].accept(both[i].rate(level));
          ttfts[i].accept((double) both[i].p95(level));
        }
      }
      double bias = rates[0].getAverage() / rates[1].getAverage() - 1;
      double ttftBias = ttfts[0].getAverage() / ttfts[1].getAverage() - 1;
      assertThat(bias).as(level).isBetween(-0.03, 0.03);
      assertThat(ttftBias).as(level).isBetween(-0.15, 0.15);
      rows.add(
          List.of(
              users.length == 1 ? "" + last : last + " after " + users[0],
              "%.2f".formatted(rates[1].getAverage()),
              "%+.1f %%".formatted(100 * bias),
              "%.0f ms".formatted(ttfts[1].getAverage()),
              "%+.1f %%".formatted(100 * ttftBias)));
    }
    new SimulatedTable(getClass())
        .hasRows(
            List.of("users", "requests/s, settled", "bias", "TTFT p95, settled", "bias"), rows);
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

  @Test
  void explicitFillAndAutomaticStabilizing() {
    Phases phases = Phases.DEFAULT.withFill(3 * SECOND).withMeasure(20 * SECOND);

    assertThat(FakeLoad.of(1_000, new LoadLevel.Closed(3, phases)).run().events)
        .startsWith("0 c=3 started", "0 c=3 fill", "3000 c=3 stabilize")
        .anyMatch(event -> event.startsWith("5000 c=3: filled in 3 s, measuring from 5 s "));
    Phases stabilized = Phases.DEFAULT.withStabilize(4 * SECOND);
    assertThat(FakeLoad.of(1_000, new LoadLevel.Closed(3, stabilized)).run().events)
        .contains("7000 c=3: filled in 3 s, measuring from 7 s", "7000 c=3 measure");
  }

  /** Ten arrivals in 5 s with a final rate of 2 per second, which then stays constant. */
  @Test
  void curvesAreMeasuredFromTheirStartAndHoldTheirLastRate() {
    LoadLevel.Open curve =
        LoadLevel.Open.curve(nanos -> 2, 5 * SECOND)
            .with(Arrivals.Gaps.EQUAL, Phases.DEFAULT.withMeasure(5 * SECOND));
    FakeLoad load = FakeLoad.of(900, curve);

    assertThat(load.run().events)
        .startsWith("20 curve started", "20 curve measure", "5020 curve cooldown");
    assertThat(load.iterations).filteredOn(line -> line.endsWith(" measure")).hasSize(10);
    assertThat(load.iterations).filteredOn(line -> line.endsWith(" cooldown")).hasSize(1);
  }
}
