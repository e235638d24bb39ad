package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.time.Instant;
import java.util.Date;
import org.jspecify.annotations.Nullable;

/** Writes whole responses and HTTP chunks; the next flush sends them. */
final class Responses {
  static final String REQUEST_ID = "x-request-id";

  static final String JSON = "application/json";

  private static final int CRLF = ('\r' << 8) | '\n';
  private static final int SIZE_LINE = 10; // longest line with the size of a chunk

  private Responses() {}

  static void ok(
      ChannelHandlerContext context, @Nullable String requestId, String contentType, String body) {
    write(context, whole(HttpResponseStatus.OK, requestId, contentType, body));
  }

  static void refuse(ChannelHandlerContext context, @Nullable String requestId, Refusal refusal) {
    HttpResponseStatus status = HttpResponseStatus.valueOf(refusal.status());
    FullHttpResponse response = whole(status, requestId, JSON, refusal.json());
    refusal.headers().forEach(response.headers()::set);
    write(context, response);
  }

  static String date() {
    return DateFormatter.format(Date.from(Instant.now()));
  }

  /** Writes a message; a failure calls {@code exceptionCaught}, which closes the connection. */
  static void write(ChannelHandlerContext context, Object message) {
    ChannelFuture unused = context.write(message, context.voidPromise());
  }

  /** An empty buffer for a chunk of a response, with space for the framing of HTTP. */
  static ByteBuf chunk(ByteBufAllocator allocator, int size) {
    return allocator.buffer(SIZE_LINE + size + 2).setIndex(SIZE_LINE, SIZE_LINE);
  }

  /**
   * Writes a buffer from {@link #chunk} as an HTTP chunk, without Netty's encoder: it would write
   * three buffers, which doubles the cost of a chunk.
   */
  static void writeChunk(ChannelHandlerContext context, ByteBuf chunk) {
    int at = chunk.readerIndex();
    int size = chunk.readableBytes();
    chunk.writeShort(CRLF);
    at -= 2;
    chunk.setShort(at, CRLF);
    for (int rest = size; rest > 0; rest >>>= 4) {
      at--;
      chunk.setByte(at, Character.forDigit(rest & 0xF, 16));
    }
    write(context.pipeline().firstContext(), chunk.readerIndex(at));
  }

  /** Closes the connection after sending what was written, though the response is incomplete. */
  static void cut(ChannelHandlerContext context) {
    context.flush();
    ChannelFuture unused = context.close();
  }

  private static FullHttpResponse whole(
      HttpResponseStatus status, @Nullable String requestId, String contentType, String body) {
    ByteBuf content = Unpooled.wrappedBuffer(body.getBytes(UTF_8));
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, content);
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, contentType)
        .set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes())
        .set(HttpHeaderNames.DATE, date());
    if (requestId != null) {
      response.headers().set(REQUEST_ID, requestId);
    }
    return response;
  }
}
