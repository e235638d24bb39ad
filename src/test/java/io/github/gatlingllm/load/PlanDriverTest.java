package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.load.LoadPlan.LevelSource;
import io.github.gatlingllm.load.PlanDriver.LoopingUser;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlanDriverTest {
  private static final long SECOND = 1_000_000_000L;

  private @Nullable FakeLoad load;

  @AfterEach
  void everyPlanEndsWithAllUsersEnded() {
    if (load != null) {
      assertThat(load.allUsersStarted).isTrue();
      assertThat(load.usersPresent).isZero();
    }
  }

  private FakeLoad run(FakeLoad load) {
    this.load = load;
    return load.run();
  }

  private static final LevelSource NO_LEVELS =
      new LevelSource() {
        @Override
        public @Nullable LoadLevel next(@Nullable LevelResult before) {
          return null;
        }

        @Override
        public boolean needsResults() {
          return false;
        }

        @Override
        public @Nullable Conclusion conclusion() {
          return null;
        }
      };

  private static Phases seconds(long fill, long stabilize, long measure, long drain) {
    return new Phases(fill * SECOND, stabilize * SECOND, measure * SECOND, drain * SECOND, null);
  }

  private static LoadLevel closed(int users, Phases phases) {
    return new LoadLevel.Closed(users, phases);
  }

  private static LoadLevel constant(double perSecond, Phases phases) {
    return new LoadLevel.Open(perSecond, Arrivals.constant(perSecond), phases);
  }

  @Test
  void closedLevelStaysFull() {
    FakeLoad load = run(FakeLoad.of(1_000, closed(3, seconds(0, 0, 10, 5))));

    assertThat(load.events)
        .containsExactly(
            "0 c=3 started",
            "0 c=3 measure",
            "10000 c=3 drain",
            "10000 c=3 ended, 0 running, measured until 10000");
    assertThat(load.iterations).hasSize(30).allMatch(line -> line.endsWith(" measure"));
    assertThat(load.maxInFlight).isEqualTo(3);
    assertThat(load.usersStarted).isEqualTo(3);
  }

  @Test
  void phasesFollowEachOther() {
    FakeLoad load = run(FakeLoad.of(4_000, closed(3, seconds(3, 2, 5, 5))));

    assertThat(load.events)
        .containsExactly(
            "0 c=3 started",
            "0 c=3 fill",
            "3000 c=3 stabilize",
            "5000 c=3 measure",
            "10000 c=3 drain",
            "13000 c=3 ended, 0 running, measured until 10000");
    assertThat(load.iterations)
        .containsExactly(
            "0 c=3 fill",
            "1000 c=3 fill",
            "2000 c=3 fill",
            "4000 c=3 stabilize",
            "5000 c=3 measure",
            "6000 c=3 measure",
            "8000 c=3 measure",
            "9000 c=3 measure");
  }

  @Test
  void nextLevelStartsWhenNothingIsInFlight() {
    FakeLoad load =
        run(FakeLoad.of(3_000, closed(1, seconds(0, 0, 4, 5)), closed(2, seconds(0, 0, 4, 5))));

    assertThat(load.events)
        .containsExactly(
            "0 c=1 started",
            "0 c=1 measure",
            "4000 c=1 drain",
            "6000 c=1 ended, 0 running, measured until 4000",
            "6000 c=2 started",
            "6000 c=2 measure",
            "10000 c=2 drain",
            "12000 c=2 ended, 0 running, measured until 10000");
    assertThat(load.usersStarted).as("users live on").isEqualTo(2);
    assertThat(load.iterations)
        .containsExactly(
            "0 c=1 measure",
            "3000 c=1 measure",
            "6000 c=2 measure",
            "6000 c=2 measure",
            "9000 c=2 measure",
            "9000 c=2 measure");
  }

  @Test
  void smallerLevelLetsUsersWait() {
    FakeLoad load =
        run(
            FakeLoad.of(
                1_000,
                closed(2, seconds(0, 0, 1, 5)),
                closed(1, seconds(0, 0, 1, 5)),
                closed(3, seconds(0, 0, 1, 5))));

    assertThat(load.usersStarted).isEqualTo(3);
    assertThat(load.iterations).hasSize(2 + 1 + 3);
  }

  @Test
  void drainTimeBoundsTheWait() {
    FakeLoad load =
        run(FakeLoad.of(9_000, closed(2, seconds(0, 0, 4, 1)), closed(1, seconds(0, 0, 5, 10))));

    assertThat(load.events)
        .containsExactly(
            "0 c=2 started",
            "0 c=2 measure",
            "4000 c=2 drain",
            "5000 c=2 ended, 2 running, measured until 4000",
            "5000 c=1 started",
            "5000 c=1 measure",
            "10000 c=1 drain",
            "14000 c=1 ended, 0 running, measured until 10000");
    assertThat(load.iterations)
        .as("late users take no seat that is taken")
        .containsExactly("0 c=2 measure", "0 c=2 measure", "5000 c=1 measure");
  }

  @Test
  void requestsBoundALevel() {
    FakeLoad load =
        run(
            FakeLoad.of(
                1_000, closed(2, Phases.DEFAULT.withStabilize(2 * SECOND).withRequests(5))));

    assertThat(load.events)
        .containsExactly(
            "0 c=2 started",
            "0 c=2 stabilize",
            "2000 c=2 measure",
            "5000 c=2 ended, 0 running, measured until 5000");
    assertThat(load.iterations).filteredOn(line -> line.endsWith(" measure")).hasSize(5);
    assertThat(load.iterations).filteredOn(line -> line.endsWith(" stabilize")).hasSize(4);
  }

  @Test
  void hangingRequestsAreDrainedForTheDrainTime() {
    FakeLoad load =
        run(FakeLoad.of(60_000, closed(2, Phases.DEFAULT.withRequests(2).withDrain(7 * SECOND))));

    assertThat(load.events).endsWith("7000 c=2 ended, 2 running, measured until 7000");
  }

  @Test
  void userThatExitsIsReplacedAtOnce() {
    FakeLoad load =
        run(
            new FakeLoad(
                () -> 1_000, iteration -> iteration % 3 == 0, closed(2, seconds(0, 0, 6, 1))));

    assertThat(load.iterations).hasSize(12);
    assertThat(load.usersStarted).isEqualTo(2 + 3);
    assertThat(load.maxInFlight).isEqualTo(2);
  }

  @Test
  void trialStartsWhenTheSlowestIterationOfThePreviousHasEnded() {
    Iterator<Long> millis = List.of(10L, 20L, 30L, 5L, 5L, 50L, 7L, 7L).iterator();
    FakeLoad load =
        run(
            new FakeLoad(
                millis::next,
                iteration -> iteration == 2,
                new LoadLevel.Batch(3, 2, SECOND),
                new LoadLevel.Batch(2, 1, SECOND)));

    assertThat(load.events)
        .containsExactly(
            "0 b=3 started",
            "0 b=3 measure",
            "80 b=3 ended, 0 running, measured until 80",
            "80 b=2 started",
            "80 b=2 measure",
            "87 b=2 ended, 0 running, measured until 87");
    assertThat(load.iterations)
        .containsExactly(
            "0 b=3 measure",
            "0 b=3 measure",
            "0 b=3 measure",
            "30 b=3 measure",
            "30 b=3 measure",
            "30 b=3 measure",
            "80 b=2 measure",
            "80 b=2 measure");
    assertThat(load.usersStarted).as("one exits and is replaced").isEqualTo(4);
  }

  /** Every iteration takes a second and fails; the third failure of the first level ends it. */
  @Test
  void tooManyErrorsEndAClosedLevelAtOnce() {
    LoadPlan plan =
        new LoadPlan.Sweep(
                List.of(closed(2, seconds(1, 1, 60, 5)), closed(4, seconds(0, 0, 60, 5))))
            .stopWhen(List.of(StopRule.errorCountAbove(6)));
    FakeLoad load = run(new FakeLoad(() -> 1_000, i -> false, plan).failing());

    assertThat(load.events)
        .containsExactly(
            "0 c=2 started",
            "0 c=2 fill",
            "1000 c=2 stabilize",
            "2000 c=2 measure",
            "4000 c=2 drain",
            "4500 c=2 ended, 0 running, measured until 4000",
            "stopped early during c=2, 1 level left out: 8 requests failed, more than 6");
    assertThat(load.iterations)
        .as("the seventh to end is the last but the one beside it")
        .hasSize(8);
    assertThat(load.usersPresent).isZero();
  }

  /**
   * Ten per second, each of which fails after 0.35 s; users scheduled for later arrivals do not
   * start.
   */
  @Test
  void tooManyErrorsEndAnOpenLevelAtOnce() {
    LoadLevel level = new LoadLevel.Open(10, Arrivals.constant(10), seconds(0, 0, 60, 5));
    LoadPlan plan =
        new LoadPlan.Sweep(List.of(level)).stopWhen(List.of(StopRule.errorCountAbove(0)));
    FakeLoad load = run(new FakeLoad(() -> 350, i -> false, plan).failing());

    assertThat(load.iterations).hasSize(4);
    assertThat(load.usersStarted).as("users for a second to come were there").isGreaterThan(8);
    assertThat(load.usersPresent).isZero();
    assertThat(load.events)
        .last()
        .isEqualTo("stopped early during r=10: 4 requests failed, more than 0");
  }

  /** Five requests in 10 s at most: with 1 s each they come first, with 4 s each the time does. */
  @Test
  void aCountAndATimeBoundALevelWhicheverComesFirst() {
    Phases both = seconds(0, 0, 10, 60).withRequests(5, 10 * SECOND);
    FakeLoad count = run(FakeLoad.of(1_000, closed(1, both)));
    assertThat(count.measured("c=1")).isEqualTo(5);
    assertThat(count.events).last().isEqualTo("5000 c=1 ended, 0 running, measured until 5000");

    FakeLoad time = run(FakeLoad.of(4_000, closed(1, both)));
    assertThat(time.measured("c=1")).isEqualTo(3);
    assertThat(time.events).last().isEqualTo("12000 c=1 ended, 0 running, measured until 10000");

    FakeLoad open =
        run(
            FakeLoad.of(
                100,
                new LoadLevel.Open(1, Arrivals.constant(1), both.withRequests(50, 10 * SECOND))));
    assertThat(open.measured("r=1")).as("one per second").isBetween(9L, 10L);
  }

  /** No rule is set: the level ends all the same, and no further one is offered. */
  @Test
  void serverThatIsDownEndsThePlan() {
    LoadPlan plan =
        new LoadPlan.Sweep(
            List.of(
                closed(2, seconds(0, 0, 600, 5)),
                new LoadLevel.Batch(2, 5, 0),
                closed(4, seconds(0, 0, 60, 5))));
    FakeLoad load = run(new FakeLoad(() -> 1_000, i -> false, plan).failing());

    assertThat(load.events)
        .last()
        .isEqualTo(
            "stopped early during c=2, 2 levels left out: 102 requests failed one after the other"
                + " and none succeeded between (last error: HTTP 500: broken)");
    assertThat(load.usersPresent).isZero();
  }

  /** Nothing was measured: the level was still stabilizing. */
  @Test
  void tooManyErrorsEndALevelBeforeItMeasures() {
    LoadPlan plan =
        new LoadPlan.Sweep(List.of(closed(1, seconds(0, 10, 60, 5))))
            .stopWhen(List.of(StopRule.errorCountAbove(1)));
    FakeLoad load = run(new FakeLoad(() -> 1_000, i -> false, plan).failing());

    assertThat(load.events)
        .containsExactly(
            "0 c=1 started",
            "0 c=1 stabilize",
            "2000 c=1 drain",
            "2000 c=1 ended, 0 running, measured until 2000",
            "stopped early during c=1: 2 requests failed, more than 1");
  }

  /**
   * At 150 per second 1 % miss, exactly the limit, so chance decides. At lower rates none miss, at
   * higher rates all. 600 requests without a miss prove 99 %.
   */
  private FakeLoad search(Phases phases) {
    LoadPlan plan = new GoodputSearch(100, 0.5, 7, phases);
    return run(
        new FakeLoad(() -> 100, i -> false, plan)
            .missing(rate -> rate < 150 ? 0 : rate == 150 ? 0.01 : 1));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void undecidedLevelIsExtended(boolean cooldown) {
    Phases phases = new Phases(0, SECOND, 6 * SECOND, SECOND, null).withCooldown(cooldown);
    FakeLoad load = search(phases);

    assertThat(load.events)
        .filteredOn(event -> event.contains("measured until") || event.endsWith(" measure"))
        .extracting(event -> event.replaceFirst("^\\d+ ", "").replaceFirst(" running.*", ""))
        .containsExactly(
            "r=100 measure", "r=100 ended, 0",
            "r=200 measure", "r=200 ended, 0",
            "r=150 measure", "r=150 ended, 0",
            "r=175 measure", "r=175 ended, 0",
            "r=150 again measure", "r=150 again ended, 0",
            "r=175 again measure", "r=175 again ended, 0");
    assertThat(measuredMillis(load))
        .as("undecided: eight times as long; again: too; fails for certain: once")
        .containsExactly(6_000L, 6_000L, 48_000L, 6_000L, 48_000L, 6_000L);
    assertThat(load.measured("r=150") / 150.0).as("nothing is left out").isBetween(46.0, 50.0);
  }

  private static List<Long> measuredMillis(FakeLoad load) {
    List<Long> lengths = new ArrayList<>();
    long from = 0;
    for (String event : load.events) {
      if (event.endsWith(" measure")) {
        from = Long.parseLong(event.substring(0, event.indexOf(' ')));
      } else if (event.contains("measured until ")) {
        lengths.add(Long.parseLong(event.substring(event.lastIndexOf(' ') + 1)) - from);
      }
    }
    return lengths;
  }

  @Test
  void levelBoundedByRequestsIsExtendedByRequests() {
    FakeLoad load = search(new Phases(0, SECOND, 0, SECOND, 600));

    assertThat(
            List.of("r=100", "r=200", "r=150", "r=175", "r=150 again", "r=175 again").stream()
                .map(load::measured))
        .containsExactly(600L, 600L, 4_800L, 600L, 4_800L, 600L);
  }

  @Test
  void openLevelStartsUsersAtTheirInstants() {
    FakeLoad load = run(FakeLoad.of(700, constant(2, seconds(0, 1, 2, 5))));

    assertThat(load.events)
        .containsExactly(
            "20 r=2 started",
            "20 r=2 stabilize",
            "1020 r=2 measure",
            "3020 r=2 drain",
            "3220 r=2 ended, 0 running, measured until 3020");
    assertThat(load.iterations)
        .containsExactly(
            "20 r=2 stabilize",
            "520 r=2 stabilize",
            "1020 r=2 measure",
            "1520 r=2 measure",
            "2020 r=2 measure",
            "2520 r=2 measure");
    assertThat(load.lags).hasSize(6).containsOnly(0L);
  }

  /** Where timers are exact, no user is late: in real runs this is a bound of {@code Bench}. */
  @ParameterizedTest
  @ValueSource(doubles = {10, 100, 1_000})
  void everyPoissonArrivalStartsAtItsInstant(double perSecond) {
    Arrivals arrivals = Arrivals.poisson(perSecond, 7);
    FakeLoad load =
        run(FakeLoad.of(150, new LoadLevel.Open(perSecond, arrivals, seconds(0, 0, 5, 5))));

    List<String> planned = new ArrayList<>();
    arrivals
        .offsetsBefore(5 * SECOND)
        .forEachRemaining((long offset) -> planned.add(20 + offset / 1_000_000 + ""));
    assertThat(load.iterations)
        .extracting(line -> line.substring(0, line.indexOf(' ')))
        .isEqualTo(planned);
    assertThat(load.lags).hasSameSizeAs(planned).containsOnly(0L);
  }

  /** Iterations of any length follow each other without a gap. */
  @Test
  void closedLevelIsFullAllTheTime() {
    Random random = new Random(1);
    FakeLoad load =
        run(
            new FakeLoad(
                () -> 200 + random.nextInt(101), i -> i % 2 == 0, closed(32, seconds(0, 2, 6, 5))));

    assertThat(load.maxInFlight).isEqualTo(32);
    assertThat(load.millisInFlight(2_000, 8_000)).isEqualTo(32 * 6_000L);
  }

  @Test
  void openLevelDoesNotWaitForAnswers() {
    FakeLoad load =
        run(
            FakeLoad.of(
                60_000, constant(100, seconds(0, 0, 3, 1)), constant(1, seconds(0, 0, 2, 90))));

    assertThat(load.maxInFlight).isEqualTo(302);
    assertThat(load.events).contains("4020 r=100 ended, 300 running, measured until 3020");
    assertThat(load.iterations).filteredOn(line -> line.contains(" r=1 ")).hasSize(2);
  }

  @Test
  void requestsBoundAnOpenLevel() {
    FakeLoad load = run(FakeLoad.of(700, constant(2, Phases.DEFAULT.withRequests(4))));

    assertThat(load.iterations).hasSize(4);
    assertThat(load.events).endsWith("2220 r=2 ended, 0 running, measured until 2220");
  }

  @Test
  void openLevelWithoutArrivalsEnds() {
    FakeLoad load =
        run(
            FakeLoad.of(
                1, new LoadLevel.Open(0.001, Arrivals.poisson(0.001, 5), seconds(0, 0, 1, 1))));

    assertThat(load.iterations).isEmpty();
    assertThat(load.events).endsWith("1020 r=0.001 ended, 0 running, measured until 1020");
  }

  @Test
  void levelsAreRequestedOneByOne() {
    AtomicInteger ended = new AtomicInteger();
    PlanDriver.Users nobody =
        new PlanDriver.Users() {
          @Override
          public void start() {}

          @Override
          public void start(Arrival arrival) {}

          @Override
          public void allStarted() {
            ended.incrementAndGet();
          }
        };

    new PlanDriver(
            NO_LEVELS,
            () -> 0,
            (nanoTime, task) -> {},
            nobody,
            new RunningLevel.Listener() {},
            level -> null)
        .begin();

    assertThat(ended).hasValue(1);
  }

  /** Users on several threads at once: no iteration too many, none too few. */
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
              (nanoTime, task) -> {},
              users,
              new RunningLevel.Listener() {},
              level -> null);
      driver[0].begin();

      assertThat(over.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(iterations).hasValue(2 * requests);
      assertThat(maxInFlight.get()).isBetween(1, 4);
    } finally {
      threads.shutdownNow();
    }
  }
}
