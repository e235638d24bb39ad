package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An answer in the form of Anthropic's {@code messages}: content blocks as typed events. */
final class MessagesAnswer extends TypedAnswer {

  MessagesAnswer(ChannelHandlerContext context, String requestId, String model) {
    super(context, requestId, "msg_", model);
  }

  @Override
  String begun(Usage usage) {
    return event("message_start", ",\"message\":" + message(new SentChoice(), null, usage))
        + event("ping", "");
  }

  @Override
  String opened(TokenType type, CharSequence text) {
    String block =
        switch (type) {
          case REASONING -> "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}";
          case TEXT -> "{\"type\":\"text\",\"text\":\"\"}";
          case TOOL_NAME, ARGUMENTS -> toolUse(text, "{}");
        };
    return event("content_block_start", ",\"index\":" + item + ",\"content_block\":" + block);
  }

  private String toolUse(@Nullable CharSequence name, CharSequence input) {
    return "{\"type\":\"tool_use\",\"id\":%s,\"name\":%s,\"input\":%s}"
        .formatted(quoted("toolu_" + id), quoted(name), input);
  }

  @Override
  String delta(TokenType type, CharSequence text) {
    String delta =
        switch (type) {
          case REASONING -> "\"thinking_delta\",\"thinking\":";
          case TEXT, TOOL_NAME -> "\"text_delta\",\"text\":";
          case ARGUMENTS -> "\"input_json_delta\",\"partial_json\":";
        };
    return event(
        "content_block_delta",
        ",\"index\":" + item + ",\"delta\":{\"type\":" + delta + quoted(text) + "}");
  }

  @Override
  String closed(TokenType type) {
    return event("content_block_stop", ",\"index\":" + item);
  }

  @Override
  String ended(Usage usage) {
    return event(
            "message_delta",
            ",\"delta\":{\"stop_reason\":\""
                + stopReason(sent)
                + "\",\"stop_sequence\":null},\"usage\":"
                + usage(usage))
        + event("message_stop", "");
  }

  private static String stopReason(SentChoice answer) {
    return switch (answer.finishReason) {
      case "length" -> "max_tokens";
      case "tool_calls" -> "tool_use";
      default -> "end_turn";
    };
  }

  @Override
  String error(Refusal refusal) {
    return event(
        "error",
        ",\"error\":{\"type\":\"api_error\",\"message\":" + quoted(refusal.getMessage()) + "}");
  }

  @Override
  String whole(List<SentChoice> choices, Usage usage) {
    return message(choices.get(0), stopReason(choices.get(0)), usage);
  }

  private String message(SentChoice answer, @Nullable String stopReason, Usage usage) {
    List<String> blocks = new ArrayList<>();
    for (TokenType type : items(answer)) {
      CharSequence text = answer.text(type);
      CharSequence arguments = answer.text(TokenType.ARGUMENTS);
      blocks.add(
          switch (type) {
            case REASONING ->
                "{\"type\":\"thinking\",\"signature\":\"\",\"thinking\":" + quoted(text) + "}";
            case TEXT -> "{\"type\":\"text\",\"text\":" + quoted(text) + "}";
            // Arguments that were cut off are not JSON.
            case TOOL_NAME, ARGUMENTS ->
                toolUse(
                    text, arguments == null || "max_tokens".equals(stopReason) ? "{}" : arguments);
          });
    }
    return """
    {"id":%s,"type":"message","role":"assistant","model":%s,"content":[%s],\
    "stop_reason":%s,"stop_sequence":null,"usage":%s}\
    """
        .formatted(
            quoted(id),
            quoted(model),
            String.join(",", blocks),
            stopReason == null ? "null" : "\"" + stopReason + "\"",
            usage(usage));
  }

  /** Anthropic counts cached tokens beside {@code input_tokens}, not among them. */
  private static String usage(Usage usage) {
    return """
    {"input_tokens":%s,"cache_creation_input_tokens":0,"cache_read_input_tokens":%s,\
    "output_tokens":%s}\
    """
        .formatted(
            usage.promptTokens() - usage.cachedTokens(),
            usage.cachedTokens(),
            usage.completionTokens());
  }
}
