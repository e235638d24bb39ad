package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.load.LoadLevel.Closed;
import io.github.gatlingllm.load.LoadLevel.FixedBatch;
import io.github.gatlingllm.load.LoadLevel.Open;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.load.LoadPlan.Sweep;
import io.github.gatlingllm.load.StopRule.Repeats;
import io.github.gatlingllm.record.LevelInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Classes of traffic in virtual time: one of short requests, one of long ones. */
class TurnsTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Phases PHASES = new Phases(0L, 0L, 4 * SECOND, true, 10 * SECOND, null);

  private static FakeLoad load(long millis, LoadPlan plan) {
    return new FakeLoad(() -> millis, iteration -> false, plan);
  }

  private static Sweep repeated(int times, LoadLevel... levels) {
    return new Sweep(List.of(levels)).repeated(new Repeats(times), 1);
  }

  private static List<Long> times(FakeLoad load, String event) {
    return load.events.stream()
        .filter(line -> line.endsWith(event) || line.contains(event + ", "))
        .map(line -> Long.valueOf(line.substring(0, line.indexOf(' '))))
        .toList();
  }

  /**
   * A measured request of 3 s starts 3 s into the window and ends at 6 s: both have load until
   * then.
   */
  @Test
  void classesMeasureTogetherAndKeepTheirLoadOnForEachOther() {
    List<Sweep> plans =
        Turns.of(
            List.of(
                new Sweep(List.of(new Open(10, Arrivals.constant(10), PHASES))),
                new Sweep(List.of(new Closed(2, PHASES)))),
            false,
            1);
    FakeLoad quick = load(50, plans.get(0));
    FakeLoad slow = load(3_000, plans.get(1));

    FakeLoad.together(quick, slow);

    assertThat(times(quick, "measure")).isEqualTo(times(slow, "measure"));
    assertThat(times(quick, "cooldown")).isEqualTo(times(slow, "cooldown"));
    long measured = times(quick, "measure").get(0);
    assertThat(times(slow, "drain").get(0) - measured).isBetween(6_000L, 6_100L);
    assertThat(times(quick, "drain")).isEqualTo(times(slow, "drain"));

    FakeLoad alone =
        load(50, new Sweep(List.of(new Open(10, Arrivals.constant(10), PHASES)))).run();
    assertThat(times(alone, "drain").get(0) - times(alone, "measure").get(0))
        .as("without others its load ends with its own requests")
        .isBetween(4_000L, 4_100L);
  }

  @Test
  void eachClassIsAloneOnceInARepeat() {
    List<Sweep> plans =
        Turns.of(
            List.of(
                repeated(3, new Open(10, Arrivals.constant(10), PHASES)),
                repeated(3, new Closed(2, PHASES))),
            true,
            7);
    FakeLoad quick = load(50, plans.get(0));
    FakeLoad slow = load(700, plans.get(1));

    FakeLoad.together(quick, slow);

    assertThat(plans.get(0).levels())
        .extracting(LoadLevel::label)
        .containsExactlyInAnyOrder(
            "r=10 alone#1", "r=10#1", "r=10 alone#2", "r=10#2", "r=10 alone#3", "r=10#3");
    for (int repeat = 1; repeat <= 3; repeat++) {
      assertThat(times(quick, "r=10#" + repeat + " measure"))
          .isEqualTo(times(slow, "c=2#" + repeat + " measure"));
    }
    assertThat(Stream.concat(spans(quick).stream(), spans(slow).stream()).toList())
        .hasSize(6)
        .allSatisfy(
            alone ->
                assertThat(others(alone[2] == 0 ? slow : quick))
                    .as("none starts while another is alone")
                    .noneMatch(start -> start >= alone[0] && start < alone[1]));
    assertThat(plans.get(0).turnsText(List.of("chat", "batch")))
        .startsWith("3 repeats, in random order: ")
        .contains("chat + batch", "chat alone", "batch alone", " | ");
    Open first =
        (Open) plans.get(0).levels().stream().filter(of("r=10 alone#2")).findFirst().orElseThrow();
    Open same =
        (Open) plans.get(0).levels().stream().filter(of("r=10#2")).findFirst().orElseThrow();
    assertThat(first.arrivals()).as("the same arrivals").isEqualTo(same.arrivals());
  }

  private static Predicate<LoadLevel> of(String label) {
    return level -> level.label().equals(label);
  }

  /** Start and end of levels in which a class is alone, and whose they are. */
  private static List<long[]> spans(FakeLoad load) {
    List<long[]> spans = new ArrayList<>();
    for (String line : load.events) {
      String label = line.split(" ", 2)[1].replaceFirst(" (started|ended.*)$", "");
      if (LevelInfo.isAlone(label) && line.endsWith(" started")) {
        spans.add(
            new long[] {
              times(load, label + " started").get(0),
              times(load, label + " ended").get(0),
              label.startsWith("r=") ? 0 : 1
            });
      }
    }
    return spans;
  }

  private static List<Long> others(FakeLoad load) {
    return load.iterations.stream()
        .map(line -> Long.valueOf(line.substring(0, line.indexOf(' '))))
        .toList();
  }

  /** A class whose plan a rule ends does not stop the others. */
  @Test
  void classThatStopsEarlyLeaves() {
    List<Sweep> plans =
        Turns.of(
            List.of(repeated(2, new Closed(1, PHASES)), repeated(2, new Closed(2, PHASES))),
            true,
            1);
    FakeLoad failing = load(10, plans.get(0)).failing();
    FakeLoad other = load(700, plans.get(1));

    FakeLoad.together(failing, other);

    assertThat(failing.events).last().asString().startsWith("stopped early");
    assertThat(times(other, "ended")).hasSize(4);
  }

  @Test
  void classesFitTogether() {
    Sweep open = new Sweep(List.of(Open.steady(2).with(PHASES)));
    refused(
        open, new Sweep(List.of(new Closed(2, PHASES.withMeasure(SECOND)))), "the same seconds");
    refused(open, repeated(2, new Closed(2, PHASES)), "the same repeats");
    refused(
        open,
        new Sweep(List.of(new Closed(2, PHASES), new Closed(3, PHASES))),
        "the same load levels");
    refused(open, new Sweep(List.of(new Closed(2, PHASES.withRequests(5)))), "expected a duration");
    refused(open, new Sweep(List.of(new FixedBatch(2, 3, 0))), "requests cannot bound a level");
    refused(open, LoadPlan.search(1, 0.1, 1, PHASES), "a search chooses its levels");
    Phases automatic = Phases.DEFAULT.withMeasure(8 * SECOND);
    List<Sweep> all =
        Turns.of(
            List.of(
                new Sweep(List.of(Open.steady(2).with(automatic))),
                new Sweep(List.of(new Closed(2, automatic)))),
            false,
            1);
    assertThat(all)
        .extracting(plan -> plan.levels().get(0).phases().plannedNanos())
        .as("automatic phases take their longest time")
        .containsExactly(16 * SECOND, 16 * SECOND);
  }

  private static void refused(LoadPlan one, LoadPlan other, String why) {
    assertThatThrownBy(() -> Turns.of(List.of(one, other), true, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }
}
