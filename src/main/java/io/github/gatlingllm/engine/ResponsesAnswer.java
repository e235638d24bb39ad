package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An answer in the form of OpenAI's {@code responses}: output items as typed events. */
final class ResponsesAnswer extends TypedAnswer {
  private final long createdSeconds;
  private int sequence;

  ResponsesAnswer(
      ChannelHandlerContext context, String requestId, String model, long createdSeconds) {
    super(context, requestId, "resp_", model);
    this.createdSeconds = createdSeconds;
  }

  @Override
  String begun(Usage usage) {
    String response = ",\"response\":" + response("in_progress", null, List.of(), null);
    return numbered("response.created", response) + numbered("response.in_progress", response);
  }

  private String numbered(String type, String fields) {
    return event(type, ",\"sequence_number\":" + sequence++ + fields);
  }

  private String itemId(int at) {
    return "item_" + id + "_" + at;
  }

  private String place() {
    return ",\"item_id\":" + quoted(itemId(item)) + ",\"output_index\":" + item;
  }

  @Override
  String opened(TokenType type, CharSequence text) {
    SentChoice empty = new SentChoice();
    if (type == TokenType.TOOL_NAME) {
      empty.append(type, text);
    }
    String added =
        numbered(
            "response.output_item.added",
            ",\"output_index\":" + item + ",\"item\":" + item(type, item, empty, "in_progress"));
    return type != TokenType.TEXT
        ? added
        : added
            + numbered(
                "response.content_part.added",
                place() + ",\"content_index\":0,\"part\":" + content(""));
  }

  @Override
  String delta(TokenType type, CharSequence text) {
    String delta = ",\"delta\":" + quoted(text);
    return switch (type) {
      case REASONING ->
          numbered("response.reasoning_text.delta", place() + ",\"content_index\":0" + delta);
      case TEXT, TOOL_NAME ->
          numbered(
              "response.output_text.delta",
              place() + ",\"content_index\":0" + delta + ",\"logprobs\":[]");
      case ARGUMENTS -> numbered("response.function_call_arguments.delta", place() + delta);
    };
  }

  @Override
  String closed(TokenType type) {
    return numbered(
        "response.output_item.done",
        ",\"output_index\":" + item + ",\"item\":" + item(type, item, sent, "completed"));
  }

  @Override
  String ended(Usage usage) {
    boolean whole = !sent.finishReason.equals("length");
    return numbered(
        whole ? "response.completed" : "response.incomplete",
        ",\"response\":" + whole(List.of(sent), usage));
  }

  @Override
  String error(Refusal refusal) {
    return numbered(
        "error",
        ",\"code\":\"server_error\",\"message\":"
            + quoted(refusal.getMessage())
            + ",\"param\":null");
  }

  @Override
  String whole(List<SentChoice> choices, Usage usage) {
    SentChoice answer = choices.get(0);
    boolean cut = answer.finishReason.equals("length");
    List<String> items = new ArrayList<>();
    for (TokenType type : items(answer)) {
      items.add(item(type, items.size(), answer, cut ? "incomplete" : "completed"));
    }
    return response(
        cut ? "incomplete" : "completed", cut ? "max_output_tokens" : null, items, usage);
  }

  private String response(
      String status, @Nullable String incomplete, List<String> items, @Nullable Usage usage) {
    return """
    {"id":%s,"object":"response","created_at":%s,"status":"%s","error":null,\
    "incomplete_details":%s,"model":%s,"output":[%s],"usage":%s}\
    """
        .formatted(
            quoted(id),
            createdSeconds,
            status,
            incomplete == null ? "null" : "{\"reason\":\"" + incomplete + "\"}",
            quoted(model),
            String.join(",", items),
            usage == null ? "null" : usage(usage));
  }

  private String item(TokenType type, int at, SentChoice answer, String status) {
    CharSequence text = answer.text(type);
    String typed =
        switch (type) {
          case REASONING ->
              "\"reasoning\",\"summary\":[],\"content\":[%s]"
                  .formatted(
                      text == null
                          ? ""
                          : "{\"type\":\"reasoning_text\",\"text\":" + quoted(text) + "}");
          case TEXT ->
              "\"message\",\"role\":\"assistant\",\"content\":[%s]"
                  .formatted(text == null ? "" : content(text));
          case TOOL_NAME, ARGUMENTS ->
              "\"function_call\",\"call_id\":%s,\"name\":%s,\"arguments\":%s"
                  .formatted(
                      quoted("call_" + id),
                      quoted(answer.text(TokenType.TOOL_NAME)),
                      quoted(answer.text(TokenType.ARGUMENTS)));
        };
    return "{\"id\":%s,\"status\":\"%s\",\"type\":%s}".formatted(quoted(itemId(at)), status, typed);
  }

  private static String content(CharSequence text) {
    return "{\"type\":\"output_text\",\"annotations\":[],\"text\":" + quoted(text) + "}";
  }

  private static String usage(Usage usage) {
    Integer reasoning = usage.reasoningTokens();
    return """
    {"input_tokens":%s,"input_tokens_details":{"cached_tokens":%s},"output_tokens":%s,\
    "output_tokens_details":{"reasoning_tokens":%s},"total_tokens":%s}\
    """
        .formatted(
            usage.promptTokens(),
            usage.cachedTokens(),
            usage.completionTokens(),
            reasoning == null ? 0 : reasoning,
            usage.promptTokens() + usage.completionTokens());
  }
}
