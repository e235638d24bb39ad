package io.github.gatlingllm.client;

import io.github.gatlingllm.client.ResponseBody.Answered;
import io.netty.channel.EventLoop;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends a request whose answer is complete though its server does not end the body. After the last
 * mark of the API the body has {@link #AFTER_MARK_NANOS} to end, so that a connection can be used
 * again; where every choice is finished without a mark, token counts may still come for {@link
 * #AFTER_FINISH_NANOS}. The request then ends at the instant of its last event: the wait is in no
 * figure.
 */
final class OpenEnd {

  static final long AFTER_MARK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  static final long AFTER_FINISH_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

  private static final long NONE = Long.MIN_VALUE;

  private final EventLoop eventLoop;
  private final LongSupplier nanoClock;

  /** Takes the instant at which the answer ended. */
  private final LongConsumer whenLeftOpen;

  private @Nullable ScheduledFuture<?> check;
  private long ended = NONE;
  private long waitNanos;

  /** The wait for this end was over once: a second look, as the event loop may have been busy. */
  private long seen = NONE;

  OpenEnd(EventLoop eventLoop, LongSupplier nanoClock, LongConsumer whenLeftOpen) {
    this.eventLoop = eventLoop;
    this.nanoClock = nanoClock;
    this.whenLeftOpen = whenLeftOpen;
  }

  /**
   * Bytes were read.
   *
   * @param at when the last of them came that belongs to the answer
   */
  void read(Answered answered, long at) {
    boolean isMarked = waitNanos == AFTER_MARK_NANOS;
    if (answered == Answered.NOT_YET) {
      ended = NONE;
    } else if (answered == Answered.SETTLED || !isMarked) {
      ended = at;
      waitNanos = answered == Answered.ENDED ? AFTER_MARK_NANOS : AFTER_FINISH_NANOS;
      if (check == null || waitNanos == AFTER_MARK_NANOS) {
        stop();
        schedule(waitNanos);
      }
    }
  }

  private void check() {
    check = null;
    if (ended == NONE) {
      return;
    }
    long left = waitNanos - (nanoClock.getAsLong() - ended);
    if (left <= 0 && seen == ended) {
      whenLeftOpen.accept(ended);
      return;
    }
    if (left <= 0) {
      seen = ended;
    }
    schedule(Math.max(left, IdleTimeout.RECHECK_NANOS));
  }

  private void schedule(long nanos) {
    check = eventLoop.schedule(this::check, nanos, TimeUnit.NANOSECONDS);
  }

  void stop() {
    if (check != null) {
      check.cancel(false);
    }
  }
}
