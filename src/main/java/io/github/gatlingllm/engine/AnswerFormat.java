package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.github.gatlingllm.engine.CompletionRequest.Api;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import org.jspecify.annotations.Nullable;

/**
 * The JSON of one answer: as server-sent events, one per chunk, or whole. What does not change from
 * chunk to chunk is encoded once.
 */
final class AnswerFormat {
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(UTF_8);
  private static final byte[] NOTHING = {};
  private static final byte[] CHUNK_END = "}\n\n".getBytes(UTF_8);

  private final boolean chat;
  private final String envelope;
  private final byte[] choicesStart;
  private final byte[] textStart;
  private final byte[] textEnd;

  /**
   * The form of one answer.
   *
   * @param requestId becomes part of the answer's id
   * @param createdSeconds Unix time
   */
  AnswerFormat(Api api, boolean stream, String requestId, String model, long createdSeconds) {
    chat = api == Api.CHAT;
    String object =
        chat ? (stream ? "chat.completion.chunk" : "chat.completion") : "text_completion";
    envelope =
        "{\"id\":\"%s%s\",\"object\":\"%s\",\"created\":%d,\"model\":\"%s\",\"choices\":["
            .formatted(
                chat ? "chatcmpl-" : "cmpl-",
                escaped(requestId),
                object,
                createdSeconds,
                escaped(model));
    choicesStart = ("data: " + envelope).getBytes(UTF_8);
    textStart = choice(chat ? "\"delta\":{\"content\":\"" : "\"text\":\"").getBytes(UTF_8);
    textEnd = (chat ? "\"}" : "\"").concat(end(null)).getBytes(UTF_8);
  }

  /** The first chunk of a chat: who speaks. */
  ByteBuf role(ByteBufAllocator allocator, @Nullable Usage usage) {
    String choice = choice("\"delta\":{\"role\":\"assistant\",\"content\":\"\"}") + end(null);
    return chunk(allocator, choice.getBytes(UTF_8), "", NOTHING, usage);
  }

  /** A chunk of text; the text is ASCII and needs no escaping. */
  ByteBuf text(ByteBufAllocator allocator, CharSequence text, @Nullable Usage usage) {
    return chunk(allocator, textStart, text, textEnd, usage);
  }

  /** The chunk that says why it ended. */
  ByteBuf finish(ByteBufAllocator allocator, String finishReason, @Nullable Usage usage) {
    String choice = choice(chat ? "\"delta\":{}" : "\"text\":\"\"") + end(finishReason);
    return chunk(allocator, choice.getBytes(UTF_8), "", NOTHING, usage);
  }

  /** The chunk without choices that {@code stream_options.include_usage} asks for. */
  ByteBuf usage(ByteBufAllocator allocator, Usage usage) {
    return chunk(allocator, "]".getBytes(UTF_8), "", NOTHING, usage);
  }

  /** {@code [DONE]}. */
  static ByteBuf done(ByteBufAllocator allocator) {
    return allocator.buffer(DONE.length).writeBytes(DONE);
  }

  /** The whole answer as one JSON object. */
  String whole(String text, String finishReason, Usage usage) {
    String choice =
        chat
            ? "\"message\":{\"role\":\"assistant\",\"content\":\"" + text + "\"}"
            : "\"text\":\"" + text + "\"";
    return envelope + choice(choice) + end(finishReason) + ",\"usage\":" + usage.json() + "}";
  }

  private static String choice(String content) {
    return "{\"index\":0," + content;
  }

  private static String end(@Nullable String finishReason) {
    String reason = finishReason == null ? "null" : "\"" + finishReason + "\"";
    return ",\"logprobs\":null,\"finish_reason\":" + reason + "}]";
  }

  private ByteBuf chunk(
      ByteBufAllocator allocator,
      byte[] start,
      CharSequence text,
      byte[] end,
      @Nullable Usage usage) {
    int size = choicesStart.length + start.length + text.length() + end.length + CHUNK_END.length;
    ByteBuf chunk = allocator.buffer(size).writeBytes(choicesStart).writeBytes(start);
    ByteBufUtil.writeAscii(chunk, text);
    chunk.writeBytes(end);
    if (usage != null) {
      ByteBufUtil.writeAscii(chunk, ",\"usage\":" + usage.json());
    }
    return chunk.writeBytes(CHUNK_END);
  }

  private static String escaped(String text) {
    return String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text));
  }
}
