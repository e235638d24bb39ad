package io.github.gatlingllm.client;

import io.netty.channel.EventLoop;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Reports that no byte has arrived for a time; checks twice, as a loop may be busy. */
final class IdleTimeout {

  /** A busy event loop reads what has arrived before it looks again. */
  static final long RECHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final long limitNanos;
  private final EventLoop eventLoop;
  private final LongSupplier nanoClock;
  private final LongConsumer whenIdle;

  private @Nullable ScheduledFuture<?> next;
  private long lastByte;

  private long idleSince;

  IdleTimeout(long limitNanos, EventLoop eventLoop, LongSupplier nanoClock, LongConsumer whenIdle) {
    this.limitNanos = limitNanos;
    this.eventLoop = eventLoop;
    this.nanoClock = nanoClock;
    this.whenIdle = whenIdle;
  }

  /** Starts the timeout; a further call only counts as a byte. */
  void start(long now) {
    byteReceived(now);
    if (next == null && limitNanos > 0) {
      scheduleCheck(limitNanos);
    }
  }

  void byteReceived(long now) {
    lastByte = now;
  }

  void stop() {
    if (next != null) {
      next.cancel(false);
    }
  }

  private void scheduleCheck(long nanos) {
    next = eventLoop.schedule(this::check, nanos, TimeUnit.NANOSECONDS);
  }

  private void check() {
    long now = nanoClock.getAsLong();
    long left = limitNanos - (now - lastByte);
    if (left <= 0 && idleSince == lastByte) {
      whenIdle.accept(now);
      return;
    }
    if (left <= 0) {
      idleSince = lastByte;
    }
    scheduleCheck(Math.max(left, RECHECK_NANOS));
  }
}
