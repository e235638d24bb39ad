package io.github.gatlingllm.client;

import io.netty.channel.EventLoop;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reports on an event loop that nothing has happened for a time. It checks twice, as a busy loop
 * reads what has arrived before it looks again.
 */
final class IdleTimer {

  private static final long RECHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private static final long NEVER = Long.MIN_VALUE;

  private final EventLoop eventLoop;
  private final LongSupplier nanoClock;

  /** Takes the instant since which nothing has happened. */
  private final LongConsumer whenIdle;

  private @Nullable ScheduledFuture<?> check;
  private long limitNanos;
  private long since = NEVER;

  /** The first check that was late found nothing since this instant. */
  private long checked = NEVER;

  IdleTimer(EventLoop eventLoop, LongSupplier nanoClock, LongConsumer whenIdle) {
    this.eventLoop = eventLoop;
    this.nanoClock = nanoClock;
    this.whenIdle = whenIdle;
  }

  /** Something happened at this instant: the time begins anew. */
  void restart(long at, long limit) {
    boolean isShorter = limit < limitNanos;
    since = at;
    limitNanos = limit;
    if (check == null || isShorter) {
      stop();
      schedule(limit);
    }
  }

  /** Reports nothing until it is started again. */
  void pause() {
    since = NEVER;
  }

  void stop() {
    if (check != null) {
      check.cancel(false);
    }
  }

  private void schedule(long nanos) {
    check = eventLoop.schedule(this::check, nanos, TimeUnit.NANOSECONDS);
  }

  private void check() {
    check = null;
    if (since == NEVER) {
      return;
    }
    long remaining = limitNanos - (nanoClock.getAsLong() - since);
    if (remaining <= 0 && checked == since) {
      whenIdle.accept(since);
      return;
    }
    if (remaining <= 0) {
      checked = since;
    }
    schedule(Math.max(remaining, RECHECK_NANOS));
  }
}
