package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gatling.http.client.impl.Http2AppHandler;
import io.gatling.http.client.pool.ChannelPool;
import io.github.gatlingllm.client.StreamedExchange.Transport;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.DelegatingDecompressorFrameListener;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Stream;
import java.io.IOException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The connection of one request: a kept-alive or a new one; sends the request a second time where
 * the kept-alive one was closed before it carried the request.
 */
final class RequestConnection {

  static {
    // Loads these classes early: loading opens a file, which fails with "too many open files".
    var unused = Secrets.NONE.line(ConnectionFailure.reason(new IOException("none yet")));
  }

  private final StreamedExchange exchange;
  private final LongSupplier nanoClock;

  private @Nullable Transport transport;
  private boolean sending;
  private boolean resent;
  private boolean http2;
  private @Nullable Channel channel;
  private @Nullable ReadTimestamps timestamps;

  private @Nullable StreamWatch stream;

  private @Nullable ConnectionWatch watch;

  RequestConnection(StreamedExchange exchange, LongSupplier nanoClock) {
    this.exchange = exchange;
    this.nanoClock = nanoClock;
  }

  void send(Transport through) {
    transport = through;
    send(through, through.server().needsNewConnections());
  }

  private void send(Transport through, boolean onNewConnection) {
    sending = true;
    try {
      if (onNewConnection) {
        through.sendOnNewConnection(exchange);
      } else {
        through.send(exchange);
      }
    } finally {
      sending = false;
    }
  }

  /** Whether this class is sending the request now, rather than Gatling's client. */
  boolean isSending() {
    return sending;
  }

  boolean isConnected() {
    return channel != null;
  }

  boolean wasResent() {
    return resent;
  }

  void protocol(boolean isHttp2) {
    http2 = isHttp2;
  }

  String protocol() {
    return http2 ? "HTTP/2" : "HTTP/1.1";
  }

  /**
   * The request is about to be written.
   *
   * @throws FoundClosed if the server has closed the connection; stops Gatling's client from
   *     writing
   */
  void writing(Channel connected, long now) {
    channel = connected;
    timestamps = ReadTimestamps.of(connected, nanoClock);
    if (http2) {
      stream = StreamWatch.ofNext(connected, nanoClock, exchange::streamClosed);
    } else if (transport != null) {
      watch = ConnectionWatch.of(connected, nanoClock);
      watch.writing(now, sending, transport.server(), new ChunkedBody(exchange));
      if (sending && ConnectionWatch.isClosed(connected)) {
        throw new FoundClosed();
      }
    }
  }

  @Nullable Long roundTripNanos() {
    return timestamps == null ? null : timestamps.roundTripNanos();
  }

  long arrival() {
    return timestamps == null ? nanoClock.getAsLong() : timestamps.now();
  }

  void headers(HttpHeaders headers) {
    if (watch != null) {
      watch.headers(headers);
    }
  }

  void answered(long now) {
    if (watch != null) {
      watch.answered(now);
    }
  }

  /**
   * Sends the request again on a new connection, if the kept-alive one was closed before it carried
   * the request. Happens at most once, as a new connection is never in that state.
   */
  boolean resend(long now, Throwable cause) {
    boolean isFoundClosed = cause instanceof FoundClosed;
    if (transport == null
        || watch == null
        || !(isFoundClosed || (cause instanceof IOException && watch.isClosedUnanswered(now)))) {
      return false;
    }
    watch.foundClosed();
    resent = !isFoundClosed;
    channel = null;
    timestamps = null;
    watch = null;
    send(transport, true);
    return true;
  }

  /** Why it was closed, where that is known. */
  @Nullable Throwable failure() {
    Throwable ofStream = stream == null ? null : stream.failure();
    return ofStream != null || timestamps == null ? ofStream : timestamps.failure();
  }

  boolean isActive() {
    return channel != null && channel.isActive();
  }

  boolean isStream() {
    return stream != null;
  }

  /** The proxy, where no connection was opened; else null. */
  @Nullable String proxy() {
    return channel == null && transport != null ? transport.proxy() : null;
  }

  @Nullable String error(StreamedExchange.Ending end) {
    if (end.error() == null || transport == null || end.status().isCut()) {
      return end.error();
    }
    boolean isUnreachable =
        channel == null
            && end.status() == RequestStatus.CONNECTION_ERROR
            && GeneratorLimit.of(end.error()) == null;
    String variable = isUnreachable ? transport.unusedProxy() : null;
    return transport.named(
        variable == null ? end.error() : Sentence.text("proxy_unused", end.error(), variable));
  }

  /** Makes the server stop: closes the connection, or resets the stream with HTTP/2. */
  void abandon() {
    if (stream != null) {
      stream.reset();
    } else if (channel != null) {
      var unused = channel.close();
    }
  }

  void requestEnded() {
    if (stream != null) {
      stream.stop();
    }
    if (watch != null) {
      watch.requestEnded();
    }
    if (transport != null) {
      transport.ended();
    }
  }

