package io.github.gatlingllm.client;

import io.gatling.http.client.impl.DefaultHttpClient;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP/1.1 connection, behind TLS and before HTTP is decoded: whether a byte of an answer has
 * come since a request was written, and whether the server closes the connection between two
 * answers. Stays on its connection for later requests. Lives on its event loop.
 */
final class AnswerWatch extends ChannelDuplexHandler {

  /**
   * A close that crosses the request on its way is seen within a round trip. What comes later than
   * this may be what the server made of the request.
   */
  private static final long LONGEST_RACE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final String NAME = "llm-answer-watch";

  /** {@code TCP_ESTABLISHED} of Linux: neither side has closed. */
  private static final int ESTABLISHED = 1;

  private final LongSupplier nanoClock;
  private @Nullable ServerConnections server;
  private boolean reused;
  private boolean unanswered;
  private long written;
  private boolean isOpen = true;
  private boolean staysOpen;

  /** The last answer left the connection open, and what became of that is not known yet. */
  private boolean leftOpen;

  private long answered;
  private boolean closedByUs;

  private @Nullable ChunkedBody body;

  /** Something was read that handlers behind this one were given. */
  private boolean passedOn;

  private AnswerWatch(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** The one of that connection. */
  static AnswerWatch of(Channel connection, LongSupplier nanoClock) {
    AnswerWatch there = connection.pipeline().get(AnswerWatch.class);
    if (there != null) {
      return there;
    }
    BoundedHttp.install(connection.pipeline());
    AnswerWatch watch = new AnswerWatch(nanoClock);
    connection.pipeline().addBefore(DefaultHttpClient.HTTP_CLIENT_CODEC, NAME, watch);
    return watch;
  }

  /**
   * Whether the server has closed that connection, although nothing was read of it yet. Known with
   * Linux' own transport, Gatling's default there.
   */
  static boolean isClosed(Channel connection) {
    return connection instanceof EpollSocketChannel socket
        && socket.tcpInfo().state() != ESTABLISHED;
  }

  /**
   * A request is about to be written.
   *
   * @param used whether the connection served another request before
   * @param to whom it is written
   * @param receiver who is given the body
   */
  void writing(long now, boolean used, ServerConnections to, ChunkedBody.Receiver receiver) {
    body = new ChunkedBody(receiver);
    server = to;
    written = now;
    reused = used;
    unanswered = true;
  }

  /** The headers of the answer are in. */
  void headers(HttpHeaders headers) {
    staysOpen = !headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE, true);
  }

  /** The answer is whole. */
  void answered(long now) {
    leftOpen = staysOpen && isOpen;
    answered = now;
  }

  /** Nobody wants the body any more. */
  void over() {
    body = null;
  }

  /**
   * Whether the connection was closed before it could carry the request under way: it served
   * another one before, and not one byte came back.
   */
  boolean isLost(long now) {
    return reused && unanswered && now - written < LONGEST_RACE_NANOS;
  }

  /** The connection was found closed, instead of carrying the request that was written then. */
  void lost() {
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
      passedOn |= body.read(context, buffer);
    } else {
      passedOn = true;
      context.fireChannelRead(bytes);
    }
  }

  /** Only for handlers that were given something: what is read is most often one plain chunk. */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (passedOn) {
      passedOn = false;
      context.fireChannelReadComplete();
    }
  }

  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    closedByUs = true;
    var unused = context.close(promise);
  }

  /**
   * Says it as an exception where a request waits for its answer: Gatling's client would send it
   * again, on a connection that it takes from others.
   */
  @Override
  public void channelInactive(ChannelHandlerContext context) {
    isOpen = false;
    if (unanswered && reused && !closedByUs) {
      context.fireExceptionCaught(new Unanswered());
    } else if (!unanswered) {
      closed(nanoClock.getAsLong());
    }
    context.fireChannelInactive();
  }

  private void closed(long now) {
    if (leftOpen && server != null) {
      if (now - answered >= ServerConnections.RIGHT_AFTER_NANOS) {
        server.wasKept();
      } else if (!closedByUs) {
        server.wasClosed();
      }
    }
    leftOpen = false;
  }

  /** A connection that was kept alive is closed, and the request on it has no answer. */
  static final class Unanswered extends ClosedChannelException {
    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }
}
