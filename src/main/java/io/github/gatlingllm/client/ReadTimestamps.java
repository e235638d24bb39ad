package io.github.gatlingllm.client;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollSocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes one timestamp of each read from the socket, before TLS and HTTP decode it, so that decoding
 * the first part does not delay the next. Also stores the exception of a failed read: Gatling's
 * client drops it, and reports a reset as a plain close.
 */
final class ReadTimestamps extends ChannelInboundHandlerAdapter {

  private static final String NAME = "llm-read-timestamps";

  private final LongSupplier nanoClock;
  private boolean reading;
  private long readNanos;
  private @Nullable Throwable failure;

  private final @Nullable Long roundTripNanos;

  private ReadTimestamps(LongSupplier nanoClock, @Nullable Long roundTripNanos) {
    this.nanoClock = nanoClock;
    this.roundTripNanos = roundTripNanos;
  }

  static ReadTimestamps of(Channel connection, LongSupplier nanoClock) {
    ReadTimestamps installed = connection.pipeline().get(ReadTimestamps.class);
    if (installed != null) {
      return installed;
    }
    ReadTimestamps handler = new ReadTimestamps(nanoClock, handshakeNanos(connection));
    connection.pipeline().addFirst(NAME, handler);
    return handler;
  }

  /**
   * The kernel's round trip time of a new connection, which then is that of its handshake; null
   * without epoll. It is more exact than any time taken here, as no event loop is in it.
   */
  private static @Nullable Long handshakeNanos(Channel connection) {
    Channel socket = connection.parent() == null ? connection : connection.parent();
    return socket instanceof EpollSocketChannel epoll && epoll.isActive()
        ? (Long) TimeUnit.MICROSECONDS.toNanos(epoll.tcpInfo().rtt())
        : null;
  }

  /** Round trip time of the connection when it was new; null where it is unknown. */
  @Nullable Long roundTripNanos() {
    return roundTripNanos;
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
