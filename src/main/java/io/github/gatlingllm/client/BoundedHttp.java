package io.github.gatlingllm.client;

import io.gatling.http.client.impl.DefaultHttpClient;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.compression.DecompressionException;
import io.netty.handler.codec.compression.JdkZlibDecoder;
import io.netty.handler.codec.compression.ZlibWrapper;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderValues;
import java.util.List;

/**
 * How an HTTP/1.1 connection decodes what a server sends: as Gatling's client does, but with a
 * bound on headers, and with an end of gzip data that must come.
 */
final class BoundedHttp {

  /** All headers of an answer, or all its trailers: 256 KiB. */
  static final int MAX_HEADERS = 256 * 1024;

  /** The status line, or a chunk's length with its extensions: 64 KiB. */
  static final int MAX_LINE = 64 * 1024;

  private static final HttpDecoderConfig CONFIG =
      new HttpDecoderConfig()
          .setMaxInitialLineLength(MAX_LINE)
          .setMaxHeaderSize(MAX_HEADERS)
          .setValidateHeaders(false);

  private BoundedHttp() {}

  /** To be called once per connection, before anything was written to it. */
  static void install(ChannelPipeline pipeline) {
    String codec = DefaultHttpClient.HTTP_CLIENT_CODEC;
    pipeline.replace(codec, codec, new HttpClientCodec(CONFIG, false, false));
    ChannelHandler gatlings = pipeline.get(HttpContentDecompressor.class);
    pipeline.replace(gatlings, pipeline.context(gatlings).name(), new Decompressor());
  }

  /** The message was whole, and the gzip data in it was not. */
  static final class CutGzip extends DecompressionException {
    CutGzip() {
      super("gzip data ended before it was whole");
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }

  private static final class Decompressor extends HttpContentDecompressor {

    Decompressor() {
      super(0);
    }

    @Override
    protected EmbeddedChannel newContentDecoder(String contentEncoding) throws Exception {
      if (!HttpHeaderValues.GZIP.contentEqualsIgnoreCase(contentEncoding)
          && !HttpHeaderValues.X_GZIP.contentEqualsIgnoreCase(contentEncoding)) {
        return super.newContentDecoder(contentEncoding);
      }
      return new EmbeddedChannel(
          ctx.channel().id(),
          ctx.channel().metadata().hasDisconnect(),
          ctx.channel().config(),
          new Gzip());
    }

    /** The header stays, for who wants to know. */
    @Override
    protected String getTargetContentEncoding(String contentEncoding) {
      return contentEncoding;
    }
  }

  /** One member of gzip data; another one may follow. */
  private static final class Gzip extends JdkZlibDecoder {

    Gzip() {
      super(ZlibWrapper.GZIP, 0);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
        throws Exception {
      if (!isClosed()) {
        super.decode(context, in, out);
      }
      if (isClosed() && in.isReadable()) {
        context.pipeline().replace(this, null, new Gzip());
      }
    }

    @Override
    protected void decodeLast(ChannelHandlerContext context, ByteBuf in, List<Object> out)
        throws Exception {
      super.decodeLast(context, in, out);
      if (!isClosed()) {
        throw new CutGzip();
      }
    }
  }
}
