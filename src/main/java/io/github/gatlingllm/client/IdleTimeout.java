package io.github.gatlingllm.client;

import io.netty.channel.EventLoop;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Notices that no byte has come for a time. A silence counts when it was seen twice: bytes may wait
 * for an event loop that was busy. To be called on that event loop.
 */
final class IdleTimeout {

  /** Long enough for all that has come in by now to be read. */
  private static final long ONCE_MORE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final long limitNanos;
  private final EventLoop eventLoop;
  private final LongSupplier nanoClock;
  private final LongConsumer whenSilent;

  private @Nullable ScheduledFuture<?> next;
  private long lastByte;

  /** The {@link #lastByte} after which the limit has passed; any other value before. */
  private long silentSince;

  /**
   * One that is not on yet.
   *
   * @param limitNanos longest silence; 0 for no limit
   * @param whenSilent is told the instant, once
   */
  IdleTimeout(
      long limitNanos, EventLoop eventLoop, LongSupplier nanoClock, LongConsumer whenSilent) {
    this.limitNanos = limitNanos;
    this.eventLoop = eventLoop;
    this.nanoClock = nanoClock;
    this.whenSilent = whenSilent;
  }

  /** From now on silence counts, if it did not yet. */
  void start(long now) {
    heard(now);
    if (next == null && limitNanos > 0) {
      lookIn(limitNanos);
    }
  }

  /** A byte came. */
  void heard(long now) {
    lastByte = now;
  }

  void stop() {
    if (next != null) {
      next.cancel(false);
    }
  }

  private void lookIn(long nanos) {
    next = eventLoop.schedule(this::look, nanos, TimeUnit.NANOSECONDS);
  }

  private void look() {
    long now = nanoClock.getAsLong();
    long left = limitNanos - (now - lastByte);
    if (left <= 0 && silentSince == lastByte) {
      whenSilent.accept(now);
      return;
    }
    if (left <= 0) {
      silentSince = lastByte;
    }
    lookIn(Math.max(left, ONCE_MORE_NANOS));
  }
}
