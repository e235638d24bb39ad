package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.wire.Api;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * Server-sent events, one HTTP chunk each: headers at once, the role chunk when the prefill begins
 * (chat only), a chunk per text, the finish chunk; after the last choice the usage chunk where
 * asked for, {@code [DONE]}.
 */
final class StreamedResponse implements ResponseWriter {
  private final ChannelHandlerContext context;
  private final CompletionRequest request;
  private final AnswerFormat format;
  private final String requestId;

  StreamedResponse(
      ChannelHandlerContext context,
      CompletionRequest request,
      AnswerFormat format,
      String requestId) {
    this.context = context;
    this.request = request;
    this.format = format;
    this.requestId = requestId;
  }

  @Override
  public void open() {
    HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    head.headers()
        .set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8")
        .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_CACHE)
        .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED)
        .set(Responses.REQUEST_ID, requestId);
    Responses.write(context, head);
  }

  @Override
  public void begin(int choice, Usage usage) {
    if (request.api() == Api.CHAT) {
      write(format.role(allocator(), choice, continuous(usage)));
    }
  }

  @Override
  public void text(int choice, GeneratedAnswer.Part part, CharSequence text, Usage usage) {
    write(format.text(allocator(), choice, part, text, continuous(usage)));
  }

  @Override
  public void finish(int choice, String finishReason, Usage usage) {
    write(format.finish(allocator(), choice, finishReason, continuous(usage)));
  }

  @Override
  public void end(Usage usage) {
    if (request.includeUsage()) {
      write(format.usage(allocator(), usage));
    }
    end();
  }

  @Override
  public void fail(Refusal refusal) {
    byte[] event = ("data: " + refusal.json() + "\n\n").getBytes(UTF_8);
    write(allocator().buffer(event.length).writeBytes(event));
    end();
  }

  @Override
  public void flush() {
    context.flush();
  }

  @Override
  public void cut() {
    Responses.cut(context);
  }

  private void end() {
    write(AnswerFormat.done(allocator()));
    Responses.write(context, LastHttpContent.EMPTY_LAST_CONTENT);
  }

  private void write(ByteBuf event) {
    Responses.write(context, new DefaultHttpContent(event));
  }

  private ByteBufAllocator allocator() {
    return context.alloc();
  }

  private @Nullable Usage continuous(Usage usage) {
    return request.continuousUsage() ? usage : null;
  }
}
