package io.github.gatlingllm.generator;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;

/**
 * Hears of every garbage collection for which the JVM stood still, and when that was. Safe for
 * several threads.
 */
final class GcPauses implements NotificationListener {

  private final List<Pause> pauses = new ArrayList<>();

  private record Pause(long endNanos, long nanos) {}

  /**
   * Collections of an interval.
   *
   * @param nanos all of them together
   * @param longestNanos the longest
   */
  record Pauses(long count, long nanos, long longestNanos) {}

  /** Listens until it is closed. */
  static GcPauses listen() {
    GcPauses pauses = new GcPauses();
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (isPausing(collector.getName()) && collector instanceof NotificationEmitter emitter) {
        emitter.addNotificationListener(pauses, null, null);
      }
    }
    return pauses;
  }

  /** ZGC and Shenandoah report their cycles, in which the program goes on, beside their pauses. */
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

  /** Those that ended since the call before, up to an instant. */
  synchronized Pauses take(long untilNanos) {
    Pauses sum = new Pauses(0, 0, 0);
    for (Iterator<Pause> all = pauses.iterator(); all.hasNext(); ) {
      Pause pause = all.next();
      if (pause.endNanos - untilNanos < 0) {
        all.remove();
        sum =
            new Pauses(
                sum.count + 1, sum.nanos + pause.nanos, Math.max(sum.longestNanos, pause.nanos));
      }
    }
    return sum;
  }

  void close() {
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter emitter) {
        try {
          emitter.removeNotificationListener(this);
        } catch (ListenerNotFoundException e) {
          // It was not among those that are listened to.
        }
      }
    }
  }
}
