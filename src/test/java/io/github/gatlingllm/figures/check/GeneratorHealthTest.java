package io.github.gatlingllm.figures.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.RunStatistics;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Check;
import io.github.gatlingllm.figures.metric.Check.Level;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What the check {@code generator} finds: of one user, measured from 0 s to 10 s of the run, TTFT
 * 100 ms, ITL 20 ms.
 */
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
    RecordSource source =
        new RecordSource() {
          @Override
          public ReadReport replay(Consumer<RequestRecord> sink) {
            records.forEach(sink);
            return new ReadReport(records.size(), 0, 0, List.of());
          }

          @Override
          public void generator(Consumer<GeneratorSecond> sink) {
            seconds.forEach(sink);
          }
        };
    try {
      return Checks.judged(RunStatistics.of(Recorded.run(12, Recorded.stage(1, 0, 10_000)), source))
          .summary();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An event loop hangs once, for that long. */
  static Summary blockedFor(int ms) {
    List<GeneratorSecond> seconds = quiet("local", 12);
    late(seconds.get(4), Math.max(1, ms), Math.max(0, ms - 20));
    return summary(ChecksTest.records(r -> {}), seconds);
  }

  private static @Nullable Check check(Summary summary, String id) {
    return summary.checks().stream().filter(c -> c.id().equals(id)).findFirst().orElse(null);
  }

  private Check generator() {
    Check check = check(summary(), "generator");
    assertThat(check).isNotNull();
    return check;
  }

  @Test
  void aRunWithoutGeneratorDataIsNotJudged() {
    seconds.clear();
    assertThat(check(summary(), "generator")).isNull();
  }

  @Test
  void rareLagsAreFine() {
    for (GeneratorSecond second : seconds) {
      late(second, 8, 80);
    }
    assertThat(generator().level()).isEqualTo(Level.OK);
    assertThat(generator().message())
        .isEqualTo(
            "Event loops lagged by at most 8 ms in the measure windows, and 50.0 % of the machine's"
                + " CPU was idle on average at the busiest load.");
  }

  /** Two beats of 20 ms are more than 1 % of 3 s, and no more than a machine takes now and then. */
  @Test
  void aFewLateBeatsOfAShortWindowAreFine() {
    late(seconds.get(4), 12, 40);
    List<GeneratorSecond> three = List.copyOf(seconds.subList(3, 6));
    seconds.retainAll(three);
    assertThat(generator().level()).isEqualTo(Level.OK);
    late(seconds.get(1), 12, 60);
    assertThat(generator().level()).isEqualTo(Level.WARNING);
  }

  @Test
  void aBlockedLoopIsNamedWithItsTimeAndMetrics() {
    late(seconds.get(4), 300, 280);
    assertThat(generator().level()).isEqualTo(Level.WARNING);
    assertThat(generator().message())
        .isEqualTo(
            "c=1: from 4 s to 5 s of the run event loops lagged by up to 300 ms, which affects TTFT"
                + " p99 and ITL p99 of c=1.");
  }

  @Test
  void aLagThatIsASmallPartOfTheTtftIsNamedForTheItlAlone() {
    late(seconds.get(4), 15, 400);
    assertThat(generator().message()).contains("up to 15 ms, which affects ITL p99 of c=1");
  }

  @Test
  void aSingleLagIsInTheLargestTimes() {
    late(seconds.get(7), 150, 80);
    assertThat(generator().level()).isEqualTo(Level.WARNING);
    assertThat(generator().message())
        .isEqualTo(
            "c=1: from 7 s to 8 s of the run event loops lagged by up to 150 ms, which affects the"
                + " longest times of c=1.");
  }

  @Test
  void lagsOutsideTheWindowDoNotMatter() {
    late(seconds.get(11), 900, 900);
    full(seconds.get(10), 1);
    assertThat(generator().level()).isEqualTo(Level.OK);
  }

  @Test
  void moreStreamsThanTheMachineReadsAreInvalid() {
    for (GeneratorSecond second : seconds.subList(3, 9)) {
      late(second, 400, 950);
    }
    assertThat(generator().level()).isEqualTo(Level.INVALID);
    assertThat(generator().value()).isEqualTo(0.57);
    assertThat(generator().message())
        .isEqualTo(
            "c=1: from 3 s to 9 s of the run event loops lagged by up to 400 ms, which affects all"
                + " times of c=1.");
  }

  @Test
  void theCauseIsNamed() {
    late(seconds.get(4), 300, 280);
    seconds.get(4).with(GeneratorField.GC_PAUSE_MAX_S, SECOND / 4);
    assertThat(generator().message())
        .contains(
            "up to 300 ms (garbage collection paused the JVM for up to 250 ms), which affects"
                + " TTFT");

    seconds.get(4).with(GeneratorField.GC_PAUSE_MAX_S, 0L).with(GeneratorField.COMPILER_S, SECOND);
    full(seconds.get(4), 0.9);
    assertThat(generator().message())
        .contains(
            "ms (the machine had 0 % of its CPU idle; its JIT compiler ran 1 s per second), which"
                + " affects T");
  }

  @Test
  void generatorAndServerShareAMachineThatIsOutOfCpu() {
    for (GeneratorSecond second : seconds.subList(2, 9)) {
      full(second, 0.3);
      second.with(GeneratorField.COMPILER_S, SECOND / 2);
    }
    assertThat(generator().level()).isEqualTo(Level.INVALID);
    assertThat(generator().value()).isEqualTo(0.7);
    assertThat(generator().message())
        .isEqualTo(
            "The generator and the server share a machine that is out of CPU: c=1, from 2 s to 9 s"
                + " of the run, the generator used 30.0 % of the CPU (its JIT compiler ran 0.500 s"
                + " per second) and other programs 70.0 %, which affects all times of c=1.");
    assertThat(generator().remedy()).contains("taskset");
  }

  @Test
  void aFewFullSecondsAreAWarning() {
    full(seconds.get(2), 0.3);
    full(seconds.get(3), 0.3);
    assertThat(generator().level()).isEqualTo(Level.WARNING);
    assertThat(generator().message())
        .contains(
            "a machine that is out of CPU: c=1, from 2 s to 4 s of the run, the generator used 30.0"
                + " %");
  }

  /**
   * A server may use all that is there, as long as the generator beside it takes next to nothing.
   */
  @Test
  void aLightGeneratorOnAFullMachineIsFine() {
    for (GeneratorSecond second : seconds) {
      full(second, 0.05);
    }
    assertThat(generator().level()).isEqualTo(Level.OK);
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

  @Test
  void ofSeveralInjectorsTheLateOneIsNamed() {
    List<GeneratorSecond> other = quiet("second", 12);
    late(other.get(4), 300, 280);
    seconds.addAll(other);
    assertThat(generator().message())
        .contains("of the run event loops of second lagged by up to 300");
  }

  @Test
  void cpuThatIsNotReportedIsNotJudged() {
    for (GeneratorSecond second : seconds) {
      second
          .with(GeneratorField.PROCESS_CPU_S, null)
          .with(GeneratorField.MACHINE_USER_S, null)
          .with(GeneratorField.MACHINE_IDLE_S, null);
    }
    assertThat(generator().level()).isEqualTo(Level.OK);
    assertThat(generator().message())
        .isEqualTo("Event loops lagged by at most 1 ms in the measure windows.");
  }

  @Test
  void foreignFilesAreRead() {
    seconds.get(3).with(GeneratorField.LATEST_LOOP_US, new int[] {1});
    seconds.get(4).with(GeneratorField.LENGTH_S, Long.MAX_VALUE);
    seconds.get(5).with(GeneratorField.START_UNIX_NS, Long.MIN_VALUE);
    seconds.get(6).with(GeneratorField.MACHINE_IDLE_S, -5L * SECOND);
    assertThat(generator().message()).isNotEmpty();
  }
}
