package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes a response, streamed or whole. Choices count from 0. Belongs to the event loop; {@link
 * #flush} sends what was written.
 */
abstract class ResponseWriter {
  final ChannelHandlerContext context;
  final String requestId;

  private ResponseWriter(ChannelHandlerContext context, String requestId) {
    this.context = context;
    this.requestId = requestId;
  }

  void open() {}

  void begin(int choice, Usage usage) {}

  /** More text of a choice; ASCII, except for the name of a tool. */
  abstract void text(int choice, TokenType type, CharSequence text, Usage usage);

  abstract void finish(int choice, String finishReason, Usage usage);

  abstract void end(Usage usage);

  abstract void fail(Refusal refusal);

  final void flush() {
    context.flush();
  }

  final void cut() {
    Responses.cut(context);
  }

  static String quoted(@Nullable CharSequence text) {
    return text == null ? "\"\"" : "\"" + escaped(text) + "\"";
  }

  static String escaped(CharSequence text) {
    return String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text));
  }

  /**
   * Of all choices together; {@code cachedTokens} of the first one. No reasoning tokens where the
   * engine does none.
   */
  record Usage(
      int promptTokens, int completionTokens, int cachedTokens, @Nullable Integer reasoningTokens) {

    String json() {
      return "{\"prompt_tokens\":"
          + promptTokens
          + ",\"completion_tokens\":"
          + completionTokens
          + ",\"total_tokens\":"
          + (promptTokens + completionTokens)
          + ",\"prompt_tokens_details\":{\"cached_tokens\":"
          + cachedTokens
          + "}"
          + (reasoningTokens == null
              ? ""
              : ",\"completion_tokens_details\":{\"reasoning_tokens\":" + reasoningTokens + "}")
          + "}";
    }
  }

  static final class SentChoice {
    private final Map<TokenType, StringBuilder> texts = new EnumMap<>(TokenType.class);
    String finishReason = "";

    void append(TokenType type, CharSequence text) {
      texts.computeIfAbsent(type, each -> new StringBuilder()).append(text);
    }

    @Nullable CharSequence text(TokenType type) {
      return texts.get(type);
    }
  }

  /** Server-sent events, one HTTP chunk each; headers are sent at once. */
  abstract static class Events extends ResponseWriter {

    Events(ChannelHandlerContext context, String requestId) {
      super(context, requestId);
    }

    abstract String whole(List<SentChoice> choices, Usage usage);

    @Override
    final void open() {
      HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
      head.headers()
          .set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8")
          .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_CACHE)
          .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED)
          .set(HttpHeaderNames.DATE, Responses.date())
          .set(Responses.REQUEST_ID, requestId);
      Responses.write(context, head);
    }

    final void write(ByteBuf event) {
      Responses.writeChunk(context, event);
    }

    final void write(String events) {
      byte[] bytes = events.getBytes(UTF_8);
      write(Responses.chunk(context.alloc(), bytes.length).writeBytes(bytes));
    }

    final void close() {
      Responses.write(context, LastHttpContent.EMPTY_LAST_CONTENT);
    }
  }

  /** One JSON body at the end. */
  static final class Whole extends ResponseWriter {
    private final BiFunction<List<SentChoice>, Usage, String> form;
    private final List<SentChoice> choices;

    Whole(
        ChannelHandlerContext context,
        int choices,
        BiFunction<List<SentChoice>, Usage, String> form,
        String requestId) {
      super(context, requestId);
      this.form = form;
      this.choices = IntStream.range(0, choices).mapToObj(index -> new SentChoice()).toList();
    }

    @Override
    void text(int choice, TokenType type, CharSequence text, Usage usage) {
      choices.get(choice).append(type, text);
    }

    @Override
    void finish(int choice, String finishReason, Usage usage) {
      choices.get(choice).finishReason = finishReason;
    }

    @Override
    void end(Usage usage) {
      Responses.ok(context, requestId, Responses.JSON, form.apply(choices, usage));
    }

    @Override
    void fail(Refusal refusal) {
      Responses.refuse(context, requestId, refusal);
    }
  }
}
