package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Answers of chat and text completions: the role chunk when the prefill begins (chat only), a chunk
 * per text, the finish chunk; after the last choice the usage chunk if requested, and {@code
 * [DONE]}. The constant parts of a chunk are encoded once.
 */
final class ChatAnswer extends ResponseWriter.Events {
  private static final byte[] NOTHING = {};
  private static final byte[] CHUNK_END = "}\n\n".getBytes(UTF_8);

  private final CompletionRequest request;
  private final boolean chat;
  private final String callId;
  private final String envelope;
  private final byte[] choicesStart;
  private final List<Map<TokenType, Frame>> frames;

  @SuppressWarnings("ArrayRecordComponent") // written only, never compared
  private record Frame(byte[] start, byte[] end) {}

  ChatAnswer(
      ChannelHandlerContext context,
      CompletionRequest request,
      String requestId,
      String model,
      long createdSeconds) {
    super(context, requestId);
    this.request = request;
    chat = request.api() == Api.CHAT;
    String object =
        chat ? (request.stream() ? "chat.completion.chunk" : "chat.completion") : "text_completion";
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
    frames = IntStream.range(0, request.choices()).mapToObj(this::frames).toList();
  }

  private Map<TokenType, Frame> frames(int choice) {
    Map<TokenType, Frame> each = new EnumMap<>(TokenType.class);
    for (TokenType type : TokenType.values()) {
      String around = chat ? "\"delta\":{" + delta(type, choice) + "}" : "\"text\":\"|\"";
      int at = around.indexOf('|');
      String start = choice(choice, around.substring(0, at));
      String end = around.substring(at + 1) + tail(null) + "]";
      each.put(type, new Frame(start.getBytes(UTF_8), end.getBytes(UTF_8)));
    }
    return each;
  }

  /** With a vertical bar in place of the text. */
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

  @Override
  void begin(int choice, Usage usage) {
    if (chat) {
      String role = "\"delta\":{\"role\":\"assistant\",\"content\":\"\"}";
      chunk(choice(choice, role) + tail(null) + "]", continuous(usage));
    }
  }

  @Override
  void text(int choice, TokenType type, CharSequence text, Usage usage) {
    Frame frame = frames.get(choice).get(type);
    // Words of the engine's vocabulary need no escapes; JSON and tool names do.
    CharSequence escaped = type == TokenType.REASONING ? text : escaped(text);
    chunk(frame.start(), escaped, frame.end(), continuous(usage));
  }

  @Override
  void finish(int choice, String finishReason, Usage usage) {
    String content = chat ? "\"delta\":{}" : "\"text\":\"\"";
    chunk(choice(choice, content) + tail(finishReason) + "]", continuous(usage));
  }

  @Override
  void end(Usage usage) {
    if (request.includeUsage()) {
      chunk("]", usage);
    }
    done();
  }

  @Override
  void fail(Refusal refusal) {
    write("data: " + refusal.json() + "\n\n");
    done();
  }

  private void done() {
    write("data: [DONE]\n\n");
    close();
  }

  private @Nullable Usage continuous(Usage usage) {
    return request.continuousUsage() ? usage : null;
  }

  @Override
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
    String text = quoted(choice.text(TokenType.TEXT));
    if (!chat) {
      return choice(index, "\"text\":" + text) + tail(choice.finishReason);
    }
    CharSequence reasoning = choice.text(TokenType.REASONING);
    CharSequence tool = choice.text(TokenType.TOOL_NAME);
    CharSequence arguments = choice.text(TokenType.ARGUMENTS);
    String message =
        "\"message\":{\"role\":\"assistant\",\"content\":"
            + (tool == null ? text : "null")
            + (reasoning == null ? "" : ",\"reasoning_content\":" + quoted(reasoning))
            + (tool == null
                ? ""
                : ",\"tool_calls\":[{%s\"name\":%s,\"arguments\":%s}}]"
                    .formatted(call(index), quoted(tool), quoted(arguments)))
            + "}";
    return choice(index, message) + tail(choice.finishReason);
  }

  private static String choice(int index, String content) {
    return "{\"index\":" + index + "," + content;
  }

  private static String tail(@Nullable String finishReason) {
    String reason = finishReason == null ? "null" : "\"" + finishReason + "\"";
    return ",\"logprobs\":null,\"finish_reason\":" + reason + "}";
  }

  private void chunk(String content, @Nullable Usage usage) {
    chunk(content.getBytes(UTF_8), "", NOTHING, usage);
  }

  private void chunk(byte[] start, CharSequence text, byte[] end, @Nullable Usage usage) {
    int size = choicesStart.length + start.length + text.length() + end.length + CHUNK_END.length;
    ByteBuf chunk =
        Responses.chunk(context.alloc(), size).writeBytes(choicesStart).writeBytes(start);
    ByteBufUtil.writeUtf8(chunk, text);
    chunk.writeBytes(end);
    if (usage != null) {
      ByteBufUtil.writeAscii(chunk, ",\"usage\":" + usage.json());
    }
    write(chunk.writeBytes(CHUNK_END));
  }
}
