package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gatling.http.client.impl.Http2AppHandler;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Watches the HTTP/2 stream of one request from its write to its end: Gatling's client reports
 * neither a stream reset by the server nor a connection closed with open streams.
 */
final class StreamWatch extends Http2ConnectionAdapter {

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
}
