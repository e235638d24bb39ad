package io.github.gatlingllm.run.health;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Counters of JVM and operating system: CPU time, memory, open files. On Linux from {@code /proc};
 * elsewhere from the Java runtime, which has fewer of them: the others are null. Not thread-safe.
 */
final class MachineCounters {

  /** Linux reports CPU time in hundredths of a second, whatever the kernel's timer frequency. */
  private static final long TICK_NANOS = 10_000_000;

  private static final Pattern SOME = Pattern.compile("some .*total=(\\d+)");
  private static final Pattern THROTTLED_V2 = Pattern.compile("throttled_usec (\\d+)");
  private static final Pattern THROTTLED_V1 = Pattern.compile("throttled_time (\\d+)");

  private final OperatingSystemMXBean system =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
  private final @Nullable CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
  private final List<BufferPoolMXBean> buffers =
      ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class);
  private final Path root;

  MachineCounters(Path root) {
    this.root = root;
  }

  /** CPU time of all processors since boot, in nanoseconds. */
  record Cpu(long user, @Nullable Long system, long idle, @Nullable Long steal) {}

  int cpus() {
    return system.getAvailableProcessors();
  }

  long processCpuNanos() {
    return system.getProcessCpuTime();
  }

  long compilerNanos() {
    return compiler != null && compiler.isCompilationTimeMonitoringSupported()
        ? compiler.getTotalCompilationTime() * 1_000_000
        : 0;
  }

  @Nullable Cpu cpu() {
    // cpu user nice system idle iowait irq softirq steal guest guest_nice
    String[] ticks = read("proc/stat").split("\\R", 2)[0].split(" +");
    if (ticks.length < 8 || !Stream.of(ticks).skip(1).allMatch(t -> t.matches("\\d+"))) {
      return null;
    }
    long[] nanos =
        Stream.of(ticks).skip(1).mapToLong(t -> Long.parseLong(t) * TICK_NANOS).toArray();
    return new Cpu(
        nanos[0] + nanos[1],
        nanos[2] + nanos[5] + nanos[6],
        nanos[3] + nanos[4],
        nanos.length > 7 ? (Long) nanos[7] : null);
  }

  /** Share of all processors in use since the previous call, 0 to 1; below 0 if unknown. */
  double load() {
    return system.getCpuLoad();
  }

  /** Time since boot in which at least one task waited for a processor; null if unknown. */
  @Nullable Long pressureNanos() {
    return number(SOME, "proc/pressure/cpu", 1_000);
  }

  /** Time for which the container's CPU quota throttled it; null if unknown. */
  @Nullable Long throttledNanos() {
    Long v2 = number(THROTTLED_V2, "sys/fs/cgroup/cpu.stat", 1_000);
    return v2 != null ? v2 : number(THROTTLED_V1, "sys/fs/cgroup/cpu/cpu.stat", 1);
  }

  private @Nullable Long number(Pattern pattern, String file, long unitNanos) {
    Matcher found = pattern.matcher(read(file));
    return found.find() ? (Long) (Long.parseLong(found.group(1)) * unitNanos) : null;
  }

  private String read(String file) {
    try {
      return Files.readString(root.resolve(file));
    } catch (IOException e) {
      return "";
    }
  }

  long heapUsed() {
    return memory.getHeapMemoryUsage().getUsed();
  }

  /** Netty's direct memory, which the JVM does not count, plus that of the JVM's direct buffers. */
  long directBytes() {
    return Math.max(0, PlatformDependent.usedDirectMemory())
        + buffers.stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
  }

  @Nullable Long openFiles() {
    return system instanceof UnixOperatingSystemMXBean unix
        ? (Long) unix.getOpenFileDescriptorCount()
        : null;
  }
}
