package io.github.gatlingllm.client;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Passes what was read to the HTTP decoder in parts: compressed data may become a thousand times as
 * large. Where decoding takes longer than {@link #MAX_NANOS}, the event loop first runs its timers
 * and other connections; until then no more is read.
 */
final class BoundedReads extends ChannelDuplexHandler {

  static final String NAME = "llm-bounded-reads";

  private static final int PART = 4 * 1024;
  private static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final LongSupplier nanoClock;
  private final Queue<ByteBuf> waiting = new ArrayDeque<>();
  private boolean paused;

  /** In this turn of the event loop, whose time counts from the byte with number {@link #PART}. */
  private long passed;

  private long begun;
  private @Nullable Throwable failure;
  private boolean inactive;

  BoundedReads(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) {
    waiting.add((ByteBuf) bytes);
    if (!paused) {
      pass(context);
    }
  }

  private void pass(ChannelHandlerContext context) {
    while (!waiting.isEmpty() && (passed < PART || nanoClock.getAsLong() - begun < MAX_NANOS)) {
      ByteBuf bytes = waiting.element();
      ByteBuf part =
          bytes.readableBytes() > PART ? bytes.readRetainedSlice(PART) : waiting.remove();
      if (passed < PART && passed + part.readableBytes() >= PART) {
        begun = nanoClock.getAsLong();
      }
      passed += part.readableBytes();
      context.fireChannelRead(part);
    }
    paused = !waiting.isEmpty();
    if (paused) {
      context.channel().config().setAutoRead(false);
      // Scheduled, as a loop runs up to 64 tasks of its queue before it looks at its timers.
      var unused =
          context.executor().schedule(() -> resumeReading(context), 0, TimeUnit.NANOSECONDS);
    }
  }

  private void resumeReading(ChannelHandlerContext context) {
    passed = 0;
    pass(context);
    context.fireChannelReadComplete();
    if (!paused) {
      context.channel().config().setAutoRead(true);
      if (failure != null) {
        context.fireExceptionCaught(failure);
      }
      if (inactive) {
        context.fireChannelInactive();
      }
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    passed = paused ? passed : 0;
    context.fireChannelReadComplete();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (paused) {
      failure = cause;
    } else {
      context.fireExceptionCaught(cause);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (paused) {
      inactive = true;
    } else {
      context.fireChannelInactive();
    }
  }

  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    waiting.forEach(ByteBuf::release);
    waiting.clear();
    var unused = context.close(promise);
  }
}
