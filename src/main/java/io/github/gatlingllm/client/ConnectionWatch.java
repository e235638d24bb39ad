package io.github.gatlingllm.client;

import io.gatling.http.client.impl.PrematureCloseException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Watches one HTTP/1.1 connection, after TLS and before HTTP is decoded: whether a byte of the
 * response has arrived since the request was written, and whether the server closes the connection
 * between two responses.
 */
final class ConnectionWatch extends ChannelDuplexHandler {

  /**
   * A close that the server sent before it received the request arrives within a round trip. A
   * later close may be the server's reaction to the request.
   */
  private static final long MAX_ROUND_TRIP_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final String NAME = "llm-connection-watch";

  /** {@code TCP_ESTABLISHED} of Linux: neither side has closed the connection. */
  private static final int ESTABLISHED = 1;

  private final LongSupplier nanoClock;
  private @Nullable ServerConnections server;
  private boolean reused;
  private boolean unanswered;
  private long written;
  private boolean isOpen = true;
  private boolean staysOpen;

  /** The last response left the connection open; whether it stays open is not yet known. */
  private boolean leftOpen;

  private long answered;

  /**
   * The current request has had its complete response: a close in the middle of one is a failure.
   */
  private boolean isAnswered;

  private boolean closedByUs;

  private @Nullable ChunkedBody body;

  private boolean forwarded;

  private ConnectionWatch(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  static ConnectionWatch of(Channel connection, LongSupplier nanoClock) {
    ConnectionWatch installed = connection.pipeline().get(ConnectionWatch.class);
    if (installed != null) {
      return installed;
    }
    BoundedHttp.install(connection.pipeline(), nanoClock);
    ConnectionWatch watch = new ConnectionWatch(nanoClock);
    connection.pipeline().addBefore(BoundedReads.NAME, NAME, watch);
    return watch;
  }

  /** Whether the server has closed it, though that is not read yet; known with epoll only. */
  static boolean isClosed(Channel connection) {
    return connection instanceof EpollSocketChannel socket
        && socket.tcpInfo().state() != ESTABLISHED;
  }

  void writing(long now, boolean isReused, ServerConnections to, @Nullable ChunkedBody of) {
    body = of;
    server = to;
    written = now;
    reused = isReused;
    unanswered = true;
    isAnswered = false;
  }

  void headers(HttpHeaders headers) {
    staysOpen = !headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE, true);
  }

  void answered(long now) {
    leftOpen = staysOpen && isOpen;
    answered = now;
    isAnswered = true;
    if (!isOpen) { // the close was the end of the response
      closed(now);
    }
  }

  void requestEnded() {
    body = null;
  }

  /**
   * Whether a kept-alive connection was closed before the server received the current request: it
   * carried another request before, and no byte of a response arrived.
   */
  boolean isClosedUnanswered(long now) {
    return reused && unanswered && now - written < MAX_ROUND_TRIP_NANOS;
  }

  void foundClosed() {
    unanswered = false;
    closed(written);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) {
    if (unanswered) {
      unanswered = false;
      if (leftOpen && server != null) {
        server.wasKept();
      }
      leftOpen = false;
    }
    if (body != null && bytes instanceof ByteBuf buffer) {
      forwarded |= body.read(context, buffer);
    } else {
      forwarded = true;
      context.fireChannelRead(bytes);
    }
  }

  /** Skipped where no handler received anything: most reads are one plain chunk. */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (forwarded) {
      forwarded = false;
      context.fireChannelReadComplete();
    }
  }

  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    closedByUs = true;
    var unused = context.close(promise);
  }

  /**
   * Reports an exception where a request waits for its response: Gatling's client would otherwise
   * send the request again, on a connection of its pool.
   */
  @Override
  public void channelInactive(ChannelHandlerContext context) {
    isOpen = false;
    if (unanswered && reused && !closedByUs) {
      context.fireExceptionCaught(PrematureCloseException.INSTANCE);
    } else if (isAnswered) {
      closed(nanoClock.getAsLong());
    }
    context.fireChannelInactive();
  }

  private void closed(long now) {
    boolean isRightAfter = now - answered < ServerConnections.RIGHT_AFTER_NANOS;
    if (isRightAfter && server != null) {
      server.wasClosedRightAfter();
    }
    if (leftOpen && server != null) {
      if (!isRightAfter) {
        server.wasKept();
      } else if (!closedByUs) {
        server.wasClosed();
      }
    }
    leftOpen = false;
  }
}