  /** Stops Gatling's client from sending a request a second time. */
  static RuntimeException resendRefused() {
    return new NotSent("request refused that Gatling's client sends a second time");
  }

  /** Thrown into Gatling's client before it writes a request. */
  private static class NotSent extends RuntimeException {
    NotSent(String why) {
      super(why, null, false, false);
    }
  }

  private static final class FoundClosed extends NotSent {
    FoundClosed() {
      super("kept-alive connection found closed");
    }
  }

  /**
   * Watches the HTTP/2 stream of one request from its write to its end: Gatling's client reports
   * neither a stream reset by the server nor a connection closed with open streams.
   */
  private static final class StreamWatch extends Http2ConnectionAdapter {

    private final Channel channel;
    private final Http2Frames frames;
    private final Runnable whenClosed;
    private @Nullable Integer stream;
    private @Nullable Throwable failure;

    private StreamWatch(Channel channel, Http2Frames frames, Runnable whenClosed) {
      this.channel = channel;
      this.frames = frames;
      this.whenClosed = whenClosed;
    }

    /** Watches the next stream to be opened; call just before the request is written. */
    static StreamWatch ofNext(Channel channel, LongSupplier nanoClock, Runnable whenClosed) {
      Http2Frames frames = Http2Frames.of(channel, nanoClock);
      StreamWatch watch = new StreamWatch(channel, frames, whenClosed);
      frames.connection().addListener(watch);
      return watch;
    }

    @Override
    public void onStreamAdded(Http2Stream added) {
      if (stream == null && frames.connection().local().isValidStreamId(added.id())) {
        stream = added.id();
      }
    }

    @Override
    public void onStreamClosed(Http2Stream closed) {
      if (stream != null && stream == closed.id()) {
        failure = failure == null ? frames.failure(closed) : failure;
        whenClosed.run();
      }
    }

    /** Netty closes a connection on an invalid frame, or on headers of more than 10 KiB. */
    @Override
    public void onGoAwaySent(int lastStreamId, long errorCode, ByteBuf why) {
      if (errorCode != Http2Error.NO_ERROR.code()) {
        failure = new Http2Exception(Http2Error.valueOf(errorCode), why.toString(UTF_8));
      }
    }

    /** Why the stream was closed, if known: data that cannot be decoded, or an invalid frame. */
    @Nullable Throwable failure() {
      return failure;
    }

    void stop() {
      frames.connection().removeListener(this);
    }

    /** Resets the stream, so that the server stops; the connection stays open for other streams. */
    void reset() {
      if (stream != null) {
        channel.pipeline().fireUserEventTriggered(new Http2AppHandler.StreamTimeout(stream));
        channel.flush();
      }
    }

    /**
     * Does for HTTP/2 what {@link BoundedHttp} does for HTTP/1.1: bounds the work per read,
     * requires complete gzip data, and stops Gatling's client from sending a request again after a
     * GOAWAY.
     */
    private static final class Http2Frames extends DelegatingDecompressorFrameListener {

      private final Http2Connection connection;
      private final Http2Connection.PropertyKey failure;

      private Http2Frames(Http2Connection connection, Http2FrameListener gatlings) {
        super(connection, gatlings, 0);
        this.connection = connection;
        this.failure = connection.newKey();
      }

      static Http2Frames of(Channel channel, LongSupplier nanoClock) {
        Http2ConnectionHandler handler = channel.pipeline().get(Http2ConnectionHandler.class);
        Http2FrameListener listener = handler.decoder().frameListener();
        if (listener instanceof Http2Frames installed) {
          return installed;
        }
        Http2Frames frames = new Http2Frames(handler.connection(), listener);
        handler.decoder().frameListener(frames);
        channel
            .pipeline()
            .addBefore(
                channel.pipeline().context(handler).name(),
                BoundedReads.NAME,
                new BoundedReads(nanoClock));
        return frames;
      }

      Http2Connection connection() {
        return connection;
      }

      /** Why the body of a stream could not be decoded; null where it could. */
      @Nullable Throwable failure(Http2Stream stream) {
        return stream.getProperty(failure);
      }

      /** Other encodings are decoded by Gatling's listener. */
      @Override
      protected @Nullable EmbeddedChannel newContentDecompressor(
          ChannelHandlerContext context, CharSequence encoding) {
        return BoundedHttp.isGzip(encoding) ? BoundedHttp.gzip(context.channel(), true) : null;
      }

      @Override
      public int onDataRead(
          ChannelHandlerContext context, int id, ByteBuf data, int padding, boolean endOfStream)
          throws Http2Exception {
        Http2Stream stream = connection.stream(id);
        try {
          return super.onDataRead(context, id, data, padding, endOfStream);
        } catch (Http2Exception e) {
          stream.setProperty(failure, e.getCause());
          throw e;
        }
      }

      /** Takes the connection out of the pool; Netty ends the streams that were not processed. */
      @Override
      public void onGoAwayRead(
          ChannelHandlerContext context, int lastStreamId, long errorCode, ByteBuf why) {
        ChannelPool.markAsGoAway(context.channel());
      }
    }
  }
}
