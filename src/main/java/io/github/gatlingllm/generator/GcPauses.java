package io.github.gatlingllm.generator;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;

/** Hears of every garbage collection for which the JVM stood still. Safe for several threads. */
final class GcPauses implements NotificationListener {

  private Pauses sum = new Pauses(0, 0, 0);

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
      add(GarbageCollectionNotificationInfo.from(data).getGcInfo().getDuration() * 1_000_000);
    }
  }

  synchronized void add(long nanos) {
    sum = new Pauses(sum.count + 1, sum.nanos + nanos, Math.max(sum.longestNanos, nanos));
  }

  /** Those since the call before. */
  synchronized Pauses take() {
    Pauses taken = sum;
    sum = new Pauses(0, 0, 0);
    return taken;
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
