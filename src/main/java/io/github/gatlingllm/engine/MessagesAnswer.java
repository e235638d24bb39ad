package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.netty.channel.ChannelHandlerContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An answer in the form of Anthropic's {@code messages}: content blocks as typed events. */
final class MessagesAnswer extends TypedAnswer {

  MessagesAnswer(ChannelHandlerContext context, String requestId, String model) {
    super(context, requestId, "msg_", model);
  }

  @Override
  void begin(int choice, Usage usage) {
    event("message_start", ",'message':%s", message(new SentChoice(), null, usage));
    event("ping", "");
  }

  @Override
  void opened(TokenType type, String text) {
    Json block = block(type, type == TokenType.TOOL_NAME ? text : "", "{}");
    event("content_block_start", ",'index':%s,'content_block':%s", item, block);
  }

  @Override
  void delta(TokenType type, String text) {
    Json delta =
        switch (type) {
          case REASONING -> Json.of("{'type':'thinking_delta','thinking':%s}", text);
          case TEXT, TOOL_NAME -> Json.of("{'type':'text_delta','text':%s}", text);
          case ARGUMENTS -> Json.of("{'type':'input_json_delta','partial_json':%s}", text);
        };
    event("content_block_delta", ",'index':%s,'delta':%s", item, delta);
  }

  @Override
  void closed(TokenType type) {
    event("content_block_stop", ",'index':%s", item);
  }

  @Override
  void end(Usage usage) {
    event(
        "message_delta",
        ",'delta':{'stop_reason':%s,'stop_sequence':null},'usage':%s",
        stopReason(sent),
        usage(usage));
    event("message_stop", "");
    close();
  }

  private static String stopReason(SentChoice answer) {
    return switch (answer.finishReason) {
      case "length" -> "max_tokens";
      case "tool_calls" -> "tool_use";
      default -> "end_turn";
    };
  }

  @Override
  Json whole(List<SentChoice> choices, Usage usage) {
    return message(choices.get(0), stopReason(choices.get(0)), usage);
  }

  private Json message(SentChoice answer, @Nullable String stopReason, Usage usage) {
    String arguments = answer.text(TokenType.ARGUMENTS);
    // Arguments that were cut off are not JSON.
    String input = arguments == null || "max_tokens".equals(stopReason) ? "{}" : arguments;
    List<Json> blocks =
        items(answer).stream().map(type -> block(type, answer.text(type), input)).toList();
    return Json.of(
        """
        {'id':%s,'type':'message','role':'assistant','model':%s,'content':%s,'stop_reason':%s,
        'stop_sequence':null,'usage':%s}\
        """,
        id, model, blocks, stopReason, usage(usage));
  }

  private Json block(TokenType type, @Nullable String text, String input) {
    return switch (type) {
      case REASONING -> Json.of("{'type':'thinking','thinking':%s,'signature':''}", text);
      case TEXT -> Json.of("{'type':'text','text':%s}", text);
      case TOOL_NAME, ARGUMENTS -> {
        String form = "{'type':'tool_use','id':%s,'name':%s,'input':%s}";
        yield Json.of(form, "toolu_" + id, text, new Json(input));
      }
    };
  }

  /** Anthropic counts cached tokens beside {@code input_tokens}, not among them. */
  private static Json usage(Usage usage) {
    int cached = usage.cachedTokens();
    return Json.of(
        """
        {'input_tokens':%s,'cache_creation_input_tokens':0,'cache_read_input_tokens':%s,
        'output_tokens':%s}\
        """,
        usage.promptTokens() - cached, cached, usage.completionTokens());
  }
}
