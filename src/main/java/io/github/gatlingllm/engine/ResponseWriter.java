package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Instant;
import java.util.Date;
import org.jspecify.annotations.Nullable;

/** Writes HTTP responses; the next flush sends them. Of the event loop. */
final class ResponseWriter {
  static final String REQUEST_ID = "x-request-id";

  static final String JSON = "application/json";

  private static final int CRLF = ('\r' << 8) | '\n';
  private static final int CHUNK_FRAME = 12; // the longest size in hex and two line ends

  private ResponseWriter() {}

  /** The head of a stream of events, which {@link #writeChunk} and {@link #end} follow. */
  static void begin(ChannelHandlerContext context, String requestId) {
    HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    head.headers()
        .set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8")
        .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_CACHE)
        .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED)
        .set(HttpHeaderNames.DATE, date())
        .set(REQUEST_ID, requestId);
    write(context, head);
  }

  static void end(ChannelHandlerContext context) {
    write(context, LastHttpContent.EMPTY_LAST_CONTENT);
  }

  static void ok(
      ChannelHandlerContext context, @Nullable String requestId, String contentType, String body) {
    write(context, fullResponse(HttpResponseStatus.OK, requestId, contentType, body));
  }

  static void refuse(ChannelHandlerContext context, @Nullable String requestId, Refusal refusal) {
    HttpResponseStatus status = HttpResponseStatus.valueOf(refusal.status());
    FullHttpResponse response = fullResponse(status, requestId, JSON, refusal.json());
    refusal.headers().forEach(response.headers()::set);
    write(context, response);
  }

  private static String date() {
    return DateFormatter.format(Date.from(Instant.now()));
  }

  /** Writes a message; a failure calls {@code exceptionCaught}, which closes the connection. */
  private static void write(ChannelHandlerContext context, Object message) {
    ChannelFuture unused = context.write(message, context.voidPromise());
  }

  /** Writes an HTTP chunk without Netty's encoder, whose three buffers double its cost. */
  static void writeChunk(ChannelHandlerContext context, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    ByteBuf chunk = context.alloc().buffer(bytes.length + CHUNK_FRAME);
    ByteBufUtil.writeAscii(chunk, Integer.toHexString(bytes.length));
    chunk.writeShort(CRLF).writeBytes(bytes).writeShort(CRLF);
    write(context.pipeline().firstContext(), chunk);
  }

  static void cut(ChannelHandlerContext context) {
    context.flush();
    ChannelFuture unused = context.close();
  }

  private static FullHttpResponse fullResponse(
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
