package io.github.gatlingllm.run;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;

/**
 * Counters of JVM and system, of {@code /proc} on Linux, elsewhere fewer; and pauses of the JVM for
 * garbage collection.
 */
final class MachineCounters implements NotificationListener {

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
  private final List<Pause> pauses = new ArrayList<>();

  private record Pause(long endNanos, long nanos) {}

  MachineCounters(Path root) {
    this.root = root;
  }

  /** Starts to listen to the garbage collectors of this JVM. */
  static MachineCounters listening() {
    MachineCounters here = new MachineCounters(Path.of("/"));
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (isPausing(collector.getName()) && collector instanceof NotificationEmitter emitter) {
        emitter.addNotificationListener(here, null, null);
      }
    }
    return here;
  }

  /** ZGC and Shenandoah also report their concurrent cycles, during which the program runs. */
  static boolean isPausing(String collector) {
    return !collector.endsWith("Cycles") && !collector.contains("Concurrent");
  }

  @Override
  public void handleNotification(Notification notification, @Nullable Object handback) {
    if (notification
        .getType()
        .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
      CompositeData data = (CompositeData) notification.getUserData();
      GcInfo collection = GarbageCollectionNotificationInfo.from(data).getGcInfo();
      long sinceMillis = ManagementFactory.getRuntimeMXBean().getUptime() - collection.getEndTime();
      paused(System.nanoTime() - sinceMillis * 1_000_000, collection.getDuration() * 1_000_000);
    }
  }

  synchronized void paused(long endNanos, long nanos) {
    pauses.add(new Pause(endNanos, nanos));
  }

  /** Removes the pauses that ended before an instant of {@link System#nanoTime()}. */
  synchronized LongSummaryStatistics pauses(long untilNanos) {
    List<Pause> over = pauses.stream().filter(pause -> pause.endNanos - untilNanos < 0).toList();
    pauses.removeAll(over);
    return over.stream().mapToLong(Pause::nanos).summaryStatistics();
  }

  void close() {
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter emitter) {
        try {
          emitter.removeNotificationListener(this);
        } catch (ListenerNotFoundException e) {
          // Not a pausing collector: no listener was added.
        }
      }
    }
  }

  int cpus() {
    return system.getAvailableProcessors();
  }

  /** Nanoseconds since the start of machine or process; without what the system does not report. */
  Map<GeneratorField, Long> totals() {
    Map<GeneratorField, Long> totals = new EnumMap<>(GeneratorField.class);
    totals.put(GeneratorField.PROCESS_CPU_S, system.getProcessCpuTime());
    totals.put(
        GeneratorField.COMPILER_S,
        compiler != null && compiler.isCompilationTimeMonitoringSupported()
            ? compiler.getTotalCompilationTime() * 1_000_000
            : 0);
    // cpu user nice system idle iowait irq softirq steal guest guest_nice
    String[] ticks = read("proc/stat").split("\\R", 2)[0].split(" +");
    if (ticks.length >= 8 && Stream.of(ticks).skip(1).allMatch(t -> t.matches("\\d+"))) {
      long[] nanos =
          Stream.of(ticks).skip(1).mapToLong(t -> Long.parseLong(t) * TICK_NANOS).toArray();
      totals.put(GeneratorField.MACHINE_USER_S, nanos[0] + nanos[1]);
      totals.put(GeneratorField.MACHINE_SYSTEM_S, nanos[2] + nanos[5] + nanos[6]);
      totals.put(GeneratorField.MACHINE_IDLE_S, nanos[3] + nanos[4]);
      if (nanos.length > 7) {
        totals.put(GeneratorField.MACHINE_STEAL_S, nanos[7]);
      }
    }
    add(totals, GeneratorField.CPU_PRESSURE_S, SOME, "proc/pressure/cpu", 1_000);
    add(totals, GeneratorField.THROTTLED_S, THROTTLED_V2, "sys/fs/cgroup/cpu.stat", 1_000);
    add(totals, GeneratorField.THROTTLED_S, THROTTLED_V1, "sys/fs/cgroup/cpu/cpu.stat", 1);
    return totals;
  }

  private void add(
      Map<GeneratorField, Long> totals,
      GeneratorField field,
      Pattern pattern,
      String file,
      long unitNanos) {
    Matcher found = pattern.matcher(read(file));
    if (found.find()) {
      totals.putIfAbsent(field, Long.parseLong(found.group(1)) * unitNanos);
    }
  }

  private String read(String file) {
    try {
      return Files.readString(root.resolve(file));
    } catch (IOException e) {
      return "";
    }
  }

  /** Share of all processors in use since the previous call, 0 to 1; below 0 if unknown. */
  double load() {
    return system.getCpuLoad();
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
    try {
      return system instanceof UnixOperatingSystemMXBean unix
          ? (Long) unix.getOpenFileDescriptorCount()
          : null;
    } catch (InternalError none) { // the JVM counts them with a file that it cannot open
      return null;
    }
  }
}
