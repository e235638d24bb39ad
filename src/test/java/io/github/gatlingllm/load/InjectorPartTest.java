package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.data.Percentage.withPercentage;

import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.load.LoadLevel.Closed;
import io.github.gatlingllm.load.LoadLevel.Open;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.Sweep;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The parts of all injectors add up to the full load, without overlap. */
class InjectorPartTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final InjectorShare ALONE = new InjectorShare(1, 1);
  private static final Phases PHASES = new Phases(0, SECOND, 2 * SECOND, SECOND, null);

  /** An arrival with all that may differ from one to the other. */
  private record Numbered(int level, long number, Planned planned) {}

  private static List<Sweep> parts(Sweep undivided, int count) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(index -> undivided.part(new InjectorShare(index, count)))
        .toList();
  }

  private static List<Numbered> arrivals(Sweep plan) {
    List<Numbered> all = new ArrayList<>();
    for (int i = 0; i < plan.levels().size(); i++) {
      Open level = (Open) plan.levels().get(i);
      Arrival.Numbers numbers = Objects.requireNonNull(level.numbers());
      long end = level.longestNanos() - level.phases().drainNanos();
      int each = i;
      level
          .schedule()
          .takeWhile(next -> next.offsetNanos() < end)
          .forEach(next -> all.add(new Numbered(each, numbers.of(next), next)));
    }
    return all;
  }

  @Provide
  Arbitrary<Open> levels() {
    Arbitrary<Gaps> gaps = Arbitraries.of(Gaps.EQUAL, Gaps.poisson(7), Gaps.gamma(2.5, 7));
    Arbitrary<Double> rates = Arbitraries.doubles().between(0.1, 60);
    Arbitrary<Open> steady =
        Combinators.combine(gaps, rates)
            .as((each, rate) -> new Open(rate, new Arrivals.Steady(rate, each), PHASES));
    Arbitrary<Open> curve =
        Combinators.combine(gaps, rates)
            .as(
                (each, rate) ->
                    Open.curve(nanos -> rate * nanos / SECOND, 3 * SECOND)
                        .with(each, PHASES.withStabilize(0).withMeasure(3 * SECOND)));
    Arbitrary<Open> counted =
        Combinators.combine(gaps, rates, Arbitraries.integers().between(1, 90))
            .as(
                (each, rate, requests) ->
                    new Open(rate, new Arrivals.Steady(rate, each), PHASES.withRequests(requests)));
    return Arbitraries.oneOf(List.of(steady, curve, counted));
  }

  @Property(tries = 150)
  void arrivalsOfAllInjectorsAreThoseOfOneToTheNanosecond(
      @ForAll("levels") Open first,
      @ForAll("levels") Open second,
      @ForAll @IntRange(min = 2, max = 9) int count) {
    Sweep undivided =
        new Sweep(List.of(first, new Open("other", 1, second.arrivals(), second.phases())));
    List<Sweep> parts = parts(undivided, count);

    List<Numbered> union = new ArrayList<>();
    parts.forEach(part -> union.addAll(arrivals(part)));
    union.sort(Comparator.comparingLong(Numbered::number));

    assertThat(union).isEqualTo(arrivals(undivided.part(ALONE)));
    assertThat(
            parts.stream().map(part -> part.startOffsets(new InjectorShare(1, count))).distinct())
        .hasSize(1);
    for (int i = 0; i < 2; i++) {
      int at = i;
      assertThat(parts.stream().mapToDouble(part -> part.levels().get(at).offered()).sum())
          .isCloseTo(undivided.levels().get(i).offered(), withPercentage(1e-9));
      assertThat(parts)
          .allMatch(p -> p.levels().get(at).label().equals(undivided.levels().get(at).label()));
    }
  }

  @Property(tries = 150)
  void usersAndRequestsOfAllInjectorsAddUp(
      @ForAll @Size(min = 1, max = 4) Set<@IntRange(min = 1, max = 70) Integer> users,
      @ForAll @IntRange(min = 1, max = 500) int requests,
      @ForAll @IntRange(min = 2, max = 9) int count) {
    Sweep undivided =
        new Sweep(
            users.stream()
                .<LoadLevel>map(n -> new Closed(n, PHASES.withRequests(requests, SECOND)))
                .toList());
    List<Sweep> parts = parts(undivided, count);
    for (int i = 0; i < users.size(); i++) {
      int at = i;
      List<Closed> level = parts.stream().map(part -> (Closed) part.levels().get(at)).toList();
      LoadLevel all = undivided.levels().get(i);

      assertThat(level).allMatch(part -> part.label().equals(all.label()));
      assertThat(level.stream().mapToDouble(Closed::offered).sum()).isEqualTo(all.offered());
      assertThat(
              level.stream()
                  .mapToInt(part -> Objects.requireNonNull(part.phases().requests()))
                  .sum())
          .isEqualTo(requests);
      assertThat(level)
          .allMatch(part -> part.users() > 0 || Objects.equals(part.phases().requests(), 0));
      assertThat(level.stream().mapToInt(Closed::users).max().orElseThrow())
          .isLessThanOrEqualTo(level.stream().mapToInt(Closed::users).min().orElseThrow() + 1);
    }
  }

  @Property(tries = 100)
  void allInjectorsTogetherDrawEachIndexOnce(@ForAll @IntRange(min = 1, max = 9) int count) {
    Set<Long> taken = new HashSet<>();
    for (int index = 1; index <= count; index++) {
      DrawOrder order = new DrawOrder(new InjectorShare(index, count));
      IntStream.range(0, 20).forEach(i -> assertThat(taken.add(order.next(null))).isTrue());
    }
    assertThat(taken).contains(0L, 20L * count - 1).hasSize(20 * count);
  }

  @Test
  void arrivalNumberDeterminesTheDraw() {
    Sweep plan = Sweep.open(List.of(Open.steady(20)), Gaps.poisson(0), 3, PHASES);
    Open level = (Open) plan.part(new InjectorShare(2, 3)).levels().get(0);
    Arrival.Numbers numbers = Objects.requireNonNull(level.numbers());
    RunningLevel running = new RunningLevel(level, 0, true, false, () -> {});
    DrawOrder order = new DrawOrder(new InjectorShare(2, 3));
    DrawOrder others = new DrawOrder(new InjectorShare(2, 3));
    Iterator<Planned> schedule = level.schedule().iterator();
    Arrival earlier = new Arrival(running, schedule.next(), 0);
    Arrival later = new Arrival(running, schedule.next(), 0);

    assertThat(order.next(later)).isEqualTo(4);
    assertThat(order.next(earlier)).isEqualTo(1);
    assertThat(order.next(earlier)).isEqualTo(1 + numbers.all());
    assertThat(others.next(earlier)).isEqualTo(1);
    assertThat(numbers.all())
        .isEqualTo(plan.levels().get(0) instanceof Open open ? open.maxArrivals() : -1);
  }

  @Test
  void automaticPhasesOfSeveralInjectorsHaveTheirLongestLength() {
    Phases automatic = Phases.DEFAULT.withMeasure(20 * SECOND);
    InjectorShare half = new InjectorShare(1, 2);
    Sweep both = new Sweep(List.of(new Closed(8, automatic), Open.steady(8).with(automatic)));
    Closed closed = (Closed) both.part(half).levels().get(0);
    Open open = (Open) both.part(half).levels().get(1);

    assertThat(closed.phases().fillNanos()).isEqualTo(5 * SECOND);
    assertThat(closed.phases().stabilizeNanos()).isEqualTo(15 * SECOND);
    assertThat(open.phases().fillNanos()).isEqualTo(0);
    assertThat(open.phases().stabilizeNanos()).isEqualTo(20 * SECOND);
    assertThat(new Sweep(List.of(new Closed(8, automatic))).part(ALONE).levels())
        .containsExactly(new Closed(8, automatic));
  }

  /** 30 + 30 s, a cooldown and a drain of at most 30 s each, 0.1 s for cancelled requests. */
  @Test
  void plannedStartsAreAfterTheLatestEndOfThePreviousLevel() {
    InjectorShare share = new InjectorShare(2, 4);
    Sweep plan = new Sweep(List.of(new Closed(1, Phases.DEFAULT), new Closed(2, Phases.DEFAULT)));

    assertThat(plan.part(share).startOffsets(share))
        .containsExactly(0L, 120_100_000_000L, 240_200_000_000L);
    assertThat(plan.part(ALONE).startOffsets(ALONE)).containsExactly(0L);
  }

  static List<LoadPlan> undivided() {
    List<LoadLevel> two = List.of(new Closed(1, PHASES), new Closed(2, PHASES));
    return List.of(
        LoadPlan.search(1, 0.05, 1, PHASES),
        new Sweep(two).stopWhen(List.of(StopRule.sloBelow(50))),
        new Sweep(two).stopWhen(List.of(StopRule.errorCountAbove(50))),
        new Sweep(List.of(new LoadLevel.FixedBatch(4, 2, SECOND))),
        new Sweep(List.of(new Closed(1, PHASES.withRequests(5)), new Closed(2, PHASES))));
  }

  @ParameterizedTest
  @MethodSource("undivided")
  void plansThatCannotBeDividedAreRejected(LoadPlan plan) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> plan.part(new InjectorShare(2, 4)))
        .withMessageMatching("injector 2/4 cannot .*; .*");
    assertThat(plan.part(ALONE)).isNotNull();
  }

  /** In milliseconds; iterations of 10 ms end 10 ms after each level at the latest. */
  @Test
  void levelsStartAtPlannedInstantsEvenIfThePreviousEndsEarly() {
    Phases phases = new Phases(0, 0, SECOND / 10, SECOND, null);
    LoadPlan plan =
        new Sweep(List.of(new Closed(1, phases), new Open(100, Arrivals.constant(100), phases)))
            .part(new InjectorShare(2, 2));
    FakeLoad load =
        new FakeLoad(() -> 10, iteration -> false, plan, level -> (level + 1) * 5L * SECOND).run();

    assertThat(load.events)
        .startsWith("5000 c=1 started", "5000 c=1 measure", "5100 c=1 drain")
        .contains("10000 r=100 started", "10000 r=100 measure");
    assertThat(load.maxInFlight).isEqualTo(1);
    assertThat(load.iterations).hasSize(5);
    assertThat(load.lags()).containsOnly(0L);
  }

  @Test
  void withoutSettingsTheProcessRunsTheFullLoadImmediately() {
    Injector alone = Injector.of(Map.of(), Map.of("HOSTNAME", "a"));
    assertThat(alone).isEqualTo(new Injector(null, null));
    assertThat(alone.isPart()).isFalse();
    assertThat(alone.nameOn("host")).isEqualTo("host");
  }

  @Test
  void shareComesFromPropertyThenVariableThenJob() {
    Map<String, String> job = Map.of("JOB_COMPLETION_INDEX", "0", "INJECTORS", "3");
    Map<String, String> both =
        Map.of("JOB_COMPLETION_INDEX", "0", "INJECTORS", "3", "LLM_INJECTOR", "2/5");

    assertThat(Injector.of(Map.of(), job).share()).isEqualTo(new InjectorShare(1, 3));
    assertThat(Injector.of(Map.of(), both).share()).isEqualTo(new InjectorShare(2, 5));
    assertThat(Injector.of(Map.of("llm.injector", "4 / 4"), both).share())
        .isEqualTo(new InjectorShare(4, 4));
    assertThat(Injector.of(Map.of(), job).nameOn("host")).isEqualTo("host-1");
    assertThat(Injector.of(Map.of("llm.injector", "1/1"), job).isPart()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0/4", "5/4", "1/0", "4", "1/10001", "-1/4", "a/b", "1/4/2"})
  void invalidShareIsRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Injector.of(Map.of("llm.injector", text), Map.of()))
        .withMessageStartingWith("llm.injector=" + text + ": ")
        .withMessageContaining("<i>/<n>");
  }

  @ParameterizedTest
  @CsvSource({
    "3, , JOB_COMPLETION_INDEX=3 and INJECTORS=: expected the index",
    ", 4, JOB_COMPLETION_INDEX= and INJECTORS=4: expected the index",
    "4, 4, JOB_COMPLETION_INDEX=4 and INJECTORS=4: expected the index",
    "x, 4, of a pod of an Indexed Job",
    "0, 99999, at most 10,000; or set llm.injector=<i>/<n>"
  })
  void contradictoryJobIsRefused(String index, String count, String why) {
    Map<String, String> environment =
        index == null
            ? Map.of("INJECTORS", count)
            : count == null
                ? Map.of("JOB_COMPLETION_INDEX", index)
                : Map.of("JOB_COMPLETION_INDEX", index, "INJECTORS", count);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Injector.of(Map.of(), environment))
        .withMessageContaining(why);
  }

  @ParameterizedTest
  @CsvSource({
    "1795255200, 1795255200000000000",
    "1795255200.5, 1795255200500000000",
    "1795255200250, 1795255200250000000",
    "2026-11-21T10:00:00Z, 1795255200000000000",
    "2026-11-21T11:00:00.000000001+01:00, 1795255200000000001",
    "2026-11-21T10:00Z, 1795255200000000000"
  })
  void startsAreSecondsMillisecondsOrIsoTimes(String text, long unixNanos) {
    assertThat(Injector.of(Map.of("llm.startAt", text), Map.of()).startAt())
        .isEqualTo(Instant.EPOCH.plusNanos(unixNanos));
    assertThat(Injector.of(Map.of(), Map.of("LLM_START_AT", " " + text)).startAt())
        .isEqualTo(Instant.EPOCH.plusNanos(unixNanos));
  }

  @ParameterizedTest
  @ValueSource(strings = {"soon", "2026-11-21T10:00:00", "-5", "1795255200000000", "10:00"})
  void invalidStartIsRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Injector.of(Map.of("llm.startAt", text), Map.of()))
        .withMessage("llm.startAt=" + text + ": expected " + Injector.START_EXPECTED);
  }
}
