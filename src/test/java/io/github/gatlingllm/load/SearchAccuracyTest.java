package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.docs.SimulatedTable;
import io.github.gatlingllm.figures.metric.Backlog;
import io.github.gatlingllm.figures.metric.BacklogOf;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.LevelSource;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PrimitiveIterator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Searches in virtual time, against a server whose limit is known: {@value #SLOTS} slots, first
 * come first served, exponential service of 1 s on average. A request misses its SLO when it waits
 * longer than half a second, or by bad luck, whatever the load. Levels measure 30 s. Users of a
 * closed loop send their next request as soon as they have an answer.
 */
class SearchAccuracyTest {
  private static final int SLOTS = 64;
  private static final double SERVICE_S = 1;
  private static final double WAIT_S = 0.5;
  private static final double PERCENTILE = 99;
  private static final double PRECISION = 0.05;
  private static final double SETTLED_S = 10;
  private static final double MEASURE_S = 30;
  private static final Phases PHASES =
      new Phases(0, TimeUnit.SECONDS.toNanos(10), TimeUnit.SECONDS.toNanos(30), 0, null);

  /** A search that would never end is a failure, not a test that hangs. */
  private static final int MAX_LEVELS = 61;

  private static final int SEARCHES = SimulatedTable.runs(60, 200);

  /**
   * Ending the doubling with the first level in which too many missed, the search found the limit
   * to 5 % in 10 of 100 cases with a bad luck of 0.5 %, and less than half of it in 50.
   */
  @Test
  @Tag("nightly")
  void findsTheLimit() throws IOException {
    new SimulatedTable(getClass())
        .hasRows(
            List.of(
                "search, missed whatever the load",
                "within 5 % of the limit",
                "bias",
                "less than half of it",
                "confirmed",
                "levels",
                "minutes"),
            Stream.of(false, true)
                .flatMap(
                    ofUsers ->
                        Stream.of(0.0, 0.003, 0.005).map(badLuck -> search(ofUsers, badLuck)))
                .toList());
  }

  private static List<String> search(boolean ofUsers, double badLuck) {
    double truth = ofUsers ? users(badLuck, WAIT_S) : limit(badLuck);
    int near = 0;
    int half = 0;
    double bias = 0;
    int confirmed = 0;
    int levels = 0;
    double seconds = 0;
    for (int seed = 0; seed < SEARCHES; seed++) {
      Search search = new Search(ofUsers, seed, badLuck, WAIT_S);
      Conclusion found = search.run();
      double rate = found.holdsAt() == null ? 0 : found.holdsAt();
      near += Math.abs(rate / truth - 1) <= PRECISION ? 1 : 0;
      half += rate < truth / 2 ? 1 : 0;
      bias += rate / truth - 1;
      confirmed += found.sound() ? 1 : 0;
      levels += search.levels;
      seconds += search.seconds;
    }

    assertThat(near).as("within 5 %%").isGreaterThanOrEqualTo(SEARCHES * 9 / 10);
    assertThat(half).as("less than half").isLessThanOrEqualTo(SEARCHES / 50);
    assertThat(confirmed).as("confirmed").isGreaterThanOrEqualTo(SEARCHES * (ofUsers ? 6 : 8) / 10);
    assertThat(levels / SEARCHES).as("levels of a search").isBetween(ofUsers ? 12 : 15, 20);
    assertThat(seconds / SEARCHES / 60).as("minutes of a search").isBetween(10.0, 25.0);
    assertThat(bias / SEARCHES).as("bias").isBetween(-0.05, 0.02);
    return List.of(
        "%s, %.1f %%".formatted(ofUsers ? "maxUsers" : "maxGoodput", badLuck * 100),
        "%d %%".formatted(100 * near / SEARCHES),
        "%+.1f %%".formatted(100 * bias / SEARCHES),
        "%.1f %%".formatted(100.0 * half / SEARCHES),
        "%d %%".formatted(100 * confirmed / SEARCHES),
        "%d".formatted(levels / SEARCHES),
        "%.0f".formatted(seconds / SEARCHES / 60));
  }

  /**
   * Tiers of 0.5, 1 and 2 s, whose limits are 84, 110 and 166 users: one search finds all three.
   */
  @Test
  @Tag("nightly")
  void findsTheLimitOfEachTier() {
    double[] waits = {WAIT_S / 2, WAIT_S, 2 * WAIT_S};
    int[] near = new int[waits.length];
    int[] confirmed = new int[waits.length];
    int levels = 0;
    for (int seed = 0; seed < SEARCHES; seed++) {
      Search search = new Search(true, seed, 0, waits);
      List<Conclusion> found = search.runAll();
      assertThat(found).extracting(Conclusion::tier).containsExactly("0", "1", "2");
      for (int tier = 0; tier < waits.length; tier++) {
        double users = Objects.requireNonNull(found.get(tier).holdsAt());
        near[tier] += Math.abs(users / users(0, waits[tier]) - 1) <= PRECISION ? 1 : 0;
        confirmed[tier] += found.get(tier).sound() ? 1 : 0;
      }
      levels += search.levels;
    }
    assertThat(List.of(users(0, 0.5), users(0, 1), users(0, 2)))
        .containsExactly(84.0, 110.0, 166.0);
    for (int tier = 0; tier < waits.length; tier++) {
      assertThat(near[tier]).as("near, tier %d", tier).isGreaterThanOrEqualTo(SEARCHES * 95 / 100);
      assertThat(confirmed[tier]).as("confirmed").isGreaterThanOrEqualTo(SEARCHES * 4 / 10);
    }
    assertThat(levels / SEARCHES).as("three alone take 46").isBetween(20, 38);
  }

  /**
   * The SLO allows a wait of a minute, which a growing queue exceeds late or never. So the limit is
   * the capacity of the slots, and an overload of a ninth is the smallest that can be detected.
   */
  @Test
  @Tag("nightly")
  void growingQueueEndsTheSearch() {
    for (int seed = 0; seed < 20; seed++) {
      double rate = Objects.requireNonNull(new Search(false, seed, 0, 60).run().holdsAt());
      assertThat(rate * SERVICE_S / SLOTS).isBetween(0.9, 1.25);
    }
  }

  /** Erlang C of 2 servers at a load of 1 is 1/3; beyond 0.5 s wait exp(−1 · 0.5) of these. */
  @Test
  void probabilityOfAWaitIsThatOfErlangC() {
    assertThat(waitsLonger(2, 1)).isCloseTo(1.0 / 3 * Math.exp(-0.5), within(1e-12));
  }

  /** Two slots free one per second on average 1 in 0.5 s; two users before one wait for two. */
  @Test
  void probabilityOfAWaitInAClosedLoopIsThatOfPoisson() {
    assertThat(waitsLongerInALoop(SLOTS, SLOTS, 0.5)).isZero();
    assertThat(waitsLongerInALoop(2, 4, 0.5)).as("e⁻¹ · (1 + 1)").isCloseTo(0.7358, within(1e-4));
  }

  /** The last number of users at which too few miss: all users are in the server all the time. */
  private static double users(double badLuck, double waitS) {
    int users = 1;
    while (badLuck + (1 - badLuck) * waitsLongerInALoop(SLOTS, users + 1, waitS)
        <= 1 - PERCENTILE / 100) {
      users++;
    }
    return users;
  }

  /** As many departures of busy slots as users wait take longer than that with this chance. */
  private static double waitsLongerInALoop(int slots, int users, double waitS) {
    double expected = slots / SERVICE_S * waitS;
    double term = Math.exp(-expected);
    double fewer = 0;
    for (int k = 0; k < users - slots; k++) {
      fewer += term;
      term *= expected / (k + 1);
    }
    return fewer;
  }

  private static double limit(double badLuck) {
    double low = 0;
    double high = SLOTS / SERVICE_S;
    for (int i = 0; i < 60; i++) {
      double rate = (low + high) / 2;
      if (badLuck + (1 - badLuck) * waitsLonger(SLOTS, rate) > 1 - PERCENTILE / 100) {
        high = rate;
      } else {
        low = rate;
      }
    }
    return low;
  }

  /** Erlang's formula for the chance to wait, and the exponential distribution of the wait. */
  private static double waitsLonger(int slots, double rate) {
    double load = rate * SERVICE_S;
    double blocked = 1;
    for (int k = 1; k <= slots; k++) {
      blocked = load * blocked / (k + load * blocked);
    }
    double waits = blocked / (1 - load / slots * (1 - blocked));
    return waits * Math.exp(-(slots / SERVICE_S - rate) * WAIT_S);
  }

  private static final class Search {
    private final LevelSource source;
    private final SplittableRandom random;
    private final double badLuck;

    /** By tier; one without tiers. */
    private final double[] longestWaits;

    private int levels;
    private double seconds;

    private record Sent(double at, double start, double end, boolean isLucky) {}

    private Search(boolean ofUsers, long seed, double badLuck, double... longestWaits) {
      this.longestWaits = longestWaits;
      LoadPlan plan =
          ofUsers
              ? LoadPlan.searchUsers(1, PRECISION, PHASES)
              : LoadPlan.search(1, PRECISION, seed, PHASES);
      this.source = plan.source();
      this.random = new SplittableRandom(-1 - seed);
      this.badLuck = badLuck;
    }

    private Conclusion run() {
      return runAll().get(0);
    }

    private List<Conclusion> runAll() {
      @Nullable LevelResult before = null;
      for (LoadLevel level = source.next(null); level != null; level = source.next(before)) {
        levels++;
        assertThat(levels).isLessThan(MAX_LEVELS);
        before = offer(level);
      }
      return source.conclusions();
    }

    /** An extension is decided by the requests that have ended, the result is of all requests. */
    private LevelResult offer(LoadLevel level) {
      PriorityQueue<Double> users = new PriorityQueue<>();
      if (level instanceof LoadLevel.Closed closed) {
        users.addAll(Collections.nCopies(closed.users(), 0.0));
      }
      PrimitiveIterator.OfLong arrivals =
          level instanceof LoadLevel.Open open
              ? open.arrivals().offsets().iterator()
              : LongStream.generate(() -> nanos(users.remove())).iterator();
      PriorityQueue<Double> slots = new PriorityQueue<>();
      Ended ended = new Ended(level.label(), longestWaits);
      double until = SETTLED_S + MEASURE_S;
      for (int rounds = 1; ; ) {
        double at = arrivals.nextLong() / 1e9;
        if (at >= until) {
          if (!source.extendsMeasuring(ended.by(until, rounds))) {
            seconds += until;
            return ended.by(Double.MAX_VALUE, rounds);
          }
          until += MEASURE_S;
          rounds++;
        }
        double start = slots.size() < SLOTS ? at : Math.max(at, slots.remove());
        double end = start - Math.log1p(-random.nextDouble()) * SERVICE_S;
        slots.add(end);
        users.add(end);
        ended.pending.add(new Sent(at, start, end, random.nextDouble() >= badLuck));
      }
    }

    private static long nanos(double seconds) {
      return (long) (seconds * 1e9);
    }

    /** What is known of a level by the requests that have ended. */
    private static final class Ended {
      private final String label;
      private final Backlog backlog =
          new Backlog(nanos(SETTLED_S), nanos(MEASURE_S), GoodputSearch.MAX_ROUNDS);
      private List<Sent> pending = new ArrayList<>();
      private long attempted;
      private final double[] waits;
      private final long[] met;

      private Ended(String label, double[] waits) {
        this.label = label;
        this.waits = waits;
        met = new long[waits.length];
      }

      private LevelResult by(double until, int rounds) {
        List<Sent> stillPending = new ArrayList<>();
        for (Sent request : pending) {
          if (request.end() >= until) {
            stillPending.add(request);
            continue;
          }
          BacklogOf.add(backlog, nanos(request.at()), nanos(request.start()), nanos(request.end()));
          attempted += request.at() >= SETTLED_S ? 1 : 0;
          for (int tier = 0; tier < waits.length; tier++) {
            boolean isMet = request.isLucky() && request.start() - request.at() <= waits[tier];
            met[tier] += request.at() >= SETTLED_S && isMet ? 1 : 0;
          }
        }
        pending = stillPending;
        Map<String, LevelResult> tiers = new LinkedHashMap<>();
        for (int tier = 0; tier < waits.length && waits.length > 1; tier++) {
          tiers.put(String.valueOf(tier), result(tier, rounds));
        }
        return tiers.isEmpty() ? result(0, rounds) : FakeLoad.ofTiers(tiers);
      }

      private LevelResult result(int tier, int rounds) {
        Backlog.Queue queue = label.startsWith("r=") ? backlog.queue(rounds) : null;
        return FakeLoad.result(label, attempted, met[tier], queue);
      }
    }
  }
}
