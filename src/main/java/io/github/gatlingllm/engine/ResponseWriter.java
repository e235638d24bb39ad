package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.wire.Api;
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
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How a response goes out: streamed or whole. Choices count from 0. Belongs to the event loop; what
 * is told goes out with {@link #flush}.
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

  /** More of a choice; ASCII, except for the name of a tool. */
  abstract void text(int choice, GeneratedAnswer.TokenType part, CharSequence text, Usage usage);

  /** A choice is complete. */
  abstract void finish(int choice, String finishReason, Usage usage);

  /** All choices are complete. */
  abstract void end(Usage usage);

  /** The response failed. */
  abstract void fail(Refusal refusal);

  final void flush() {
    context.flush();
  }

  /** Closes the connection, whatever is missing. */
  final void cut() {
    Responses.cut(context);
  }

  /**
   * Token counts of one response, all choices together.
   *
   * @param cachedTokens prompt tokens from the prefix cache, of the first choice
   * @param reasoningTokens of the completion tokens; null for an engine that does not reason
   */
  record Usage(
      int promptTokens, int completionTokens, int cachedTokens, @Nullable Integer reasoningTokens) {

    /** The JSON object of that name in OpenAI's API. */
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

  /**
   * Server-sent events, one HTTP chunk each: headers at once, the role chunk when the prefill
   * begins (chat only), a chunk per text, the finish chunk; after the last choice the usage chunk
   * where asked for, {@code [DONE]}.
   */
  static final class Streamed extends ResponseWriter {
    private final CompletionRequest request;
    private final AnswerFormat format;
    private final String requestId;

    Streamed(
        ChannelHandlerContext context,
        CompletionRequest request,
        AnswerFormat format,
        String requestId) {
      super(context);
      this.request = request;
      this.format = format;
      this.requestId = requestId;
    }

    @Override
    void open() {
      HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
      head.headers()
          .set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8")
          .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_CACHE)
          .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED)
          .set(Responses.REQUEST_ID, requestId);
      Responses.write(context, head);
    }

    @Override
    void begin(int choice, Usage usage) {
      if (request.api() == Api.CHAT) {
        write(format.role(allocator(), choice, continuous(usage)));
      }
    }

    @Override
    void text(int choice, GeneratedAnswer.TokenType part, CharSequence text, Usage usage) {
      write(format.text(allocator(), choice, part, text, continuous(usage)));
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
      byte[] event = ("data: " + refusal.json() + "\n\n").getBytes(UTF_8);
      write(Responses.chunk(allocator(), event.length).writeBytes(event));
      end();
    }

    private void end() {
      write(AnswerFormat.done(allocator()));
      Responses.write(context, LastHttpContent.EMPTY_LAST_CONTENT);
    }

    private void write(ByteBuf event) {
      Responses.writeChunk(context, event);
    }

    private ByteBufAllocator allocator() {
      return context.alloc();
    }

    private @Nullable Usage continuous(Usage usage) {
      return request.continuousUsage() ? usage : null;
    }
  }

  /** One JSON object at the end. */
  static final class Whole extends ResponseWriter {
    private final AnswerFormat format;
    private final String requestId;
    private final List<AnswerFormat.Said> choices;

    Whole(ChannelHandlerContext context, int choices, AnswerFormat format, String requestId) {
      super(context);
      this.format = format;
      this.requestId = requestId;
      this.choices =
          IntStream.range(0, choices).mapToObj(index -> new AnswerFormat.Said()).toList();
    }

    @Override
    void text(int choice, GeneratedAnswer.TokenType part, CharSequence text, Usage usage) {
      choices.get(choice).append(part, text);
    }

    @Override
    void finish(int choice, String finishReason, Usage usage) {
      choices.get(choice).finish(finishReason);
    }

    @Override
    void end(Usage usage) {
      String json = format.whole(choices, usage);
      Responses.json(context, HttpResponseStatus.OK, requestId, json);
    }

    @Override
    void fail(Refusal refusal) {
      Responses.refuse(context, requestId, refusal);
    }
  }
}
