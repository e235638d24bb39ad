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

/** Responses in one piece; they go out with the next flush. */
final class Responses {
  /** The header that names a request on both sides. */
  static final String REQUEST_ID = "x-request-id";

  private static final int CRLF = ('\r' << 8) | '\n';

  /** Length of the longest line that says the size of a chunk. */
  private static final int SIZE_LINE = 10;

  private Responses() {}

  static void json(
      ChannelHandlerContext context,
      HttpResponseStatus status,
      @Nullable String requestId,
      String body) {
    write(context, whole(status, requestId, "application/json", body));
  }

  static void text(ChannelHandlerContext context, String contentType, String body) {
    write(context, whole(HttpResponseStatus.OK, null, contentType, body));
  }

  static void refuse(ChannelHandlerContext context, @Nullable String requestId, Refusal refusal) {
    HttpResponseStatus status = HttpResponseStatus.valueOf(refusal.status());
    FullHttpResponse response = whole(status, requestId, "application/json", refusal.json());
    refusal.headers().forEach(response.headers()::set);
    write(context, response);
  }

  /** The time of day, as HTTP says it. */
  static String date() {
    return DateFormatter.format(Date.from(Instant.now()));
  }

  /** Writes; a failure ends the connection by way of {@code exceptionCaught}. */
  static void write(ChannelHandlerContext context, Object message) {
    ChannelFuture unused = context.write(message, context.voidPromise());
  }

  /** An empty buffer for a chunk of a response, with room for what HTTP puts around it. */
  static ByteBuf chunk(ByteBufAllocator allocator, int size) {
    return allocator.buffer(SIZE_LINE + size + 2).setIndex(SIZE_LINE, SIZE_LINE);
  }

  /**
   * Writes what {@link #chunk} was filled with as an HTTP chunk, past the encoder: that would make
   * three buffers of it, which cost as much again as everything else.
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

  /** Closes the connection, whatever is missing; what was written before still goes out. */
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
