package io.github.gatlingllm.client;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes one timestamp of each read from the socket, before TLS and HTTP decode it, so that decoding
 * the first part does not delay the next. Also keeps the exception of a failed read: Gatling's
 * client drops it, and reports a reset as a plain close.
 */
final class ReadTimestamps extends ChannelInboundHandlerAdapter {

  private static final String NAME = "llm-read-timestamps";

  private final LongSupplier nanoClock;
  private boolean reading;
  private long readNanos;
  private @Nullable Throwable failure;

  private ReadTimestamps(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  static ReadTimestamps of(Channel connection, LongSupplier nanoClock) {
    ReadTimestamps installed = connection.pipeline().get(ReadTimestamps.class);
    if (installed != null) {
      return installed;
    }
    ReadTimestamps handler = new ReadTimestamps(nanoClock);
    connection.pipeline().addFirst(NAME, handler);
    return handler;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) {
    readNanos = nanoClock.getAsLong();
    reading = true;
    try {
      context.fireChannelRead(bytes);
    } finally {
      reading = false;
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    failure = cause;
    context.fireExceptionCaught(cause);
  }

  @Nullable Throwable failure() {
    return failure;
  }

  long now() {
    return reading ? readNanos : nanoClock.getAsLong();
  }
}
