package io.github.gatlingllm.run.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.run.health.GeneratorLog.GcPauses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
    assertThat(linux.cpu())
        .isEqualTo(new MachineCounters.Cpu(12 * SECOND, 4 * SECOND, 45 * SECOND, SECOND * 7 / 10));
  }

  @Test
  void anOldKernelHasNoStealTime() throws IOException {
    assertThat(with("proc/stat", "cpu 1 2 3 4 5 6 7\n").cpu().steal()).isNull();
  }

  @Test
  void unavailableCountersAreNull() throws IOException {
    MachineCounters other = new MachineCounters(root);
    assertThat(other.cpu()).isNull();
    assertThat(other.pressureNanos()).isNull();
    assertThat(other.throttledNanos()).isNull();
    assertThat(with("proc/stat", "intr 5 6\n").cpu()).isNull();
    assertThat(with("proc/stat", "cpu a b c d e f g h\n").cpu()).isNull();
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
                .pressureNanos())
        .isEqualTo(1_088_168_194_000L);
    assertThat(
            with("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 5\nthrottled_time 123\n")
                .throttledNanos())
        .isEqualTo(123);
    assertThat(with("sys/fs/cgroup/cpu.stat", "usage_usec 9\nthrottled_usec 45\n").throttledNanos())
        .isEqualTo(45_000);
  }

  @Test
  void everySystemCountsProcessTime() {
    MachineCounters here = new MachineCounters(Path.of("/"));
    assertThat(here.processCpuNanos()).isPositive();
    assertThat(here.heapUsed()).isPositive();
    assertThat(here.directBytes()).isNotNegative();
    assertThat(here.compilerNanos()).isNotNegative();
  }

  @Test
  void concurrentCyclesAreNoPauses() {
    assertThat(List.of("Copy", "MarkSweepCompact", "G1 Young Generation", "PS MarkSweep"))
        .allMatch(GcPauses::isPausing);
    assertThat(List.of("ZGC Pauses", "ZGC Major Pauses", "Shenandoah Pauses"))
        .allMatch(GcPauses::isPausing);
    assertThat(List.of("ZGC Cycles", "Shenandoah Cycles", "G1 Concurrent GC"))
        .noneMatch(GcPauses::isPausing);
  }

  @Test
  void pausesAreSummedUpToAnInstant() {
    GcPauses pauses = new GcPauses();
    pauses.add(101, 3);
    pauses.add(150, 5);
    pauses.add(200, 70);
    assertThat(pauses.take(200)).isEqualTo(new GcPauses.Pauses(2, 8, 5));
    assertThat(pauses.take(300)).isEqualTo(new GcPauses.Pauses(1, 70, 70));
    assertThat(pauses.take(300)).isEqualTo(new GcPauses.Pauses(0, 0, 0));
  }
}
