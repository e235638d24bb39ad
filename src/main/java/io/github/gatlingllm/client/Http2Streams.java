package io.github.gatlingllm.client;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;

/** Resets one HTTP/2 stream, and leaves its connection to the others. */
final class Http2Streams {

  private Http2Streams() {}

  /**
   * @param stream the stream's id; 0 when its response has not begun and the id is not known
   */
  static void reset(Channel connection, int stream) {
    ChannelHandlerContext context = connection.pipeline().context(Http2ConnectionHandler.class);
    if (stream > 0 && context != null) {
      Http2ConnectionHandler handler = (Http2ConnectionHandler) context.handler();
      var unused =
          handler.resetStream(context, stream, Http2Error.CANCEL.code(), context.newPromise());
      context.flush();
    }
  }
}
