package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.client.Api;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes a response, streamed or whole. Choices count from 0. Belongs to the event loop; {@link
 * #flush} sends what was written.
 */
abstract class ResponseWriter {
  final ChannelHandlerContext context;

  private ResponseWriter(ChannelHandlerContext context) {
    this.context = context;
  }

  /** The request was accepted. */
  void open() {}

  /** The prefill of a choice begins. */
  void begin(int choice, Usage usage) {}

  /** More text of a choice; ASCII, except for the name of a tool. */
  abstract void text(int choice, GeneratedAnswer.TokenType type, CharSequence text, Usage usage);

  /** A choice is complete. */
  abstract void finish(int choice, String finishReason, Usage usage);

  /** All choices are complete. */
  abstract void end(Usage usage);

  /** The response failed. */
  abstract void fail(Refusal refusal);

  final void flush() {
    context.flush();
  }

  /** Closes the connection before the response is complete. */
  final void cut() {
    Responses.cut(context);
  }

  /**
   * Token counts of one response, all choices together.
   *
   * @param cachedTokens prompt tokens from the prefix cache, for the first choice
   * @param reasoningTokens completion tokens that are reasoning; null for an engine without it
   */
  record Usage(
      int promptTokens, int completionTokens, int cachedTokens, @Nullable Integer reasoningTokens) {

    /** The object {@code usage} of OpenAI's API. */
    String json() {
      String reasoning =
          reasoningTokens == null
              ? ""
              : ",\"completion_tokens_details\":{\"reasoning_tokens\":" + reasoningTokens + "}";
      return "{\"prompt_tokens\":"
          + promptTokens
          + ",\"completion_tokens\":"
          + completionTokens
          + ",\"total_tokens\":"
          + (promptTokens + completionTokens)
          + ",\"prompt_tokens_details\":{\"cached_tokens\":"
          + cachedTokens
          + "}"
          + reasoning
          + "}";
    }
  }

  /** Server-sent events, one HTTP chunk each; headers are sent at once. */
  abstract static class Events extends ResponseWriter {
    private final String requestId;

    Events(ChannelHandlerContext context, String requestId) {
      super(context);
      this.requestId = requestId;
    }

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

    final void write(String event) {
      byte[] bytes = event.getBytes(UTF_8);
      write(Responses.chunk(allocator(), bytes.length).writeBytes(bytes));
    }

    final void close() {
      Responses.write(context, LastHttpContent.EMPTY_LAST_CONTENT);
    }

    final ByteBufAllocator allocator() {
      return context.alloc();
    }
  }

  /**
   * Events of chat and text completions: the role chunk when the prefill begins (chat only), a
   * chunk per text, the finish chunk; after the last choice the usage chunk if requested, and
   * {@code [DONE]}.
   */
  static final class Streamed extends Events {
    private final CompletionRequest request;
    private final AnswerFormat format;

    Streamed(
        ChannelHandlerContext context,
        CompletionRequest request,
        AnswerFormat format,
        String requestId) {
      super(context, requestId);
      this.request = request;
      this.format = format;
    }

    @Override
    void begin(int choice, Usage usage) {
      if (request.api() == Api.CHAT) {
        write(format.role(allocator(), choice, continuous(usage)));
      }
    }

    @Override
    void text(int choice, GeneratedAnswer.TokenType type, CharSequence text, Usage usage) {
      write(format.text(allocator(), choice, type, text, continuous(usage)));
    }

    @Override
    void finish(int choice, String finishReason, Usage usage) {
      write(format.finish(allocator(), choice, finishReason, continuous(usage)));
    }

    @Override
    void end(Usage usage) {
      if (request.includeUsage()) {
        write(format.usage(allocator(), usage));
      }
      end();
    }

    @Override
    void fail(Refusal refusal) {
      write("data: " + refusal.json() + "\n\n");
      end();
    }

    private void end() {
      write(AnswerFormat.done(allocator()));
      close();
    }

    private @Nullable Usage continuous(Usage usage) {
      return request.continuousUsage() ? usage : null;
    }
  }

  /** Events of the APIs with typed events, from {@link TypedAnswer}; no {@code [DONE]}. */
  static final class Typed extends Events {
    private final TypedAnswer answer;

    Typed(ChannelHandlerContext context, TypedAnswer answer, String requestId) {
      super(context, requestId);
      this.answer = answer;
    }

    @Override
    void begin(int choice, Usage usage) {
      write(answer.begin(usage));
    }

    @Override
    void text(int choice, GeneratedAnswer.TokenType type, CharSequence text, Usage usage) {
      write(answer.text(type, text));
    }

    @Override
    void finish(int choice, String finishReason, Usage usage) {
      write(answer.finish(finishReason));
    }

    @Override
    void end(Usage usage) {
      write(answer.end(usage));
      close();
    }

    @Override
    void fail(Refusal refusal) {
      write(answer.error(refusal));
      close();
    }
  }

  /** One JSON body at the end. */
  static final class Whole extends ResponseWriter {
    private final BiFunction<List<AnswerFormat.SentChoice>, Usage, String> form;
    private final String requestId;
    private final List<AnswerFormat.SentChoice> choices;

    /**
     * @param form makes the JSON from the text of all choices
     */
    Whole(
        ChannelHandlerContext context,
        int choices,
        BiFunction<List<AnswerFormat.SentChoice>, Usage, String> form,
        String requestId) {
      super(context);
      this.form = form;
      this.requestId = requestId;
      this.choices =
          IntStream.range(0, choices).mapToObj(index -> new AnswerFormat.SentChoice()).toList();
    }

    @Override
    void text(int choice, GeneratedAnswer.TokenType type, CharSequence text, Usage usage) {
      choices.get(choice).append(type, text);
    }

    @Override
    void finish(int choice, String finishReason, Usage usage) {
      choices.get(choice).finish(finishReason);
    }

    @Override
    void end(Usage usage) {
      Responses.json(context, HttpResponseStatus.OK, requestId, form.apply(choices, usage));
    }

    @Override
    void fail(Refusal refusal) {
      Responses.refuse(context, requestId, refusal);
    }
  }
}
