package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.github.gatlingllm.engine.ResponseWriter.Usage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes one response as JSON for chat and text completions: as server-sent events, one per chunk,
 * or as a whole body. The constant parts of a chunk are encoded once.
 */
final class AnswerFormat {
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(UTF_8);
  private static final byte[] NOTHING = {};
  private static final byte[] CHUNK_END = "}\n\n".getBytes(UTF_8);

  private final boolean chat;
  private final String callId;
  private final String envelope;
  private final byte[] choicesStart;
  private final List<Map<TokenType, Frame>> frames;

  /** The bytes of a chunk before and after its text. */
  @SuppressWarnings("ArrayRecordComponent") // written only, never compared
  private record Frame(byte[] start, byte[] end) {}

  /** The text of one choice so far. */
  static final class SentChoice {
    private final Map<TokenType, StringBuilder> texts = new EnumMap<>(TokenType.class);
    private String finishReason = "";

    void append(TokenType type, CharSequence text) {
      texts.computeIfAbsent(type, each -> new StringBuilder()).append(text);
    }

    void finish(String reason) {
      finishReason = reason;
    }

    String finishReason() {
      return finishReason;
    }

    /** Text of this type; null where there is none. */
    @Nullable CharSequence text(TokenType type) {
      return texts.get(type);
    }
  }

  /**
   * @param requestId becomes part of the answer's id
   * @param createdSeconds Unix time
   */
  AnswerFormat(
      Api api, boolean stream, int choices, String requestId, String model, long createdSeconds) {
    chat = api == Api.CHAT;
    String object =
        chat ? (stream ? "chat.completion.chunk" : "chat.completion") : "text_completion";
    envelope =
        "{\"id\":\"%s%s\",\"object\":\"%s\",\"created\":%s,\"model\":\"%s\",\"choices\":["
            .formatted(
                chat ? "chatcmpl-" : "cmpl-",
                escaped(requestId),
                object,
                createdSeconds,
                escaped(model));
    callId = "call_" + escaped(requestId) + "-";
    choicesStart = ("data: " + envelope).getBytes(UTF_8);
    frames = IntStream.range(0, choices).mapToObj(this::frames).toList();
  }

  private Map<TokenType, Frame> frames(int choice) {
    Map<TokenType, Frame> each = new EnumMap<>(TokenType.class);
    for (TokenType type : TokenType.values()) {
      String around = chat ? "\"delta\":{" + delta(type, choice) + "}" : "\"text\":\"|\"";
      int at = around.indexOf('|');
      String start = choice(choice, around.substring(0, at));
      String end = around.substring(at + 1) + end(null) + "]";
      each.put(type, new Frame(start.getBytes(UTF_8), end.getBytes(UTF_8)));
    }
    return each;
  }

  /** A field of a delta, with a vertical bar in place of the text. */
  private String delta(TokenType type, int choice) {
    return switch (type) {
      case REASONING -> "\"reasoning_content\":\"|\"";
      case TEXT -> "\"content\":\"|\"";
      case TOOL_NAME ->
          "\"tool_calls\":[{\"index\":0," + call(choice) + "\"name\":\"|\",\"arguments\":\"\"}}]";
      case ARGUMENTS -> "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"|\"}}]";
    };
  }

  private String call(int choice) {
    return "\"id\":\""
        + callId.replace('|', '-')
        + choice
        + "\",\"type\":\"function\",\"function\":{";
  }

  /** First chunk of a chat choice, which carries the role. */
  ByteBuf role(ByteBufAllocator allocator, int choice, @Nullable Usage usage) {
    String content = "\"delta\":{\"role\":\"assistant\",\"content\":\"\"}";
    return chunk(allocator, choice(choice, content) + end(null) + "]", usage);
  }

  /** Chunk that carries text. */
  ByteBuf text(
      ByteBufAllocator allocator,
      int choice,
      TokenType type,
      CharSequence text,
      @Nullable Usage usage) {
    Frame frame = frames.get(choice).get(type);
    // Words of the engine's vocabulary need no escapes; JSON and tool names do.
    CharSequence escaped = type == TokenType.REASONING ? text : escaped(text);
    return chunk(allocator, frame.start(), escaped, frame.end(), usage);
  }

  /** Chunk that carries the finish reason of a choice. */
  ByteBuf finish(
      ByteBufAllocator allocator, int choice, String finishReason, @Nullable Usage usage) {
    String content = chat ? "\"delta\":{}" : "\"text\":\"\"";
    return chunk(allocator, choice(choice, content) + end(finishReason) + "]", usage);
  }

  /** Chunk without choices, sent for {@code stream_options.include_usage}. */
  ByteBuf usage(ByteBufAllocator allocator, Usage usage) {
    return chunk(allocator, "]", usage);
  }

  /** {@code [DONE]}. */
  static ByteBuf done(ByteBufAllocator allocator) {
    return Responses.chunk(allocator, DONE.length).writeBytes(DONE);
  }

  /** The whole response as one JSON object. */
  String whole(List<SentChoice> choices, Usage usage) {
    return envelope
        + IntStream.range(0, choices.size())
            .mapToObj(index -> whole(index, choices.get(index)))
            .collect(Collectors.joining(","))
        + "],\"usage\":"
        + usage.json()
        + "}";
  }

  private String whole(int index, SentChoice choice) {
    String text = quoted(choice.texts.get(TokenType.TEXT));
    if (!chat) {
      return choice(index, "\"text\":" + text) + end(choice.finishReason);
    }
    StringBuilder reasoning = choice.texts.get(TokenType.REASONING);
    StringBuilder tool = choice.texts.get(TokenType.TOOL_NAME);
    StringBuilder arguments = choice.texts.get(TokenType.ARGUMENTS);
    String calls =
        tool == null
            ? ""
            : ",\"tool_calls\":[{%s\"name\":%s,\"arguments\":%s}}]"
                .formatted(call(index), quoted(tool), quoted(arguments));
    String message =
        "\"message\":{\"role\":\"assistant\",\"content\":"
            + (tool == null ? text : "null")
            + (reasoning == null ? "" : ",\"reasoning_content\":" + quoted(reasoning))
            + calls
            + "}";
    return choice(index, message) + end(choice.finishReason);
  }

  private static String choice(int index, String content) {
    return "{\"index\":" + index + "," + content;
  }

  private static String end(@Nullable String finishReason) {
    String reason = finishReason == null ? "null" : "\"" + finishReason + "\"";
    return ",\"logprobs\":null,\"finish_reason\":" + reason + "}";
  }

  private ByteBuf chunk(ByteBufAllocator allocator, String content, @Nullable Usage usage) {
    return chunk(allocator, content.getBytes(UTF_8), "", NOTHING, usage);
  }

  private ByteBuf chunk(
      ByteBufAllocator allocator,
      byte[] start,
      CharSequence text,
      byte[] end,
      @Nullable Usage usage) {
    int size = choicesStart.length + start.length + text.length() + end.length + CHUNK_END.length;
    ByteBuf chunk = Responses.chunk(allocator, size).writeBytes(choicesStart).writeBytes(start);
    ByteBufUtil.writeUtf8(chunk, text);
    chunk.writeBytes(end);
    if (usage != null) {
      ByteBufUtil.writeAscii(chunk, ",\"usage\":" + usage.json());
    }
    return chunk.writeBytes(CHUNK_END);
  }

  static String quoted(@Nullable CharSequence text) {
    return text == null ? "\"\"" : "\"" + escaped(text) + "\"";
  }

  private static String escaped(CharSequence text) {
    return String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text));
  }
}
