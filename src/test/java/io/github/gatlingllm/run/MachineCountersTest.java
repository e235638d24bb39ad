package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.run.Run.RunClock;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineCountersTest {
  private static final long SECOND = 1_000_000_000;

  @TempDir Path root;

  private MachineCounters with(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
    return new MachineCounters(root);
  }

  @Test
  void linuxCountsCpuTime() throws IOException {
    MachineCounters linux =
        with("proc/stat", "cpu  1000 200 300 4000 500 60 40 70 8 9\ncpu0 1 2 3 4 5 6 7 8 9 0\n");
    assertThat(linux.totals())
        .containsEntry(GeneratorField.MACHINE_USER_S, 12 * SECOND)
        .containsEntry(GeneratorField.MACHINE_SYSTEM_S, 4 * SECOND)
        .containsEntry(GeneratorField.MACHINE_IDLE_S, 45 * SECOND)
        .containsEntry(GeneratorField.MACHINE_STEAL_S, SECOND * 7 / 10);
  }

  @Test
  void anOldKernelHasNoStealTime() throws IOException {
    assertThat(with("proc/stat", "cpu 1 2 3 4 5 6 7\n").totals())
        .containsKey(GeneratorField.MACHINE_USER_S)
        .doesNotContainKey(GeneratorField.MACHINE_STEAL_S);
  }

  @Test
  void unavailableCountersAreLeftOut() throws IOException {
    for (String stat : List.of("", "intr 5 6\n", "cpu a b c d e f g h\n")) {
      assertThat(with("proc/stat", stat).totals())
          .containsOnlyKeys(GeneratorField.PROCESS_CPU_S, GeneratorField.COMPILER_S);
    }
  }

  @Test
  void pressureAndThrottlingOfAContainer() throws IOException {
    assertThat(
            with(
                    "proc/pressure/cpu",
                    """
                    some avg10=1.53 avg60=1.87 avg300=1.73 total=1088168194
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7
                    """)
                .totals())
        .containsEntry(GeneratorField.CPU_PRESSURE_S, 1_088_168_194_000L);
    assertThat(with("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 5\nthrottled_time 123\n").totals())
        .containsEntry(GeneratorField.THROTTLED_S, 123L);
    assertThat(with("sys/fs/cgroup/cpu.stat", "usage_usec 9\nthrottled_usec 45\n").totals())
        .containsEntry(GeneratorField.THROTTLED_S, 45_000L);
  }

  @Test
  void everySystemCountsProcessTime() {
    MachineCounters here = new MachineCounters(Path.of("/"));
    assertThat(here.totals().get(GeneratorField.PROCESS_CPU_S)).isPositive();
    assertThat(here.heapUsed()).isPositive();
    assertThat(here.directBytes()).isNotNegative();
  }

  @Test
  void concurrentCyclesAreNoPauses() {
    assertThat(List.of("Copy", "MarkSweepCompact", "G1 Young Generation", "PS MarkSweep"))
        .allMatch(MachineCounters::isPausing);
    assertThat(List.of("ZGC Pauses", "ZGC Major Pauses", "Shenandoah Pauses"))
        .allMatch(MachineCounters::isPausing);
    assertThat(List.of("ZGC Cycles", "Shenandoah Cycles", "G1 Concurrent GC"))
        .noneMatch(MachineCounters::isPausing);
  }

  @Test
  void pausesAreSummedUpToAnInstant() {
    MachineCounters counters = new MachineCounters(root);
    counters.paused(101, 3);
    counters.paused(150, 5);
    counters.paused(200, 70);
    assertThat(counters.pauses(200))
        .extracting(
            LongSummaryStatistics::getCount,
            LongSummaryStatistics::getSum,
            LongSummaryStatistics::getMax)
        .containsExactly(2L, 8L, 5L);
    assertThat(counters.pauses(300).getSum()).isEqualTo(70);
    assertThat(counters.pauses(300).getCount()).isZero();
  }

  @Test
  void recordsRightBeforeTheEndAreInALineThatIsLongEnough() throws Exception {
    List<RequestRecord> records = new ArrayList<>();
    Path recorded = root.resolve("requests.jsonl");
    try (InputStream zipped =
        getClass().getResourceAsStream("/recorded/runs/curve/requests.jsonl.gz")) {
      Files.copy(new GZIPInputStream(zipped), recorded);
    }
    RecordFile.read(recorded, records::add);
    Run run = LevelLogTest.open(root, new RunClock(0, 0));
    Path file = run.files().generator();
    GeneratorLog log = new GeneratorLog(run, List.of());
    log.records(records);
    log.tick(RunView.OPENED.with(next -> next.seconds++));
    log.stop(RunView.OPENED);
    run.ending().complete(() -> {});

    List<GeneratorSecond> lines = new ArrayList<>();
    assertThat(GeneratorSecond.read(file, lines::add)).isNull();
    assertThat(lines).allMatch(line -> line.number(GeneratorField.LENGTH_S) >= 100_000_000);
    assertThat(lines.stream().mapToLong(line -> line.number(GeneratorField.EVENTS)).sum())
        .isPositive()
        .isEqualTo(records.stream().mapToLong(record -> record.events().count()).sum());
  }

  @Test
  void aLineEndsAtTheEdgeOfAMeasureWindow() throws Exception {
    Run run = LevelLogTest.open(root, new RunClock(0, 0));
    Path file = run.files().generator();
    GeneratorLog log = new GeneratorLog(run, List.of());
    long edge = System.nanoTime();
    RunView view =
        RunView.OPENED.with(next -> next.edges = List.of(edge, edge + TimeUnit.HOURS.toNanos(1)));
    log.tick(view);
    log.tick(view.with(next -> next.seconds++)); // late, after the edge
    for (long again : List.of(edge, edge - 1_000)) {
      log.tick(
          view.with(
              next -> {
                next.seconds++;
                next.windowEdge(again);
              }));
    }
    log.stop(view);
    run.ending().complete(() -> {});

    List<GeneratorSecond> lines = new ArrayList<>();
    assertThat(GeneratorSecond.read(file, lines::add)).isNull();
    assertThat(lines)
        .as("on a slow machine, one that the edge did not end too")
        .hasSizeGreaterThanOrEqualTo(2)
        .allMatch(line -> line.number(GeneratorField.LENGTH_S) > 0);
    GeneratorSecond first = lines.get(0);
    assertThat(first.number(GeneratorField.START_UNIX_NS) + first.number(GeneratorField.LENGTH_S))
        .isEqualTo(edge);
    assertThat(lines.get(1).number(GeneratorField.START_UNIX_NS)).isEqualTo(edge);
  }
}
