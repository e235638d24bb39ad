package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.PlanDriver.LoopingUser;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlanDriverTest {
  private static final long SECOND = 1_000_000_000L;

  private static Phases seconds(long fill, long stabilize, long measure, long drain) {
    return new Phases(fill * SECOND, stabilize * SECOND, measure * SECOND, drain * SECOND, null);
  }

  private static LoadLevel closed(int users, Phases phases) {
    return new LoadLevel.Closed(users, phases);
  }

  private static LoadLevel constant(double perSecond, Phases phases) {
    return new LoadLevel.Open(perSecond, Arrivals.constant(perSecond), phases);
  }

  /** Users stay until what follows the last level has ended, so that Gatling stays too. */
  @Test
  void planEndsAfterWhatFollowsItsLastLevel() {
    FakeLoad load = FakeLoad.of(400, closed(2, seconds(0, 0, 1, 5))).afterwards(9_000).run();

    assertThat(load.nowMillis()).isEqualTo(1_200 + 9_000);
    assertThat(load.iterations).hasSize(6);
  }

  @Test
  void smallerLevelLetsUsersWait() {
    FakeLoad load =
        FakeLoad.of(
                1_000,
                closed(2, seconds(0, 0, 1, 5)),
                closed(1, seconds(0, 0, 1, 5)),
                closed(3, seconds(0, 0, 1, 5)))
            .run();

    assertThat(load.usersStarted()).isEqualTo(3);
    assertThat(load.iterations).hasSize(2 + 1 + 3);
  }

  /** Ten per second fail after 0.35 s each; users of later arrivals do not start. */
  @Test
  void tooManyErrorsEndAnOpenLevelImmediately() {
    FakeLoad load = failing(350, 0, constant(10, seconds(0, 0, 60, 5))).run();

    assertThat(load.iterations).hasSize(4);
    assertThat(load.usersStarted()).as("users for a second to come were there").isGreaterThan(8);
    assertThat(load.events)
        .last()
        .isEqualTo("stopped early during r=10: 4 requests failed, more than 0");
  }

  /** Five requests in 10 s at most: with 1 s each they come first, with 4 s each the time does. */
  @Test
  void aCountAndATimeBoundALevelWhicheverComesFirst() {
    Phases both = seconds(0, 0, 10, 60).withRequests(5, 10 * SECOND);
    FakeLoad count = FakeLoad.of(1_000, closed(1, both)).run();
    assertThat(count.measured("c=1")).isEqualTo(5);
    assertThat(count.events).last().isEqualTo("5000 c=1 ended, 0 running, measured until 5000");

    FakeLoad time = FakeLoad.of(4_000, closed(1, both)).run();
    assertThat(time.measured("c=1")).isEqualTo(3);
    assertThat(time.events).last().isEqualTo("12000 c=1 ended, 0 running, measured until 10000");

    FakeLoad open = FakeLoad.of(100, constant(1, both.withRequests(50, 10 * SECOND))).run();
    assertThat(open.measured("r=1")).as("one per second").isBetween(9L, 10L);
  }

  /** No rule is set: the level ends all the same, and no further one is offered. */
  @Test
  void serverThatIsDownEndsThePlan() {
    LoadPlan plan =
        new LoadPlan.Sweep(
            List.of(
                closed(2, seconds(0, 0, 600, 5)),
                new LoadLevel.FixedBatch(2, 5, 0),
                closed(4, seconds(0, 0, 60, 5))));
    FakeLoad load = new FakeLoad(() -> 1_000, i -> false, plan).failing().run();

    assertThat(load.events)
        .last()
        .asString()
        .startsWith("stopped early during c=2, 2 levels skipped: 102 requests failed")
        .contains("HTTP 500: broken");
  }

  /** Plans, and what is to happen, in milliseconds. */
  static Stream<Arguments> scripts() {
    Iterator<Long> trials = List.of(10L, 20L, 30L, 5L, 5L, 50L, 7L, 7L).iterator();
    Iterator<Long> gathered =
        List.of(1_000L, 3_000L, 2_000L, 2_000L, 2_000L, 2_000L, 2_000L).iterator();
    Phases automatic = Phases.DEFAULT.withMeasure(20 * SECOND);
    return Stream.of(
        arguments(
            "phases follow each other",
            FakeLoad.of(4_000, closed(3, seconds(3, 2, 5, 5))),
            """
            c=3: 0 started, 0 fill, 3000 stabilize, 5000 measure, 10000 drain, 13000 ended, 0 running, measured until 10000
            """,
            "0 1000 2000 fill, 4000 stabilize, 5000 6000 8000 9000 measure"),
        arguments(
            "the next level starts when nothing is in flight",
            FakeLoad.of(3_000, closed(1, seconds(0, 0, 4, 5)), closed(2, seconds(0, 0, 4, 5))),
            """
            c=1: 0 started, 0 measure, 4000 drain, 6000 ended, 0 running, measured until 4000
            c=2: 6000 started, 6000 measure, 10000 drain, 12000 ended, 0 running, measured until 10000
            """,
            "0 3000 6000 6000 9000 9000 measure"),
        arguments(
            "the drain time bounds the wait, and late users take no seat that is taken",
            FakeLoad.of(9_000, closed(2, seconds(0, 0, 4, 1)), closed(1, seconds(0, 0, 5, 10))),
            """
            c=2: 0 started, 0 measure, 4000 drain, 5000 ended, 2 running, measured until 4000
            c=1: 5000 started, 5000 measure, 10000 drain, 14000 ended, 0 running, measured until 10000
            """,
            "0 0 5000 measure"),
        arguments(
            "the fill of users that gather ends when the slowest has its first answer",
            new FakeLoad(gathered::next, iteration -> false, closed(2, seconds(0, 1, 2, 5)))
                .gathering(),
            """
            c=2: 0 started, 0 fill, 3000 stabilize
            4000 c=2: filled in 3 s, measuring from 4 s
            c=2: 4000 measure, 6000 drain, 7000 ended, 0 running, measured until 6000
            """,
            "0 0 1000 fill, 3000 3000 stabilize, 5000 5000 measure"),
        arguments(
            "requests bound a level",
            FakeLoad.of(1_000, closed(2, Phases.DEFAULT.withStabilize(2 * SECOND).withRequests(5))),
            """
            c=2: 0 started, 0 stabilize, 2000 measure, 5000 ended, 0 running, measured until 5000
            """,
            "0 0 1000 1000 stabilize, 2000 2000 3000 3000 4000 measure"),
        arguments(
            "hanging requests are drained for the drain time",
            FakeLoad.of(60_000, closed(2, Phases.DEFAULT.withRequests(2).withDrain(7 * SECOND))),
            """
            c=2: 0 started, 0 measure, 7000 ended, 2 running, measured until 7000
            """,
            "0 0 measure"),
        arguments(
            "a trial starts when the slowest iteration of the previous has ended",
            new FakeLoad(
                trials::next,
                iteration -> iteration == 2,
                new LoadLevel.FixedBatch(3, 2, SECOND),
                new LoadLevel.FixedBatch(2, 1, SECOND)),
            """
            b=3: 0 started, 0 measure, 80 ended, 0 running, measured until 80
            b=2: 80 started, 80 measure, 87 ended, 0 running, measured until 87
            """,
            "0 0 0 30 30 30 80 80 measure"),
        arguments(
            "too many errors end a closed level immediately, but for the one beside the last",
            failing(1_000, 6, closed(2, seconds(1, 1, 60, 5)), closed(4, seconds(0, 0, 60, 5))),
            """
            c=2: 0 started, 0 fill, 1000 stabilize, 2000 measure, 4000 drain, 4500 ended, 0 running, measured until 4000
            stopped early during c=2, 1 level skipped: 8 requests failed, more than 6
            """,
            "0 500 fill, 1000 1500 stabilize, 2000 2500 3000 3500 measure"),
        arguments(
            "too many errors end a level before it measures",
            failing(1_000, 1, closed(1, seconds(0, 10, 60, 5))),
            """
            c=1: 0 started, 0 stabilize, 2000 drain, 2000 ended, 0 running, measured until 2000
            stopped early during c=1: 2 requests failed, more than 1
            """,
            "0 1000 stabilize"),
        arguments(
            "an open level starts users at their instants",
            FakeLoad.of(700, constant(2, seconds(0, 1, 2, 5))),
            """
            r=2: 20 started, 20 stabilize, 1020 measure, 3020 drain, 3220 ended, 0 running, measured until 3020
            """,
            "20 520 stabilize, 1020 1520 2020 2520 measure"),
        arguments(
            "requests bound an open level",
            FakeLoad.of(700, constant(2, Phases.DEFAULT.withRequests(4))),
            """
            r=2: 20 started, 20 measure, 2220 ended, 0 running, measured until 2220
            """,
            "20 520 1020 1520 measure"),
        arguments(
            "an open level without arrivals ends",
            FakeLoad.of(
                1, new LoadLevel.Open(0.001, Arrivals.poisson(0.001, 5), seconds(0, 0, 1, 1))),
            """
            r=0.001: 20 started, 20 measure, 1020 drain, 1020 ended, 0 running, measured until 1020
            """,
            ""),
        arguments(
            "users of the second level start over twice the 2 s of the first",
            FakeLoad.of(2_000, closed(1, automatic), closed(4, automatic)),
            """
            c=1: 0 started, 0 stabilize
            4000 c=1: measuring from 4 s (the first answer was there, 2 × median E2E = 4 s)
            c=1: 4000 measure, 24000 cooldown, 24000 drain, 24000 ended, 0 running, measured until 24000
            c=4: 24000 started, 24000 fill, 28000 stabilize
            32000 c=4: filled in 4 s, measuring from 8 s (each user had an answer, 2 × median E2E = 4 s)
            c=4: 32000 measure, 52000 cooldown, 53000 drain, 55000 ended, 0 running, measured until 52000
            """,
            null),
        arguments(
            "answers of 60 s: users start after a quarter of the bound, measuring does not wait",
            FakeLoad.of(60_000, closed(4, automatic.withDrain(15 * SECOND))),
            """
            c=4: 0 started, 0 fill, 10000 stabilize
            20000 c=4: filled in 10 s, measuring from 20 s, the longest wait (0 of 4 users had an answer): measure longer, or set how long to stabilize
            c=4: 20000 measure, 40000 drain, 55000 ended, 4 running, measured until 40000
            """,
            null),
        arguments(
            "what is measured has no more than the drain time, in cooldown and drain together",
            FakeLoad.of(
                19_000, closed(2, new Phases(0L, 0L, 20 * SECOND, true, 15 * SECOND, null))),
            """
            c=2: 0 started, 0 measure, 20000 cooldown, 35000 drain, 35000 ended, 2 running, measured until 20000
            """,
            null),
        arguments(
            "a count is exact: no automatic phase, no cooldown",
            FakeLoad.of(1_000, closed(4, Phases.DEFAULT.withRequests(10))),
            """
            c=4: 0 started, 0 measure, 3000 ended, 0 running, measured until 3000
            """,
            "0 0 0 0 1000 1000 1000 1000 2000 2000 measure"),
        arguments(
            "an open level settles, and cools down until the last measured request is over",
            FakeLoad.of(700, constant(2, Phases.DEFAULT.withMeasure(3_100_000_000L))),
            """
            r=2: 20 started, 20 stabilize
            1420 r=2: measuring from 1.40 s (the first answer was there, 2 × median E2E = 1.40 s)
            r=2: 1420 measure, 4520 cooldown, 4720 drain, 5220 ended, 0 running, measured until 4520
            """,
            "20 520 1020 stabilize, 1520 2020 2520 3020 3520 4020 measure, 4520 cooldown"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scripts")
  void eventsAndIterations(String name, FakeLoad load, String events, @Nullable String iterations) {
    load.run();

    assertThat(byLevel(load.events)).isEqualTo(events.lines().toList());
    if (iterations != null) {
      assertThat(byPhase(load.iterations)).isEqualTo(iterations);
    }
    assertThat(load.lags()).allMatch(lag -> lag == 0);
  }

  /** What happened in a level one after the other is a line that begins with its label. */
  private static List<String> byLevel(List<String> events) {
    List<String> lines = new ArrayList<>();
    for (String event : events) {
      String last = lines.isEmpty() ? "" : lines.get(lines.size() - 1);
      if (!event.matches("\\d+ [^ :]+ .*")) {
        lines.add(event);
        continue;
      }
      String[] words = event.split(" ", 3);
      if (last.startsWith(words[1] + ": ")) {
        lines.set(lines.size() - 1, last + ", " + words[0] + " " + words[2]);
      } else {
        lines.add(words[1] + ": " + words[0] + " " + words[2]);
      }
    }
    return lines;
  }

  /** Instants before the phase that they are in. */
  private static String byPhase(List<String> iterations) {
    Map<String, String> phases = new LinkedHashMap<>();
    for (String iteration : iterations) {
      String[] words = iteration.split(" ", -1);
      phases.merge(words[words.length - 1], words[0], (one, other) -> one + " " + other);
    }
    return phases.entrySet().stream()
        .map(phase -> phase.getValue() + " " + phase.getKey())
        .collect(Collectors.joining(", "));
  }

  /** Every iteration takes this long and fails; this number may. */
  private static FakeLoad failing(long millis, long max, LoadLevel... levels) {
    LoadPlan plan =
        new LoadPlan.Sweep(List.of(levels)).stopWhen(List.of(StopRule.errorCountAbove(max)));
    return new FakeLoad(() -> millis, i -> false, plan).failing();
  }

  /** Where timers are exact, no user is late: in real runs this is a bound of {@code Bench}. */
  @ParameterizedTest
  @ValueSource(doubles = {10, 100, 1_000})
  void everyPoissonArrivalStartsAtItsInstant(double perSecond) {
    Arrivals arrivals = Arrivals.poisson(perSecond, 7);
    FakeLoad load =
        FakeLoad.of(150, new LoadLevel.Open(perSecond, arrivals, seconds(0, 0, 5, 5))).run();

    List<String> planned = new ArrayList<>();
    arrivals.offsetsBefore(5 * SECOND).forEach(offset -> planned.add(20 + offset / 1_000_000 + ""));
    assertThat(load.iterations)
        .extracting(line -> line.substring(0, line.indexOf(' ')))
        .isEqualTo(planned);
    assertThat(load.lags()).hasSameSizeAs(planned).containsOnly(0L);
  }

  /** Iterations of any length follow each other without a gap. */
  @Test
  void closedLevelIsFullAllTheTime() {
    Random random = new Random(1);
    FakeLoad load =
        new FakeLoad(
                () -> 200 + random.nextInt(101), i -> i % 2 == 0, closed(32, seconds(0, 2, 6, 5)))
            .run();

    assertThat(load.maxInFlight).isEqualTo(32);
    assertThat(load.millisInFlight(2_000, 8_000)).isEqualTo(32 * 6_000L);
    assertThat(load.usersStarted())
        .as("those who left are replaced once")
        .isLessThanOrEqualTo(32 + load.iterations.size() / 2);
  }

  @Test
  void openLevelDoesNotWaitForAnswers() {
    FakeLoad load =
        FakeLoad.of(60_000, constant(100, seconds(0, 0, 3, 1)), constant(1, seconds(0, 0, 2, 90)))
            .run();

    assertThat(load.maxInFlight).isEqualTo(302);
    assertThat(load.events).contains("4020 r=100 ended, 300 running, measured until 3020");
    assertThat(load.iterations).filteredOn(line -> line.contains(" r=1 ")).hasSize(2);
  }

  /** Users on several threads together: no iteration too many, none too few. */
  @Test
  void decisionsAreExactUnderContention() throws InterruptedException {
    int requests = 200_000;
    AtomicInteger inFlight = new AtomicInteger();
    AtomicInteger maxInFlight = new AtomicInteger();
    AtomicInteger iterations = new AtomicInteger();
    CountDownLatch over = new CountDownLatch(1);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      PlanDriver[] driver = new PlanDriver[1];
      class User implements LoopingUser {
        void loop(@Nullable RunningLevel ended) {
          RunningLevel current = ended;
          for (RunningLevel next = driver[0].next(this, current);
              next != null;
              next = driver[0].next(this, current)) {
            current = next;
            iterate();
          }
        }

        private void iterate() {
          maxInFlight.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
          iterations.incrementAndGet();
          inFlight.decrementAndGet();
        }

        @Override
        public void resume(RunningLevel current) {
          threads.execute(
              () -> {
                iterate();
                loop(current);
              });
        }

        @Override
        public void end() {}
      }
      PlanDriver.Users users =
          new PlanDriver.Users() {
            @Override
            public void start() {
              threads.execute(() -> new User().loop(null));
            }

            @Override
            public void start(Arrival arrival) {}

            @Override
            public void allStarted() {
              over.countDown();
            }
          };
      driver[0] =
          new PlanDriver(
              new LoadPlan.Sweep(
                      List.of(
                          closed(4, Phases.DEFAULT.withRequests(requests)),
                          closed(3, Phases.DEFAULT.withRequests(requests))))
                  .source(),
              System::nanoTime,
              (task, nanoTime) -> {},
              users,
              new RunningLevel.Listener() {},
              level -> null,
              false);
      driver[0].begin();

      assertThat(over.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(iterations).hasValue(2 * requests);
      assertThat(maxInFlight.get()).isBetween(1, 4);
    } finally {
      threads.shutdownNow();
    }
  }
}
