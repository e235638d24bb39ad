package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.LevelSource;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GoodputSearchTest {
  private static final long SECOND = 1_000_000_000L;

  /** The tried rates if all requests up to that rate meet the SLO, and none above. */
  private static List<Double> tried(LevelSource source, double capacity) {
    List<Double> rates = new ArrayList<>();
    for (LoadLevel level = source.next(null); level != null; ) {
      rates.add(level.offered());
      level = source.next(result(level, level.offered() <= capacity ? 99 : 0));
    }
    return rates;
  }

  private static LevelResult result(LoadLevel level, long metOf100) {
    return FakeLoad.result(level.label(), 100, metOf100, null);
  }

  private static LevelSource search(double startingAt, double precision) {
    return LoadPlan.search(startingAt, precision, 7, Phases.DEFAULT).source();
  }

  private static String conclusion(LevelSource source) {
    return Objects.requireNonNull(source.conclusion()).text();
  }

  @Test
  void doublesThenBisectsThenMeasuresBothEndsAgain() {
    LevelSource source = search(2, 0.05);
    assertThat(tried(source, 21.5))
        .containsExactly(2.0, 4.0, 8.0, 16.0, 32.0, 24.0, 20.0, 22.0, 21.0, 21.5, 21.5, 22.0);
    assertThat(conclusion(source))
        .containsSubsequence("21.5 requests/s", "only 100", "381", "22 fails", "duration ≥ 60");
    Conclusion found = Objects.requireNonNull(source.conclusion());
    assertThat(found.sound()).as("100 of 100 would say 96.3 % at least").isFalse();
    // 99 of 100 by hand: (0.99 + z²/200 − z √(0.0099/100 + z²/40000)) ÷ (1 + z²/100), z = 1.96
    assertThat(found.value()).isCloseTo(0.9455, within(0.0001));
    assertThat(found.threshold()).isEqualTo(0.99);
    assertThat(found.holdsAt()).isEqualTo(21.5);
    assertThat(found.failsAt()).isEqualTo(22);
  }

  private static LevelSource users(double startingAt, double precision) {
    return LoadPlan.searchUsers(startingAt, precision, Phases.DEFAULT).source();
  }

  @Test
  void numbersOfUsersAreIntegers() {
    LevelSource source = users(2, 0.05);
    assertThat(tried(source, 21))
        .as("to 2.5 % of 21, which is less than a user")
        .containsExactly(2.0, 4.0, 8.0, 16.0, 32.0, 24.0, 20.0, 22.0, 21.0, 21.0, 22.0);
    assertThat(conclusion(source))
        .startsWith("Highest number of users that holds the SLO: 21 users (")
        .contains("; 22 fails)");
    assertThat(tried(users(8, 0.05), 0)).containsExactly(8.0, 4.0, 2.0, 1.0);
    assertThat(tried(users(300_000, 0.05), 1e9)).as("a million at most").hasSize(2);
    assertThat(tried(users(64, 0.5), 100)).containsExactly(64.0, 128.0, 96.0, 112.0, 96.0, 112.0);
    assertThatThrownBy(() -> users(2.5, 0.05)).hasMessageContaining("expected an integer");
  }

  private static LevelResult tiers(LoadLevel level, Map<String, Double> capacities) {
    Map<String, LevelResult> tiers = new LinkedHashMap<>();
    capacities.forEach(
        (tier, users) ->
            tiers.put(
                tier,
                FakeLoad.result(level.label(), 600, level.offered() <= users ? 600L : 0, null)));
    return FakeLoad.ofTiers(tiers);
  }

  /** The levels of gold say that silver holds 8 and fails 16, and that batch fails at none. */
  @Test
  void eachTierIsSearchedByTheLevelsOfAllOthers() {
    LevelSource source = users(2, 0.05);
    Map<String, Double> capacities = new LinkedHashMap<>();
    capacities.put("gold", 5.0);
    capacities.put("silver", 7.0);
    capacities.put("same", 7.0);
    capacities.put("batch", 20.0);
    List<String> labels = new ArrayList<>();
    for (LoadLevel level = source.next(null); level != null; ) {
      labels.add(level.label());
      level = source.next(tiers(level, capacities));
    }
    assertThat(labels)
        .containsExactly(
            "c=2",
            "c=4",
            "c=8",
            "c=6",
            "c=5",
            "c=5 again",
            "c=6 again", // gold
            "c=7",
            "c=7 again",
            "c=8 again", // silver, and the same for the next
            "c=16",
            "c=32",
            "c=24",
            "c=20",
            "c=22",
            "c=21",
            "c=20 again",
            "c=21 again");
    assertThat(source.conclusions())
        .extracting(Conclusion::tier, Conclusion::holdsAt, Conclusion::failsAt, Conclusion::sound)
        .containsExactly(
            tuple("gold", 5.0, 6.0, true),
            tuple("silver", 7.0, 8.0, true),
            tuple("same", 7.0, 8.0, true),
            tuple("batch", 20.0, 21.0, true));
  }

  @Test
  void aTierThatNoLoadHoldsEndsNoOther() {
    LevelSource source = users(4, 0.05);
    Map<String, Double> capacities = new LinkedHashMap<>();
    capacities.put("dear", 0.5);
    capacities.put("gold", 5.0);
    for (LoadLevel level = source.next(null); level != null; ) {
      level = source.next(tiers(level, capacities));
    }
    assertThat(source.conclusions())
        .extracting(Conclusion::tier, Conclusion::holdsAt, Conclusion::failsAt)
        .containsExactly(tuple("dear", null, 1.0), tuple("gold", 5.0, 6.0));
    assertThat(source.conclusions().get(0).text())
        .isEqualTo("No number of users holds the SLO, not even 1 user");
  }

  @Test
  void closedLevelsHaveTheLabelsOfASweep() {
    LevelSource source = users(1, 0.5);
    List<LoadLevel> levels = new ArrayList<>();
    for (LoadLevel level = source.next(null); level != null; ) {
      levels.add(level);
      level = source.next(result(level, level.offered() <= 2 ? 99 : 0));
    }
    assertThat(levels)
        .extracting(LoadLevel::label)
        .containsExactly("c=1", "c=2", "c=4", "c=3", "c=2 again", "c=3 again");
    assertThat(levels.get(2)).isEqualTo(new LoadLevel.Closed(4, Phases.DEFAULT));
  }

  /** By hand: 2, 4 hold, 8 fails; then 6, 7, 7.5, 7.75, 7.625 …, and both ends again. */
  @Test
  void estimatesRemainingLevels() {
    LevelSource source = search(2, 0.5);
    LoadLevel level = source.next(null);
    List<Integer> left = new ArrayList<>();
    while (level != null) {
      left.add(source.remainingLevels());
      level = source.next(result(level, level.offered() <= 7 ? 99 : 0));
    }
    assertThat(left).containsExactly(5, 5, 5, 3, 2, 1, 0);
  }

  @Test
  void halvesIfTheFirstLevelFails() {
    assertThat(tried(search(16, 0.3), 3))
        .containsExactly(16.0, 8.0, 4.0, 2.0, 3.0, 3.5, 3.25, 3.0, 3.25);
  }

  /** A search after these levels, each of requests and of those that missed the SLO. */
  private static LevelSource after(long[]... levels) {
    LevelSource source = search(2, 0.5);
    LoadLevel level = Objects.requireNonNull(source.next(null));
    for (long[] requests : levels) {
      level = source.next(missed(Objects.requireNonNull(level), requests[0], requests[1]));
    }
    return source;
  }

  private static LevelResult missed(LoadLevel level, long requests, long missed) {
    return FakeLoad.result(level.label(), requests, requests - missed, null);
  }

  private static boolean extendsMeasuring(LevelSource source, long requests, long missed) {
    return source.extendsMeasuring(missed(LoadLevel.Open.steady(1), requests, missed));
  }

  /** Wilson's interval of 600 requests with 1, 6 and 13 misses: 99.06, 97.8 to 99.5, 98.7 %. */
  @Test
  void extendsUndecidedLevels() {
    long[] holds = {600, 1};
    long[] fails = {600, 30};

    assertThat(extendsMeasuring(after(holds, holds), 600, 6)).as("doubling, looks good").isFalse();
    assertThat(extendsMeasuring(after(holds, holds), 600, 7)).as("doubling, looks bad").isTrue();
    assertThat(extendsMeasuring(after(holds, holds), 600, 13)).as("doubling, is bad").isFalse();
    assertThat(extendsMeasuring(after(holds, fails), 600, 6)).as("bisecting, undecided").isTrue();
    assertThat(extendsMeasuring(after(holds, fails), 600, 1)).as("bisecting, holds").isFalse();
    assertThat(extendsMeasuring(after(holds, fails), 600, 13)).as("bisecting, fails").isFalse();
    // 2 holds, 4 fails, 3 holds, 3.5 fails: the bracket is narrow enough.
    long[][] narrow = {holds, fails, holds, fails};
    assertThat(extendsMeasuring(after(narrow), 600, 1)).as("measured again, holds").isTrue();
    assertThat(extendsMeasuring(after(narrow), 600, 6)).as("measured again, undecided").isTrue();
    assertThat(extendsMeasuring(after(narrow), 600, 13)).as("measured again, fails").isFalse();
  }

  @Test
  void extendsALevelToAtMostEightTimesItsLength() {
    LevelSource source = after(new long[] {600, 1}, new long[] {600, 30});
    for (int round = 2; round <= 8; round++) {
      assertThat(extendsMeasuring(source, 600, 6)).isTrue();
    }
    assertThat(extendsMeasuring(source, 600, 6)).isFalse();
  }

  /**
   * At 150 per second 1 % miss, exactly the limit, so chance decides. At lower rates none miss, at
   * higher rates all. 600 requests without a miss prove 99 %.
   */
  private static FakeLoad driven(Phases phases) {
    return driven(LoadPlan.search(100, 0.5, 7, phases));
  }

  private static FakeLoad driven(LoadPlan plan) {
    return new FakeLoad(() -> 100, i -> false, plan)
        .missing(rate -> rate < 150 ? 0 : rate == 150 ? 0.01 : 1)
        .run();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void undecidedLevelIsExtended(boolean cooldown) {
    FakeLoad load = driven(new Phases(0, SECOND, 6 * SECOND, SECOND, null).withCooldown(cooldown));

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
    FakeLoad load = driven(new Phases(0, SECOND, 0, SECOND, 600));

    assertThat(
            List.of("r=100", "r=200", "r=150", "r=175", "r=150 again", "r=175 again").stream()
                .map(load::measured))
        .containsExactly(600L, 600L, 4_800L, 600L, 4_800L, 600L);
  }

  /** Each user has ten answers per second. */
  @Test
  void undecidedClosedLevelsAreExtended() {
    FakeLoad byTime =
        driven(LoadPlan.searchUsers(100, 0.5, new Phases(0, 0, SECOND, SECOND, null)));
    assertThat(measuredMillis(byTime))
        .as("c=100, 200, 150, 175, 150 again, 175 again")
        .containsExactly(1_000L, 1_000L, 8_000L, 1_000L, 8_000L, 1_000L);
    FakeLoad byCount = driven(LoadPlan.searchUsers(100, 0.5, new Phases(0, 0, 0, SECOND, 600)));
    assertThat(
            List.of("c=100", "c=200", "c=150", "c=175", "c=150 again", "c=175 again").stream()
                .map(byCount::measured))
        .containsExactly(600L, 600L, 4_800L, 600L, 4_800L, 600L);
  }

  @Test
  void oneMissInAShortLevelDoesNotFailIt() {
    LevelSource source = search(1, 0.05);
    LoadLevel level = Objects.requireNonNull(source.next(null));

    LoadLevel next = Objects.requireNonNull(source.next(missed(level, 30, 1)));
    assertThat(next.offered()).as("29 of 30 may be 99 %").isEqualTo(2);
    next = Objects.requireNonNull(source.next(missed(next, 60, 6)));
    assertThat(next.offered()).as("54 of 60 may not").isEqualTo(1.5);
  }

  @Test
  void secondMeasurementReplacesTheFirst() {
    long[] holds = {600, 1};
    long[] fails = {600, 30};
    // 2 holds, 4 fails, 3 holds, 3.5 fails, 3 again fails: 2 to 3 is to be narrowed.
    LevelSource source = search(2, 0.5);
    List<String> labels = new ArrayList<>();
    LoadLevel level = source.next(null);
    for (long[] requests :
        List.of(holds, fails, holds, fails, fails, holds, fails, holds, fails, fails)) {
      if (level == null) {
        break;
      }
      labels.add(level.label());
      level = source.next(missed(level, requests[0], requests[1]));
    }

    assertThat(labels)
        .containsExactly(
            "r=2", "r=4", "r=3", "r=3.5", "r=3 again", "r=2.5", "r=2.5 again", "r=2 again");
    Conclusion found = Objects.requireNonNull(source.conclusion());
    assertThat(found.sound()).isTrue();
    assertThat(found.text()).containsSubsequence("2 requests/s (2.5 fails)", "599 of 600 requests");
  }

  /** All meet the SLO at every rate, and from 6/s on they would not for much longer. */
  @Test
  void aRateWhoseQueueGrowsDoesNotHold() {
    LevelSource source = search(2, 0.5);
    for (LoadLevel level = source.next(null); level != null; ) {
      Queue queue = new Queue(level.offered() >= 6, false, 0, 41);
      level = source.next(FakeLoad.result(level.label(), 600, 600L, queue));
    }
    Conclusion found = Objects.requireNonNull(source.conclusion());
    assertThat(found.sound()).isTrue();
    assertThat(found.text())
        .containsSubsequence("5 requests/s (6 fails: the queue grew to 41)", "600 of 600");
  }

  @Test
  void requestsHeldBackByTheGeneratorAreNotTheServersQueue() {
    LevelSource source = search(2, 0.5);
    for (LoadLevel level = source.next(null); level != null; ) {
      level = source.next(FakeLoad.result(level.label(), 0, 0L, new Queue(true, true, 0, 41)));
    }
    assertThat(conclusion(source))
        .startsWith("No rate holds the SLO, not even 0.000")
        .containsSubsequence("41 requests waited in the client", "not by the server");
  }

  @ParameterizedTest
  @CsvSource({"1,0.05,100", "50,0.01,0.37", "3,0.02,12345", "2,0.5,2", "0.001,0.05,7.77"})
  void findsTheCapacityToThePrecision(double startingAt, double precision, double capacity) {
    List<Double> rates = tried(search(startingAt, precision), capacity);
    double best = rates.stream().filter(r -> r <= capacity).max(Double::compare).orElseThrow();
    double worst = rates.stream().filter(r -> r > capacity).min(Double::compare).orElseThrow();
    assertThat(best).isLessThanOrEqualTo(capacity);
    assertThat(worst - best).isLessThanOrEqualTo(precision / 2 * best + 1e-9);
    assertThat(rates.stream().distinct()).hasSizeBetween(rates.size() - 2, 40);
  }

  @Test
  void endsIfNoRateFailsOrNoRateHolds() {
    LevelSource endless = search(0.01, 0.05);
    assertThat(tried(endless, 1e9)).hasSize(21);
    assertThat(conclusion(endless)).startsWith("Even the highest rate tried holds the SLO: 10");
    assertThat(tried(search(3e5, 0.05), 1e9)).as("1.2e6 is not a rate").containsExactly(3e5, 6e5);
    LevelSource hopeless = search(1, 0.05);
    assertThat(tried(hopeless, 0)).hasSize(21);
    assertThat(conclusion(hopeless)).startsWith("No rate holds the SLO, not even ");
  }

  @Test
  void withoutSloItFailsWithAMessage() {
    LevelSource source = search(2, 0.05);
    assertThat(source.next(null)).isNotNull();
    assertThat(source.next(FakeLoad.result("r=2", 100, null, null))).isNull();
    assertThat(conclusion(source))
        .containsSubsequence("No highest rate found", "no SLO", ".slo(", "llm.slo");
  }

  /** At 0.02 requests/s for 30 s that is 55 of 100 levels; at 2 it is a server that is stuck. */
  @Test
  void levelWithoutArrivalsByChanceIsExtended() {
    LevelSource rare = search(0.02, 0.05);
    LoadLevel level = Objects.requireNonNull(rare.next(null));
    LevelResult none = FakeLoad.result(level.label(), 0, null, null);
    for (int round = 1; round < GoodputSearch.MAX_ROUNDS; round++) {
      assertThat(rare.extendsMeasuring(none)).isTrue();
    }
    assertThat(rare.extendsMeasuring(none)).isFalse();
    assertThat(rare.next(none)).isNull();
    assertThat(conclusion(rare))
        .startsWith("No highest rate found: r=0.02 had no requests to judge");

    LevelSource often = search(2, 0.05);
    assertThat(often.next(null)).isNotNull();
    assertThat(often.extendsMeasuring(none)).isFalse();

    LevelSource one = users(1, 0.05);
    assertThat(one.next(null)).isNotNull();
    assertThat(one.extendsMeasuring(none)).as("its only user still waits").isTrue();
  }

  @Test
  void arrivalsAreNewAtEachLevelAndTheSameForASeed() {
    List<LoadLevel> first = new ArrayList<>();
    for (LevelSource source : List.of(search(2, 0.05), search(2, 0.05))) {
      LoadLevel one = Objects.requireNonNull(source.next(null));
      first.add(one);
      LoadLevel two = Objects.requireNonNull(source.next(result(one, 100)));
      assertThat(((LoadLevel.Open) two).arrivals()).isNotEqualTo(Arrivals.poisson(4, seed(one)));
    }
    assertThat(first.get(0)).isEqualTo(first.get(1));
  }

  private static long seed(LoadLevel level) {
    return ((Arrivals.Steady) ((LoadLevel.Open) level).arrivals()).gaps().seed();
  }

  @Test
  void rejectsInvalidPrecision() {
    assertThatThrownBy(() -> search(1, 0)).hasMessageContaining("precision(0.0) cannot be met");
    assertThatThrownBy(() -> search(0, 0.1)).hasMessageContaining("Rate 0.0 is out of range");
  }
}
