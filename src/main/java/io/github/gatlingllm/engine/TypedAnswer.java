package io.github.gatlingllm.engine;

import static io.github.gatlingllm.engine.AnswerFormat.quoted;

import io.github.gatlingllm.engine.AnswerFormat.Said;
import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.github.gatlingllm.engine.ResponseWriter.Usage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The JSON of one answer in an API whose events have types, as events or whole. What a token
 * belongs to is an item, or content block, of its own; where that changes, one ends and the next
 * begins.
 */
abstract class TypedAnswer {
  final String id;
  final String model;
  final Said said = new Said();

  /** Position of the item that is open; −1 before the first. */
  int item = -1;

  private @Nullable TokenType open;

  /** Who answers: the two forms have these in common. */
  private TypedAnswer(String id, String model) {
    this.id = id;
    this.model = model;
  }

  /** The events that come before any token. */
  abstract String begin(Usage usage);

  /** The events of more text. */
  final String text(TokenType part, CharSequence text) {
    StringBuilder events = new StringBuilder();
    // A tool's name and its arguments are one item.
    if (open == null || (part != open && part != TokenType.ARGUMENTS)) {
      events.append(closed());
      item++;
      open = part;
      events.append(opened(part, text));
    }
    said.append(part, text);
    return part == TokenType.TOOL_NAME
        ? events.toString()
        : events.append(delta(part, text)).toString();
  }

  /** The events that end the last item. */
  final String finish(String reason) {
    said.finish(reason);
    return closed();
  }

  private String closed() {
    TokenType part = open;
    open = null;
    return part == null ? "" : closed(part);
  }

  abstract String opened(TokenType part, CharSequence text);

  abstract String delta(TokenType part, CharSequence text);

  abstract String closed(TokenType part);

  /** The events after the last item, the terminal one last. */
  abstract String end(Usage usage);

  abstract String error(Refusal refusal);

  /** The answer as one JSON object. */
  abstract String whole(Said all, Usage usage);

  static String event(String type, String fields) {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + fields + "}\n\n";
  }

  /** What was said, in the order in which it is: reasoning, text, the call of a tool. */
  private static List<TokenType> parts(Said all) {
    List<TokenType> parts = new ArrayList<>();
    for (TokenType part : List.of(TokenType.REASONING, TokenType.TEXT, TokenType.TOOL_NAME)) {
      if (all.text(part) != null) {
        parts.add(part);
      }
    }
    return parts;
  }

  /** OpenAI's {@code responses}. */
  static final class OfResponses extends TypedAnswer {
    private final long createdSeconds;
    private int sequence;

    OfResponses(String requestId, String model, long createdSeconds) {
      super("resp_" + requestId, model);
      this.createdSeconds = createdSeconds;
    }

    @Override
    String begin(Usage usage) {
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
    String opened(TokenType part, CharSequence text) {
      Said empty = new Said();
      if (part == TokenType.TOOL_NAME) {
        empty.append(part, text);
      }
      String added =
          numbered(
              "response.output_item.added",
              ",\"output_index\":" + item + ",\"item\":" + item(part, item, empty, "in_progress"));
      return part != TokenType.TEXT
          ? added
          : added
              + numbered(
                  "response.content_part.added",
                  place() + ",\"content_index\":0,\"part\":" + content(""));
    }

    @Override
    String delta(TokenType part, CharSequence text) {
      String delta = ",\"delta\":" + quoted(text);
      return switch (part) {
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
    String closed(TokenType part) {
      return numbered(
          "response.output_item.done",
          ",\"output_index\":" + item + ",\"item\":" + item(part, item, said, "completed"));
    }

    @Override
    String end(Usage usage) {
      boolean whole = !said.finishReason().equals("length");
      return numbered(
          whole ? "response.completed" : "response.incomplete",
          ",\"response\":" + whole(said, usage));
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
    String whole(Said all, Usage usage) {
      boolean cut = all.finishReason().equals("length");
      List<String> items = new ArrayList<>();
      for (TokenType part : parts(all)) {
        items.add(item(part, items.size(), all, cut ? "incomplete" : "completed"));
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

    private String item(TokenType part, int at, Said all, String status) {
      CharSequence text = all.text(part);
      String typed =
          switch (part) {
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
                        quoted(all.text(TokenType.TOOL_NAME)),
                        quoted(all.text(TokenType.ARGUMENTS)));
          };
      return "{\"id\":%s,\"status\":\"%s\",\"type\":%s}"
          .formatted(quoted(itemId(at)), status, typed);
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

  /** Anthropic's {@code messages}. */
  static final class OfMessages extends TypedAnswer {

    OfMessages(String requestId, String model) {
      super("msg_" + requestId, model);
    }

    @Override
    String begin(Usage usage) {
      Said nothing = new Said();
      return event("message_start", ",\"message\":" + message(nothing, null, usage))
          + event("ping", "");
    }

    @Override
    String opened(TokenType part, CharSequence text) {
      String block =
          switch (part) {
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
    String delta(TokenType part, CharSequence text) {
      String what =
          switch (part) {
            case REASONING -> "\"thinking_delta\",\"thinking\":";
            case TEXT, TOOL_NAME -> "\"text_delta\",\"text\":";
            case ARGUMENTS -> "\"input_json_delta\",\"partial_json\":";
          };
      return event(
          "content_block_delta",
          ",\"index\":" + item + ",\"delta\":{\"type\":" + what + quoted(text) + "}");
    }

    @Override
    String closed(TokenType part) {
      return event("content_block_stop", ",\"index\":" + item);
    }

    @Override
    String end(Usage usage) {
      return event(
              "message_delta",
              ",\"delta\":{\"stop_reason\":\""
                  + stopReason(said)
                  + "\",\"stop_sequence\":null},\"usage\":"
                  + usage(usage))
          + event("message_stop", "");
    }

    private static String stopReason(Said all) {
      return switch (all.finishReason()) {
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
    String whole(Said all, Usage usage) {
      return message(all, stopReason(all), usage);
    }

    private String message(Said all, @Nullable String stopReason, Usage usage) {
      List<String> blocks = new ArrayList<>();
      for (TokenType part : parts(all)) {
        CharSequence text = all.text(part);
        CharSequence arguments = all.text(TokenType.ARGUMENTS);
        blocks.add(
            switch (part) {
              case REASONING ->
                  "{\"type\":\"thinking\",\"signature\":\"\",\"thinking\":" + quoted(text) + "}";
              case TEXT -> "{\"type\":\"text\",\"text\":" + quoted(text) + "}";
              // What was cut off is no JSON.
              case TOOL_NAME, ARGUMENTS ->
                  toolUse(
                      text,
                      arguments == null || "max_tokens".equals(stopReason) ? "{}" : arguments);
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

    /** What comes from the cache is beside {@code input_tokens} there, not among them. */
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
}
