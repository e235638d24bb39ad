package io.github.gatlingllm.client;

import io.gatling.http.client.impl.DefaultHttpClient;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.compression.Brotli;
import io.netty.handler.codec.compression.DecompressionException;
import io.netty.handler.codec.compression.JdkZlibDecoder;
import io.netty.handler.codec.compression.ZlibWrapper;
import io.netty.handler.codec.compression.Zstd;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Replaces the HTTP/1.1 decoders of Gatling's client by ones that limit the size of headers,
 * require complete gzip data, drop interim responses (100, 102, 103), which the client would take
 * for the answer, and close a connection on a response that no request waits for.
 */
final class BoundedHttp {

  /** Of all headers of a response, or of all its trailers. */
  static final int MAX_HEADERS = 256 * 1024;

  /** Length of the status line, or of the size line of a chunk: 64 KiB. */
  static final int MAX_LINE = 64 * 1024;

  private static final HttpDecoderConfig CONFIG =
      new HttpDecoderConfig()
          .setMaxInitialLineLength(MAX_LINE)
          .setMaxHeaderSize(MAX_HEADERS)
          .setValidateHeaders(false);

  private BoundedHttp() {}

  static void install(ChannelPipeline pipeline, LongSupplier nanoClock) {
    String codec = DefaultHttpClient.HTTP_CLIENT_CODEC;
    pipeline.addBefore(codec, BoundedReads.NAME, new BoundedReads(nanoClock));
    pipeline.replace(codec, codec, new HttpClientCodec(CONFIG, false, false));
    pipeline.addAfter(codec, FinalResponses.NAME, new FinalResponses());
    ChannelHandler decompressor = pipeline.get(HttpContentDecompressor.class);
    pipeline.replace(decompressor, pipeline.context(decompressor).name(), new Decompressor());
  }

  /** Whether a body with this {@code Content-Encoding} is decoded before it is read. */
  static boolean isDecoded(String contentEncoding) {
    return switch (contentEncoding.strip().toLowerCase(Locale.ROOT)) {
      case "", "identity", "gzip", "x-gzip", "deflate", "x-deflate", "snappy" -> true;
      case "br" -> Brotli.isAvailable();
      case "zstd" -> Zstd.isAvailable();
      default -> false;
    };
  }

  private static final class FinalResponses extends ChannelDuplexHandler {
    private static final String NAME = "llm-final-responses";

    private boolean awaited = true;
    private boolean dropping;

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      awaited |= message instanceof HttpRequest;
      var unused = context.write(message, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HttpResponse response) {
        dropping =
            !awaited
                || (response.status().codeClass() == HttpStatusClass.INFORMATIONAL
                    && response.status().code() != 101);
        if (!awaited) {
          var unused = context.close();
        }
      }
      boolean dropped = dropping;
      if (message instanceof LastHttpContent) {
        awaited &= dropped;
        dropping = false;
      }
      if (dropped) {
        ReferenceCountUtil.release(message);
      } else {
        context.fireChannelRead(message);
      }
    }
  }

  /** The HTTP message is complete, but its gzip data is not. */
  private static final class TruncatedGzip extends DecompressionException {
    TruncatedGzip() {
      super("gzip data ended before it was complete");
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }

  static boolean isTruncatedGzip(Throwable failure) {
    return ConnectionFailure.find(TruncatedGzip.class, failure) != null;
  }

  static boolean isGzip(CharSequence encoding) {
    return HttpHeaderValues.GZIP.contentEqualsIgnoreCase(encoding)
        || HttpHeaderValues.X_GZIP.contentEqualsIgnoreCase(encoding);
  }

  private static final class Decompressor extends HttpContentDecompressor {

    Decompressor() {
      super(0);
    }

    @Override
    protected EmbeddedChannel newContentDecoder(String contentEncoding) throws Exception {
      return isGzip(contentEncoding)
          ? gzip(ctx.channel(), false)
          : super.newContentDecoder(contentEncoding);
    }

    /** Retains the header, so that the exchange sees that the body was compressed. */
    @Override
    protected String getTargetContentEncoding(String contentEncoding) {
      return contentEncoding;
    }
  }

  /**
   * A decoder of one body.
   *
   * @param mayBeTruncated whether the data of a body that is abandoned may end anywhere
   */
  static EmbeddedChannel gzip(Channel connection, boolean mayBeTruncated) {
    return new EmbeddedChannel(
        connection.id(),
        connection.metadata().hasDisconnect(),
        connection.config(),
        new Gzip(true)) {

      /** False, as Netty's decoder asserts: the rest of an abandoned body is not a mistake. */
      @Override
      public boolean finishAndReleaseAll() {
        try {
          var unused = super.finishAndReleaseAll();
        } catch (TruncatedGzip truncated) {
          if (!mayBeTruncated) {
            throw truncated;
          }
        }
        return false;
      }
    };
  }

  /** Decodes one member of gzip data; another may follow, or bytes that are ignored, as by gzip. */
  private static final class Gzip extends JdkZlibDecoder {

    private static final int MAGIC = 0x1F8B;

    private boolean isMember;
    private boolean isPadding;

    Gzip(boolean isFirst) {
      super(ZlibWrapper.GZIP, 0);
      isMember = isFirst;
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
        throws Exception {
      if (!isMember && !isPadding && in.readableBytes() > 1) {
        isMember = in.getUnsignedShort(in.readerIndex()) == MAGIC;
        isPadding |= !isMember;
      }
      if (isPadding) {
        in.skipBytes(in.readableBytes());
      } else if (isMember && !isClosed()) {
        super.decode(context, in, out);
      }
      if (isClosed() && in.isReadable()) {
        context.pipeline().replace(this, null, new Gzip(false));
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
      if (isMember && !isClosed()) {
        throw new TruncatedGzip();
      }
      super.channelInactive(context);
    }
  }
}
