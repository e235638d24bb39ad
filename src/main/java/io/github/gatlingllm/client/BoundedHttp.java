package io.github.gatlingllm.client;

import io.gatling.http.client.impl.DefaultHttpClient;
import io.netty.buffer.ByteBuf;
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
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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

  static void install(ChannelPipeline pipeline) {
    String codec = DefaultHttpClient.HTTP_CLIENT_CODEC;
    pipeline.replace(codec, codec, new HttpClientCodec(CONFIG, false, false));
    pipeline.addAfter(codec, FinalResponses.NAME, new FinalResponses());
    pipeline.addAfter(FinalResponses.NAME, null, new EncodedBody());
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

  /**
   * Passes a compressed body on in parts. As each may become a thousand times as large, the event
   * loop runs its timers and other connections after {@link #MAX_BYTES}; until then no more is
   * read.
   */
  private static final class EncodedBody extends ChannelDuplexHandler {

    private static final int PART = 4 * 1024;
    private static final int MAX_BYTES = 32 * 1024;

    private final Queue<Object> waiting = new ArrayDeque<>();
    private boolean encoded;
    private boolean paused;
    private int passed;
    private @Nullable Throwable failure;
    private boolean inactive;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HttpResponse response) {
        encoded = response.headers().contains(HttpHeaderNames.CONTENT_ENCODING);
      }
      if (!encoded) {
        context.fireChannelRead(message);
        return;
      }
      if (message instanceof HttpContent body) {
        while (body.content().readableBytes() > PART) {
          waiting.add(new DefaultHttpContent(body.content().readRetainedSlice(PART)));
        }
      }
      waiting.add(message);
      if (!paused) {
        pass(context);
      }
    }

    private void pass(ChannelHandlerContext context) {
      while (passed < MAX_BYTES && !waiting.isEmpty()) {
        Object next = waiting.remove();
        passed += next instanceof HttpContent body ? body.content().readableBytes() : 0;
        context.fireChannelRead(next);
      }
      paused = !waiting.isEmpty();
      if (paused) {
        context.channel().config().setAutoRead(false);
        // Scheduled, as a loop runs up to 64 tasks of its queue before it looks at its timers.
        var unused = context.executor().schedule(() -> goOn(context), 0, TimeUnit.NANOSECONDS);
      }
    }

    private void goOn(ChannelHandlerContext context) {
      passed = 0;
      pass(context);
      if (!paused) {
        context.channel().config().setAutoRead(true);
        if (failure != null) {
          context.fireExceptionCaught(failure);
        }
        if (inactive) {
          context.fireChannelInactive();
        }
      }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      passed = paused ? passed : 0;
      context.fireChannelReadComplete();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (paused) {
        failure = cause;
      } else {
        context.fireExceptionCaught(cause);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      if (paused) {
        inactive = true;
      } else {
        context.fireChannelInactive();
      }
    }

    @Override
    public void close(ChannelHandlerContext context, ChannelPromise promise) {
      waiting.forEach(ReferenceCountUtil::release);
      waiting.clear();
      var unused = context.close(promise);
    }
  }

  /** The HTTP message is complete, but its gzip data is not. */
  static final class TruncatedGzip extends DecompressionException {
    TruncatedGzip() {
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
          new Gzip(true));
    }

    /** Keeps the header, so that the exchange sees that the body was compressed. */
    @Override
    protected String getTargetContentEncoding(String contentEncoding) {
      return contentEncoding;
    }
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
    protected void decodeLast(ChannelHandlerContext context, ByteBuf in, List<Object> out)
        throws Exception {
      super.decodeLast(context, in, out);
      if (isMember && !isClosed()) {
        throw new TruncatedGzip();
      }
    }
  }
}
