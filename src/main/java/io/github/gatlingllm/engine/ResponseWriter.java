package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
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
import java.util.stream.Stream;
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

  /**
   * Of all choices together; {@code cachedTokens} of the first one. No reasoning tokens where the
   * engine does none.
   */
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

    /** The body of a response that is not streamed. */
    abstract Json whole(List<SentChoice> choices, Usage usage);

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

    final void write(String events) {
      Responses.writeChunk(context, events);
    }

    final void close() {
      Responses.write(context, LastHttpContent.EMPTY_LAST_CONTENT);
    }
  }

  /** One JSON body at the end. */
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
    void text(int choice, TokenType type, CharSequence text, Usage usage) {
      choices.get(choice).append(type, text);
    }

    @Override
    void finish(int choice, String finishReason, Usage usage) {
      choices.get(choice).finishReason = finishReason;
    }

    @Override
    void end(Usage usage) {
      Responses.ok(context, requestId, Responses.JSON, form.apply(choices, usage).text());
    }

    @Override
    void fail(Refusal refusal) {
      Responses.refuse(context, requestId, refusal);
    }
  }
}
