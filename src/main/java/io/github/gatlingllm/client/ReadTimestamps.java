package io.github.gatlingllm.client;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes the timestamp of each read from the socket, before TLS and HTTP decode it. All bytes of one
 * read share one timestamp, so that decoding the first part does not delay the next. Also keeps the
 * exception of a failed read: Gatling's client drops it, and reports a reset as a plain close.
 *
 * <p>First handler of its connection, where it stays for later requests. Belongs to its event loop.
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

  /** Why reading failed; null where it did not, or the connection was closed in order. */
  @Nullable Throwable failure() {
    return failure;
  }

  /** Timestamp of the current read; the current time outside a read. */
  long now() {
    return reading ? readNanos : nanoClock.getAsLong();
  }
}
