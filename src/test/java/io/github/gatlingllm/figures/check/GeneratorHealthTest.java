package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.level.Recorded.check;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Recorded.Source;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code generator} finds from 0 s to 10 s of one user, TTFT 100 ms, ITL 20 ms. */
class GeneratorHealthTest {

  private static final long SECOND = 1_000_000_000;
  private final List<GeneratorSecond> seconds = quiet("local", 12);
  private final List<RequestRecord> records = ChecksTest.records(r -> {});

  /** Nothing is late; 2 processors, one of them idle, 0.2 s of the other used by the generator. */
  private static List<GeneratorSecond> quiet(String injector, int length) {
    List<GeneratorSecond> seconds = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      seconds.add(
          new GeneratorSecond()
              .with(GeneratorField.INJECTOR, injector)
              .with(GeneratorField.START_UNIX_NS, Recorded.ORIGIN + i * SECOND)
              .with(GeneratorField.LENGTH_S, SECOND)
              .with(GeneratorField.PROCESS_CPU_S, SECOND / 5)
              .with(GeneratorField.MACHINE_USER_S, SECOND)
              .with(GeneratorField.MACHINE_IDLE_S, SECOND));
      late(seconds.get(i), 1, 0);
    }
    return seconds;
  }

  /**
   * Loops are so late in that second.
   *
   * @param forMs how much of it they are later than each time below {@code maxMs}
   */
  private static void late(GeneratorSecond second, int maxMs, int forMs) {
    second
        .with(GeneratorField.LOOP_LAG_P99_US, new int[] {0, maxMs * 1_000})
        .with(GeneratorField.LOOP_LAG_MAX_US, new int[] {0, maxMs * 1_000})
        .with(
            GeneratorField.LATEST_LOOP_US,
            GeneratorSecond.LATE_MS.stream()
                .mapToInt(of -> of < maxMs ? forMs * 1_000 : 0)
                .toArray());
  }

  /** Two processors without a rest, so much of both taken by the generator. */
  private static void full(GeneratorSecond second, double share) {
    second
        .with(GeneratorField.PROCESS_CPU_S, Math.round(2 * SECOND * share))
        .with(GeneratorField.MACHINE_USER_S, 2 * SECOND)
        .with(GeneratorField.MACHINE_IDLE_S, 0L);
  }

  private Summary summary() {
    return summary(records, seconds);
  }

  private static Summary summary(List<RequestRecord> records, List<GeneratorSecond> seconds) {
    return summary(Recorded.run(12, Recorded.stage(1, 0, 10_000)), records, seconds);
  }

  private static Summary summary(
      RunInfo run, List<RequestRecord> records, List<GeneratorSecond> seconds) {
    return Recorded.figures(run, new Source(records, List.of(), seconds, List.of())).summary();
  }

  /** On two processors that a server shares, both busy. */
  static Summary onFullMachine(String jvmOption) {
    List<GeneratorSecond> seconds = quiet("local", 12);
    seconds.subList(2, 9).forEach(second -> full(second, 0.3));
    return summary(
        Recorded.run(12, Recorded.stage(1, 0, 10_000))
            .config(SelfTest.JvmOptions.CONFIG_NAME, jvmOption)
            .machines(Map.of("local", new SelfTest.Machine("", 2, 8_192, "", List.of()))),
        ChecksTest.records(r -> {}),
        seconds);
  }

  /** An event loop hangs once, for that long. */
  static Summary blockedFor(int ms) {
    List<GeneratorSecond> seconds = quiet("local", 12);
    late(seconds.get(4), Math.max(1, ms), Math.max(0, ms - 20));
    return summary(ChecksTest.records(r -> {}), seconds);
  }

  @Test
  void aRunWithoutGeneratorDataIsNotJudged() {
    seconds.clear();
    assertThat(summary().checks()).noneMatch(check -> check.id().equals("generator"));
  }

  static Stream<Arguments> healths() {
    return Stream.of(
        health(
            "rare lags",
            seconds -> seconds.forEach(second -> late(second, 8, 80)),
            Level.OK,
            " 8 ms; 50.0 %"),
        // Two beats of 20 ms are more than 1 % of 3 s, and no more than a machine takes at times.
        health(
            "a few late beats of a short window",
            seconds -> {
              late(seconds.get(4), 12, 40);
              seconds.retainAll(List.copyOf(seconds.subList(3, 6)));
            },
            Level.OK,
            ""),
        health(
            "some more of them",
            seconds -> {
              late(seconds.get(4), 12, 60);
              seconds.retainAll(List.copyOf(seconds.subList(3, 6)));
            },
            Level.WARNING,
            ""),
        health(
            "a blocked loop",
            seconds -> late(seconds.get(4), 300, 280),
            Level.WARNING,
            "c=1; 4 s; 5 s; 300 ms; TTFT p99; ITL p99"),
        health(
            "a lag that is a small part of the TTFT",
            seconds -> late(seconds.get(4), 15, 400),
            Level.WARNING,
            " 15 ms; affects ITL p99"),
        health(
            "a single lag",
            seconds -> late(seconds.get(7), 150, 80),
            Level.WARNING,
            "c=1; 7 s; 8 s; 150 ms; longest times"),
        health(
            "a lag outside the window",
            seconds -> {
              late(seconds.get(11), 900, 900);
              full(seconds.get(10), 1);
            },
            Level.OK,
            ""),
        health(
            "more streams than the machine reads",
            seconds -> seconds.subList(3, 9).forEach(second -> late(second, 400, 950)),
            Level.INVALID,
            "c=1; 3 s; 9 s; 400 ms; all times"),
        health(
            "a pause",
            seconds -> {
              late(seconds.get(4), 300, 280);
              seconds.get(4).with(GeneratorField.GC_PAUSE_MAX_S, SECOND / 4);
            },
            Level.WARNING,
            " 300 ms; garbage collection; 250 ms; TTFT"),
        health(
            "a busy compiler",
            seconds -> {
              late(seconds.get(4), 300, 280);
              full(seconds.get(4).with(GeneratorField.COMPILER_S, SECOND), 0.9);
            },
            Level.WARNING,
            "(0 %; JIT compiler; 1 s per second"),
        health(
            "stolen CPU",
            seconds -> {
              late(seconds.get(4), 300, 280);
              seconds.get(4).with(GeneratorField.MACHINE_STEAL_S, 2 * SECOND);
            },
            Level.WARNING,
            " 300 ms; hypervisor took 50.0 %; TTFT"),
        health(
            "generator and server on a machine out of CPU",
            seconds ->
                seconds
                    .subList(2, 9)
                    .forEach(of -> full(of.with(GeneratorField.COMPILER_S, SECOND / 2), 0.3)),
            Level.INVALID,
            "c=1; server; 2 s; 9 s; 30.0 %; JIT compiler; 0.500 s; programs 70.0 %; all times"),
        health(
            "a full machine whose host took half of it",
            seconds ->
                seconds
                    .subList(2, 9)
                    .forEach(
                        second -> {
                          full(second, 0.3);
                          second
                              .with(GeneratorField.MACHINE_USER_S, SECOND)
                              .with(GeneratorField.MACHINE_STEAL_S, SECOND);
                        }),
            Level.INVALID,
            "30.0 %; programs 20.0 %; hypervisor took 50.0 %"),
        health(
            "a few full seconds",
            seconds -> seconds.subList(2, 4).forEach(second -> full(second, 0.3)),
            Level.WARNING,
            "out of CPU; 2 s; 4 s; 30.0 %"),
        // A server may use all that is there if the generator beside it takes next to nothing.
        health(
            "a light generator on a full machine",
            seconds -> seconds.forEach(second -> full(second, 0.05)),
            Level.OK,
            ""),
        health(
            "two injectors",
            seconds -> {
              seconds.addAll(quiet("second", 12));
              late(seconds.get(12 + 4), 300, 280);
            },
            Level.WARNING,
            "event loops of second; 300 ms"),
        health(
            "no CPU times",
            seconds ->
                seconds.forEach(
                    second ->
                        second
                            .with(GeneratorField.PROCESS_CPU_S, null)
                            .with(GeneratorField.MACHINE_USER_S, null)
                            .with(GeneratorField.MACHINE_IDLE_S, null)),
            Level.OK,
            " 1 ms"),
        health(
            "foreign values",
            seconds -> {
              seconds.get(3).with(GeneratorField.LATEST_LOOP_US, new int[] {1});
              seconds.get(4).with(GeneratorField.LENGTH_S, Long.MAX_VALUE);
              seconds.get(5).with(GeneratorField.START_UNIX_NS, Long.MIN_VALUE);
              seconds.get(6).with(GeneratorField.MACHINE_IDLE_S, -5L * SECOND);
            },
            Level.OK,
            ""));
  }

  private static Arguments health(
      String name, Consumer<List<GeneratorSecond>> change, Level level, String message) {
    return Arguments.of(name, change, level, message);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("healths")
  void healthIsJudged(
      String name, Consumer<List<GeneratorSecond>> change, Level level, String message) {
    change.accept(seconds);
    Check check = check(summary(), "generator");
    assertThat(check.level()).isEqualTo(level);
    assertThat(check.message()).contains(message.split("; "));
  }

  @Test
  void valueIsTheShareOfTheWindowAndTheRemedyThatOfTheCause() {
    seconds.subList(3, 9).forEach(second -> late(second, 400, 950));
    assertThat(check(summary(), "generator").value()).isEqualTo(0.57);
    seconds.subList(2, 9).forEach(second -> full(second, 0.3));
    assertThat(check(summary(), "generator").value()).isEqualTo(0.7);
    assertThat(check(summary(), "generator").remedy()).contains("taskset");
    seconds.forEach(of -> of.with(GeneratorField.MACHINE_IDLE_S, SECOND));
    seconds.forEach(of -> of.with(GeneratorField.MACHINE_STEAL_S, SECOND));
    assertThat(check(summary(), "generator").remedy()).contains("virtual machine");
  }

  /** A stream that came all at once is the server's doing only where the generator kept up. */
  @Test
  void otherChecksDoNotBlameTheServerAlone() {
    records.clear();
    records.addAll(
        ChecksTest.records(r -> r.tokens(500, 500, 501, 501, 501, 502, 502, 502, 503, 503)));
    assertThat(check(summary(), "buffering").message()).doesNotContain("generator");
    for (GeneratorSecond second : seconds) {
      full(second, 0.3);
    }
    assertThat(check(summary(), "buffering").message())
        .isEqualTo(
            "10.0 % of the streams arrived all at once at their end. The server may not be the"
                + " cause: the load generator did not keep up, see check generator.");
    assertThat(summary().checks().get(0).id()).as("the first to be read").isEqualTo("generator");
  }
}
