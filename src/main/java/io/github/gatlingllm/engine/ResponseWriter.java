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
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How a response goes out: streamed or whole. Choices count from 0. Belongs to the event loop; what
 * is told goes out with {@link #flush}.
 */
interface ResponseWriter {

  /** The request was accepted. */
  void open();

  /** The prefill of a choice begins. */
  void begin(int choice, Usage usage);

  /** More of a choice; ASCII, except for the name of a tool. */
  void text(int choice, GeneratedAnswer.Part part, CharSequence text, Usage usage);

  /** A choice is complete. */
  void finish(int choice, String finishReason, Usage usage);

  /** All choices are complete. */
  void end(Usage usage);

  /** The response failed. */
  void fail(Refusal refusal);

  void flush();

  /** Closes the connection, whatever is missing. */
  void cut();

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
  final class Streamed implements ResponseWriter {
    private final ChannelHandlerContext context;
    private final CompletionRequest request;
    private final AnswerFormat format;
    private final String requestId;

    Streamed(
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

  /** One JSON object at the end. */
  final class Whole implements ResponseWriter {
    private final ChannelHandlerContext context;
    private final AnswerFormat format;
    private final String requestId;
    private final List<Said> choices;

    /** What a choice has said so far. */
    private static final class Said {
      private final Map<GeneratedAnswer.Part, StringBuilder> texts =
          new EnumMap<>(GeneratedAnswer.Part.class);
      private String finishReason = "";

      AnswerFormat.Choice whole() {
        Map<GeneratedAnswer.Part, String> strings = new EnumMap<>(GeneratedAnswer.Part.class);
        texts.forEach((part, text) -> strings.put(part, text.toString()));
        return new AnswerFormat.Choice(strings, finishReason);
      }
    }

    Whole(ChannelHandlerContext context, int choices, AnswerFormat format, String requestId) {
      this.context = context;
      this.format = format;
      this.requestId = requestId;
      this.choices = IntStream.range(0, choices).mapToObj(index -> new Said()).toList();
    }

    @Override
    public void open() {}

    @Override
    public void begin(int choice, Usage usage) {}

    @Override
    public void text(int choice, GeneratedAnswer.Part part, CharSequence text, Usage usage) {
      choices.get(choice).texts.computeIfAbsent(part, each -> new StringBuilder()).append(text);
    }

    @Override
    public void finish(int choice, String finishReason, Usage usage) {
      choices.get(choice).finishReason = finishReason;
    }

    @Override
    public void end(Usage usage) {
      String json = format.whole(choices.stream().map(Said::whole).toList(), usage);
      Responses.json(context, HttpResponseStatus.OK, requestId, json);
    }

    @Override
    public void fail(Refusal refusal) {
      Responses.refuse(context, requestId, refusal);
    }

    @Override
    public void flush() {
      context.flush();
    }

    @Override
    public void cut() {
      Responses.cut(context);
    }
  }
}
