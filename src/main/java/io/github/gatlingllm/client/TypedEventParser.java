package io.github.gatlingllm.client;

import io.github.gatlingllm.client.ChunkListener.Channel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads a typed event or a body of OpenAI's {@code responses} and Anthropic's {@code messages}: the
 * meaning of fields depends on {@code type}, so they are passed on at the end of the document.
 */
final class TypedEventParser extends ChunkParser {

  private String type = "";
  private String object = "";
  private Text text = NOTHING;
  private int position;
  private String reason = "";
  private String status = "";
  private String incomplete = "";

  /** Texts of an item or content block, or of all items of a body. */
  private final List<Text> pieces = new ArrayList<>();

  private boolean hasUsage;
  private int inputTokens;
  private int outputTokens;
  private int cachedTokens;
  private int reasoningTokens;

  /** Anthropic: prompt tokens in addition to {@code input_tokens}; sent once per response. */
  private int cacheRead = -1;

  private int cacheCreated = -1;

  TypedEventParser(ChunkListener listener) {
    super(listener, false);
  }

  @Override
  void document() throws IOException {
    index = 0;
    type = "";
    object = "";
    text = NOTHING;
    position = 0;
    reason = "";
    status = "";
    incomplete = "";
    pieces.clear();
    hasUsage = false;
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "type" -> type = word();
        case "object" -> object = word();
        case "delta" -> delta();
        case "index", "output_index" -> position = (int) Math.max(0, number());
        case "item", "content_block" -> item(-1);
        case "output", "content" -> items();
        case "response" -> response();
        case "message" -> message();
        case "error", "detail" -> noteError();
        default -> answer(field);
      }
    }
    passOn();
  }

  private void passOn() {
    switch (type) {
      case "response.output_text.delta" -> pass(Channel.CONTENT);
      case "response.refusal.delta" -> pass(Channel.REFUSAL);
      case "response.reasoning_text.delta", "response.reasoning_summary_text.delta" ->
          pass(Channel.REASONING);
      case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta" ->
          pass(Channel.TOOL_ARGUMENTS);
      case "content_block_delta" -> pass(text.channel());
      case "response.output_item.added", "content_block_start" -> {
        Call call = new Call(position, null);
        pieces.replaceAll(
            piece ->
                piece.with(
                    piece.channel(),
                    piece.call() == null ? call : new Call(position, piece.call().id())));
        pass(pieces);
      }
      case "response.completed", "response.incomplete" -> {
        passUsage();
        passFinish();
        listener().done();
      }
      case "response.failed", "response.cancelled" -> {
        passUsage();
        if (!errorField) {
          listener().error(type + " without a message");
        }
      }
      case "message_start", "message_delta" -> {
        passUsage();
        passFinish();
      }
      case "message_stop" -> listener().done();
      default -> {
        if (type.equals("message") || object.equals("response")) {
          pass(pieces);
          passUsage();
          passFinish();
        }
      }
    }
  }

  private void pass(Channel channel) {
    pieces.clear();
    if (!text.isEmpty()) {
      Call call = channel.isToolCall() ? new Call(position, null) : null;
      pieces.add(text.with(channel, call));
    }
    pass(pieces);
  }

  private void passUsage() {
    if (hasUsage) {
      int cached = Math.max(cachedTokens, cacheRead);
      long additional = Math.max(0, cacheRead) + (long) Math.max(0, cacheCreated);
      int prompt =
          inputTokens < 0 ? -1 : (int) Math.min(Integer.MAX_VALUE, inputTokens + additional);
      // At the beginning of a message the output is not counted yet.
      int output = type.equals("message_start") ? -1 : outputTokens;
      listener().usage(prompt, output, cached, reasoningTokens);
    }
  }

  private void passFinish() {
    String word = !reason.isEmpty() ? reason : !incomplete.isEmpty() ? incomplete : status;
    if (!word.isEmpty()) {
      listener().finish(0, word.intern());
    }
  }

  private void delta() throws IOException {
    take(Channel.CONTENT);
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "text" -> take(Channel.CONTENT);
        case "thinking" -> take(Channel.REASONING);
        case "partial_json" -> take(Channel.TOOL_ARGUMENTS);
        case "stop_reason" -> reason = word();
        default -> {}
      }
    }
  }

  private void take(Channel channel) {
    if (isString()) {
      text = string(channel);
    }
  }

  private void items() throws IOException {
    int position = 0;
    for (boolean more = firstElement(); more; more = nextElement()) {
      item(position++);
    }
  }

  private void item(int itemIndex) throws IOException {
    int first = pieces.size();
    String kind = "";
    Text id = null;
    Text callId = null;
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "type" -> kind = word();
        case "id" -> id = isString() ? string(Channel.TOOL_NAME) : id;
        case "call_id" -> callId = isString() ? string(Channel.TOOL_NAME) : callId;
        case "name" -> add(Channel.TOOL_NAME, pieces);
        case "arguments" -> add(Channel.TOOL_ARGUMENTS, pieces);
        case "input" -> input();
        case "content", "summary" -> parts();
        case "text" -> add(Channel.CONTENT, pieces);
        case "thinking" -> add(Channel.REASONING, pieces);
        default -> {}
      }
    }
    boolean isToolCall = kind.endsWith("call") || kind.endsWith("tool_use");
    boolean isReasoning = kind.equals("reasoning");
    Call call = isToolCall ? new Call(Math.max(0, itemIndex), callId == null ? id : callId) : null;
    List<Text> ofItem = pieces.subList(first, pieces.size());
    ofItem.removeIf(piece -> piece.channel().isToolCall() != isToolCall);
    ofItem.replaceAll(piece -> piece.with(isReasoning ? Channel.REASONING : piece.channel(), call));
  }

  private void parts() throws IOException {
    for (boolean more = firstElement(); more; more = nextElement()) {
      for (String field = firstField(); field != null; field = nextField()) {
        switch (field) {
          case "text" -> add(Channel.CONTENT, pieces);
          case "refusal" -> add(Channel.REFUSAL, pieces);
          default -> {}
        }
      }
    }
  }

  /** Arguments of a tool call as a JSON object, where other APIs send a text. */
  private void input() throws IOException {
    add(Channel.TOOL_ARGUMENTS, pieces);
    if (!json.isExpectedStartObjectToken()) {
      return;
    }
    int start = offset(json.currentTokenLocation());
    json.skipChildren();
    byte[] escaped = escaped(start, offset(json.currentLocation()));
    if (escaped.length > "{}".length()) {
      pieces.add(new Text(Channel.TOOL_ARGUMENTS, escaped, 0, escaped.length, null));
    }
  }

  private byte[] escaped(int from, int to) {
    byte[] content = new byte[2 * (to - from)];
    int length = 0;
    for (int i = from; i < to; i++) {
      if (buffer[i] == '\\') {
        content[length++] = '\\';
      }
      content[length++] = buffer[i];
    }
    return Arrays.copyOf(content, length);
  }

  /** The response object in an event; its texts were sent in earlier events. */
  private void response() throws IOException {
    for (String field = firstField(); field != null; field = nextField()) {
      if (field.equals("error")) {
        noteError();
      } else {
        answer(field);
      }
    }
  }

  /** The message object of {@code message_start}, or the text of an error. */
  private void message() throws IOException {
    errorField |= isString();
    response();
  }

  private void answer(String field) throws IOException {
    switch (field) {
      case "usage" -> usage();
      case "status" -> status = word();
      case "stop_reason" -> reason = word();
      case "incomplete_details" -> {
        for (String inner = firstField(); inner != null; inner = nextField()) {
          incomplete = inner.equals("reason") ? word() : incomplete;
        }
      }
      default -> {}
    }
  }

  private void usage() throws IOException {
    if (!json.isExpectedStartObjectToken()) {
      return;
    }
    hasUsage = true;
    inputTokens = -1;
    outputTokens = -1;
    cachedTokens = -1;
    reasoningTokens = -1;
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "input_tokens" -> inputTokens = count();
        case "output_tokens" -> outputTokens = count();
        case "cache_read_input_tokens" -> cacheRead = Math.max(cacheRead, count());
        case "cache_creation_input_tokens" -> cacheCreated = Math.max(cacheCreated, count());
        case "input_tokens_details", "output_tokens_details" -> {
          for (String inner = firstField(); inner != null; inner = nextField()) {
            switch (inner) {
              case "cached_tokens" -> cachedTokens = count();
              case "reasoning_tokens" -> reasoningTokens = count();
              default -> {}
            }
          }
        }
        default -> {}
      }
    }
  }

  private String word() {
    return isString() ? string(Channel.CONTENT).text() : "";
  }
}
