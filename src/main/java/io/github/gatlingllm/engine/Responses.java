package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/** Responses in one piece; they go out with the next flush. */
final class Responses {
  /** The header that names a request on both sides. */
  static final String REQUEST_ID = "x-request-id";

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

  /** Writes; a failure ends the connection by way of {@code exceptionCaught}. */
  static void write(ChannelHandlerContext context, Object message) {
    ChannelFuture unused = context.write(message, context.voidPromise());
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
        .set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
    if (requestId != null) {
      response.headers().set(REQUEST_ID, requestId);
    }
    return response;
  }
}
