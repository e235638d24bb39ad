package io.github.gatlingllm.client;

import io.gatling.http.client.pool.ChannelPool;
import io.github.gatlingllm.client.BoundedHttp.GzipBody;
import io.github.gatlingllm.client.BoundedHttp.TruncatedGzip;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DelegatingDecompressorFrameListener;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Does for HTTP/2 what {@link BoundedHttp} does for HTTP/1.1: bounds the work per read, requires
 * complete gzip data, and keeps Gatling's client from sending a request again after a GOAWAY.
 */
final class Http2Frames extends DelegatingDecompressorFrameListener {

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
    return BoundedHttp.isGzip(encoding)
        ? new GzipBody(context.channel()) {
          @Override
          public boolean finishAndReleaseAll() {
            try {
              return super.finishAndReleaseAll();
            } catch (TruncatedGzip ofAbandonedStream) {
              return false;
            }
          }
        }
        : null;
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
