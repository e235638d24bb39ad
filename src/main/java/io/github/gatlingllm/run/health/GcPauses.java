package io.github.gatlingllm.run.health;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;

/** Collects the stop-the-world pauses of all garbage collectors. Thread-safe. */
final class GcPauses implements NotificationListener {

  private final List<Pause> pauses = new ArrayList<>();

  private record Pause(long endNanos, long nanos) {}

  record Pauses(long count, long nanos, long longestNanos) {}

  /** Starts to listen, until {@link #close}. */
  static GcPauses listen() {
    GcPauses pauses = new GcPauses();
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (isPausing(collector.getName()) && collector instanceof NotificationEmitter emitter) {
        emitter.addNotificationListener(pauses, null, null);
      }
    }
    return pauses;
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
      add(System.nanoTime() - sinceMillis * 1_000_000, collection.getDuration() * 1_000_000);
    }
  }

  synchronized void add(long endNanos, long nanos) {
    pauses.add(new Pause(endNanos, nanos));
  }

  /** Removes and sums the pauses that ended before an instant of {@link System#nanoTime()}. */
  synchronized Pauses take(long untilNanos) {
    List<Pause> over = pauses.stream().filter(pause -> pause.endNanos - untilNanos < 0).toList();
    pauses.removeAll(over);
    LongSummaryStatistics nanos = over.stream().mapToLong(Pause::nanos).summaryStatistics();
    return new Pauses(over.size(), nanos.getSum(), Math.max(0, nanos.getMax()));
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
}
