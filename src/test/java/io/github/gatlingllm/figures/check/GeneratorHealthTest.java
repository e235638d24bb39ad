package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.level.Runs.check;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Runs.Source;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

  /** Two processors without a rest, this share of both taken by the generator. */
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
    return summary(Runs.run(12, Runs.stage(1, 0, 10_000)), records, seconds);
  }

  private static Summary summary(
      RunInfo run, List<RequestRecord> records, List<GeneratorSecond> seconds) {
    return Runs.figures(run, new Source(records, List.of(), seconds, List.of())).summary();
  }

  /** On two processors that a server shares, both busy. */
  static Summary onFullMachine(boolean optimizingCompiler) {
    List<GeneratorSecond> seconds = quiet("local", 12);
    seconds.subList(2, 9).forEach(second -> full(second, 0.3));
    return summary(
        Runs.run(12, Runs.stage(1, 0, 10_000))
            .machines(
                Map.of(
                    "local",
                    new SelfTest.Machine("", 2, 8_192, "", List.of(), optimizingCompiler))),
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

  /**
   * Seconds in which loops are late, by at most this time and for this long, the machine is full
   * with this share of it taken by the generator, and other counters state this number of seconds;
   * the level, and ids and values of what is found.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      textBlock =
          """
          rare lags | 0 | 12 | 8 | 80 | - | - | OK | generator.ok[8.0, 0.5]
          a blocked loop | 4 | 5 | 300 | 280 | - | - | WARNING | c=1: generator.late[; 300.0, 4.0, 5.0; TTFT p99 and ITL p99]
          a lag that is a small part of the TTFT | 4 | 5 | 15 | 400 | - | - | WARNING | 15.0, 4.0, 5.0; null, ITL p99]
          a single lag | 7 | 8 | 150 | 80 | - | - | WARNING | c=1: generator.late[; 150.0, 7.0, 8.0; longest times]
          a lag outside the window | 11 | 12 | 900 | 900 | - | - | OK | generator.ok
          a full second outside the window | 10 | 11 | - | - | 1 | - | OK | generator.ok
          more streams than the machine reads | 3 | 9 | 400 | 950 | - | - | INVALID | c=1: generator.late[; 400.0, 3.0, 9.0; all times]
          a pause | 4 | 5 | 300 | 280 | - | GC_PAUSE_MAX_S=0.25 | WARNING | 300.0; generator.paused[250.0]; TTFT
          a busy compiler | 4 | 5 | 300 | 280 | 0.9 | COMPILER_S=1 | WARNING | generator.busy[0.0, 1.0]
          stolen CPU | 4 | 5 | 300 | 280 | - | MACHINE_STEAL_S=2 | WARNING | 300.0; generator.stolen[0.5]; TTFT
          generator and server out of CPU | 2 | 9 | - | - | 0.3 | COMPILER_S=0.5 | INVALID | c=1: generator.full[true, false, 2.0, 9.0; 0.3, 0.5, 0.7, null]
          a host that took half | 2 | 9 | - | - | 0.3 | MACHINE_USER_S=1 MACHINE_STEAL_S=1 | INVALID | 0.3, null, 0.19; 0.5]
          a few full seconds | 2 | 4 | - | - | 0.3 | - | WARNING | generator.full[true, false, 2.0, 4.0; 0.3
          # a server may use all that is there, or lack what other programs use
          a light generator on a full machine | 0 | 12 | - | - | 0.03 | - | NOTE | c=1: generator.full[true, true, 0.0, 10.0; 0.03, null, 0.97
          a machine that is full for a tenth | 0 | 1 | - | - | 0.03 | - | OK | generator.ok
          no CPU times | 0 | 12 | - | - | - | PROCESS_CPU_S= MACHINE_USER_S= MACHINE_IDLE_S= | OK | generator.ok[1.0, null]
          """)
  void healthIsJudged(
      String what,
      int from,
      int to,
      @Nullable Integer lateMs,
      @Nullable Integer forMs,
      @Nullable Double share,
      @Nullable String counters,
      CheckLevel level,
      String found) {
    for (GeneratorSecond second : seconds.subList(from, to)) {
      if (lateMs != null && forMs != null) {
        late(second, lateMs, forMs);
      }
      if (share != null) {
        full(second, share);
      }
      for (String counter : counters == null ? new String[0] : counters.split(" ", -1)) {
        String[] both = counter.split("=", -1);
        second.with(
            GeneratorField.valueOf(both[0]),
            both[1].isEmpty() ? null : (Long) Math.round(Double.parseDouble(both[1]) * SECOND));
      }
    }
    assertHealth(level, found);
  }

  private void assertHealth(CheckLevel level, String found) {
    Check check = check(summary(), "generator");
    assertThat(check.level()).isEqualTo(level);
    assertThat(check.findings().toString()).contains(found.split("; ", -1));
  }

  /** Two beats of 20 ms are more than 1 % of 3 s, and no more than a machine takes at times. */
  @ParameterizedTest
  @CsvSource({"40, OK", "60, WARNING"})
  void lateBeatsOfAShortWindow(int forMs, CheckLevel level) {
    late(seconds.get(4), 12, forMs);
    seconds.retainAll(List.copyOf(seconds.subList(3, 6)));
    assertHealth(level, "generator.");
  }

  @Test
  void lateInjectorIsNamed() {
    seconds.addAll(quiet("second", 12));
    late(seconds.get(12 + 4), 300, 280);
    assertHealth(CheckLevel.WARNING, "generator.late[second, 300.0");
  }

  @Test
  void foreignValuesAreNoLags() {
    seconds.get(3).with(GeneratorField.LATEST_LOOP_US, new int[] {1});
    seconds.get(4).with(GeneratorField.LENGTH_S, Long.MAX_VALUE);
    seconds.get(5).with(GeneratorField.START_UNIX_NS, Long.MIN_VALUE);
    seconds.get(6).with(GeneratorField.MACHINE_IDLE_S, -5L * SECOND);
    assertHealth(CheckLevel.OK, "");
  }

  @Test
  void valueIsTheShareOfTheWindowAndTheRemedyThatOfTheCause() {
    seconds.subList(3, 9).forEach(second -> late(second, 400, 950));
    assertThat(check(summary(), "generator").value()).isEqualTo(0.57);
    String shared = check(summary(), "generator").remedy();
    assertThat(shared).as("generator and server are at 127.0.0.1").contains("taskset");
    seconds.subList(2, 9).forEach(second -> full(second, 0.3));
    assertThat(check(summary(), "generator").value()).isEqualTo(0.7);
    assertThat(check(summary(), "generator").remedy()).isEqualTo(shared);
    seconds.subList(2, 9).forEach(second -> late(second, 1, 0));
    seconds.subList(2, 9).forEach(second -> full(second, 0.03));
    assertThat(check(summary(), "generator"))
        .extracting(Check::level, Check::value, Check::remedy)
        .containsExactly(CheckLevel.NOTE, 0.7, shared);
    seconds.subList(3, 9).forEach(second -> late(second, 400, 950));
    seconds.forEach(of -> of.with(GeneratorField.MACHINE_IDLE_S, SECOND));
    seconds.forEach(of -> of.with(GeneratorField.MACHINE_STEAL_S, SECOND));
    assertThat(check(summary(), "generator").remedy()).contains("virtual machine");
  }

  /** A stream that came complete is the server's doing only where the generator kept up. */
  @Test
  void otherChecksDoNotBlameTheServerAlone() {
    records.clear();
    records.addAll(ChecksTest.records(r -> r.tokens(ChecksTest.AT_ONCE)));
    assertThat(bufferingFinds()).containsExactly("buffering.found");
    seconds.forEach(second -> full(second, 0.03));
    assertThat(check(summary(), "generator").level()).isEqualTo(CheckLevel.NOTE);
    assertThat(bufferingFinds()).containsExactly("buffering.found");
    seconds.forEach(second -> full(second, 0.3));
    assertThat(bufferingFinds()).containsExactly("buffering.found", "generator.doubt");
    assertThat(summary().checks().get(0).id()).as("the first to be read").isEqualTo("generator");
  }

  private List<String> bufferingFinds() {
    return check(summary(), "buffering").findings().stream().map(Sentence::id).toList();
  }
}
