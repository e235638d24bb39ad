package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
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
  private static final int CHUNK_FRAME = 12; // the longest size in hex and two line ends

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

  /**
   * Writes an HTTP chunk without Netty's encoder: it would write three buffers, which doubles the
   * cost of a chunk.
   */
  static void writeChunk(ChannelHandlerContext context, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    ByteBuf chunk = context.alloc().buffer(bytes.length + CHUNK_FRAME);
    ByteBufUtil.writeAscii(chunk, Integer.toHexString(bytes.length));
    chunk.writeShort(CRLF).writeBytes(bytes).writeShort(CRLF);
    write(context.pipeline().firstContext(), chunk);
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
