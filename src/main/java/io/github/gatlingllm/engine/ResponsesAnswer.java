package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
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
  void begin(int choice, Usage usage) {
    Json response = response("in_progress", null, List.of(), null);
    numbered("response.created", ",'response':%s", response);
    numbered("response.in_progress", ",'response':%s", response);
  }

  private void numbered(String type, String fields, @Nullable Object... values) {
    event(type, ",'sequence_number':" + sequence++ + fields, values);
  }

  /** An event of a part of the open item. */
  private void ofItem(String type, String fields, Object... values) {
    Stream<Object> place = Stream.of(itemId(item), item);
    numbered(
        type,
        ",'item_id':%s,'output_index':%s" + fields,
        Stream.concat(place, Stream.of(values)).toArray());
  }

  private String itemId(int at) {
    return "item_" + id + "_" + at;
  }

  @Override
  void opened(TokenType type, String text) {
    SentChoice begun = new SentChoice();
    if (type == TokenType.TOOL_NAME) {
      begun.append(type, text);
    }
    Json added = item(type, item, begun, "in_progress");
    numbered("response.output_item.added", ",'output_index':%s,'item':%s", item, added);
    if (type == TokenType.TEXT) {
      ofItem("response.content_part.added", ",'content_index':0,'part':%s", content(""));
    }
  }

  @Override
  void delta(TokenType type, String text) {
    switch (type) {
      case REASONING ->
          ofItem("response.reasoning_text.delta", ",'content_index':0,'delta':%s", text);
      case TEXT, TOOL_NAME ->
          ofItem("response.output_text.delta", ",'content_index':0,'delta':%s,'logprobs':[]", text);
      case ARGUMENTS -> ofItem("response.function_call_arguments.delta", ",'delta':%s", text);
    }
  }

  @Override
  void closed(TokenType type) {
    Json done = item(type, item, sent, "completed");
    numbered("response.output_item.done", ",'output_index':%s,'item':%s", item, done);
  }

  @Override
  void end(Usage usage) {
    boolean cut = sent.finishReason.equals("length");
    String type = cut ? "response.incomplete" : "response.completed";
    numbered(type, ",'response':%s", whole(List.of(sent), usage));
    close();
  }

  @Override
  Json whole(List<SentChoice> choices, Usage usage) {
    SentChoice answer = choices.get(0);
    boolean cut = answer.finishReason.equals("length");
    String status = cut ? "incomplete" : "completed";
    List<Json> items = new ArrayList<>();
    items(answer).forEach(type -> items.add(item(type, items.size(), answer, status)));
    return response(
        status, cut ? Json.of("{'reason':'max_output_tokens'}") : null, items, usage(usage));
  }

  private Json response(
      String status, @Nullable Json incomplete, List<Json> items, @Nullable Json usage) {
    return Json.of(
        """
        {'id':%s,'object':'response','created_at':%s,'status':%s,'error':null,
        'incomplete_details':%s,'model':%s,'output':%s,'usage':%s}\
        """,
        id, createdSeconds, status, incomplete, model, items, usage);
  }

  private Json item(TokenType type, int at, SentChoice answer, String status) {
    String text = answer.text(type);
    String form = "{'id':%s,'status':%s,'type':";
    String itemId = itemId(at);
    return switch (type) {
      case REASONING -> {
        Json content = Json.of("{'type':'reasoning_text','text':%s}", text);
        List<Json> contents = text == null ? List.of() : List.of(content);
        yield Json.of(form + "'reasoning','summary':[],'content':%s}", itemId, status, contents);
      }
      case TEXT -> {
        List<Json> contents = text == null ? List.of() : List.of(content(text));
        String message = form + "'message','role':'assistant','content':%s}";
        yield Json.of(message, itemId, status, contents);
      }
      case TOOL_NAME, ARGUMENTS -> {
        String tool = answer.text(TokenType.TOOL_NAME);
        String arguments = Objects.requireNonNullElse(answer.text(TokenType.ARGUMENTS), "");
        String call = form + "'function_call','call_id':%s,'name':%s,'arguments':%s}";
        yield Json.of(call, itemId, status, "call_" + id, tool, arguments);
      }
    };
  }

  private static Json content(String text) {
    return Json.of("{'type':'output_text','annotations':[],'text':%s}", text);
  }

  private static Json usage(Usage usage) {
    int reasoning = Objects.requireNonNullElse(usage.reasoningTokens(), 0);
    int prompt = usage.promptTokens();
    int completion = usage.completionTokens();
    return Json.of(
        """
        {'input_tokens':%s,'input_tokens_details':{'cached_tokens':%s},'output_tokens':%s,
        'output_tokens_details':{'reasoning_tokens':%s},'total_tokens':%s}\
        """,
        prompt, usage.cachedTokens(), completion, reasoning, prompt + completion);
  }
}
