package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
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
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes a response; the next flush sends it. Choices count from 0. Of the event loop. */
abstract class ResponseWriter {
  static final String REQUEST_ID = "x-request-id";

  static final String JSON = "application/json";

  private static final int CRLF = ('\r' << 8) | '\n';
  private static final int CHUNK_FRAME = 12; // the longest size in hex and two line ends

  final ChannelHandlerContext context;
  final String requestId;

  private ResponseWriter(ChannelHandlerContext context, String requestId) {
    this.context = context;
    this.requestId = requestId;
  }

  void open() {}

  void begin(int choice, Usage usage) {}

  abstract void text(int choice, TokenType type, String text, Usage usage);

  abstract void finish(int choice, String finishReason, Usage usage);

  abstract void end(Usage usage);

  final void flush() {
    context.flush();
  }

  /** Of all choices together; {@code cachedTokens} of the first one. */
  record Usage(
      int promptTokens, int completionTokens, int cachedTokens, @Nullable Integer reasoningTokens) {

    Json json() {
      Json usage =
          Json.of(
              """
              {'prompt_tokens':%s,'completion_tokens':%s,'total_tokens':%s,
              'prompt_tokens_details':{'cached_tokens':%s}}\
              """,
              promptTokens, completionTokens, promptTokens + completionTokens, cachedTokens);
      return reasoningTokens == null
          ? usage
          : usage.with(
              "completion_tokens_details", Json.of("{'reasoning_tokens':%s}", reasoningTokens));
    }
  }

  static final class SentChoice {
    private final Map<TokenType, StringBuilder> texts = new EnumMap<>(TokenType.class);
    String finishReason = "";

    void append(TokenType type, CharSequence text) {
      texts.computeIfAbsent(type, each -> new StringBuilder()).append(text);
    }

    @Nullable String text(TokenType type) {
      StringBuilder text = texts.get(type);
      return text == null ? null : text.toString();
    }
  }

  /** Server-sent events, one HTTP chunk each; headers are sent at once. */
  abstract static class Events extends ResponseWriter {

    Events(ChannelHandlerContext context, String requestId) {
      super(context, requestId);
    }

    abstract Json whole(List<SentChoice> choices, Usage usage);

    @Override
    final void open() {
      HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
      head.headers()
          .set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8")
          .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_CACHE)
          .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED)
          .set(HttpHeaderNames.DATE, date())
          .set(REQUEST_ID, requestId);
      write(context, head);
    }

    final void write(String events) {
      writeChunk(context, events);
    }

    final void close() {
      write(context, LastHttpContent.EMPTY_LAST_CONTENT);
    }
  }

  static final class Whole extends ResponseWriter {
    private final BiFunction<List<SentChoice>, Usage, Json> form;
    private final List<SentChoice> choices;

    Whole(
        ChannelHandlerContext context,
        int choices,
        BiFunction<List<SentChoice>, Usage, Json> form,
        String requestId) {
      super(context, requestId);
      this.form = form;
      this.choices = Stream.generate(SentChoice::new).limit(choices).toList();
    }

    @Override
    void text(int choice, TokenType type, String text, Usage usage) {
      choices.get(choice).append(type, text);
    }

    @Override
    void finish(int choice, String finishReason, Usage usage) {
      choices.get(choice).finishReason = finishReason;
    }

    @Override
    void end(Usage usage) {
      ok(context, requestId, JSON, form.apply(choices, usage).text());
    }
  }

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
