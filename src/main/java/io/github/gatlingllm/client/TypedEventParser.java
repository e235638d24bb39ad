package io.github.gatlingllm.client;

import io.github.gatlingllm.client.ChunkListener.Channel;
import io.github.gatlingllm.figures.metric.Sentence;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a typed event or a body of OpenAI's {@code responses} and Anthropic's {@code messages}: the
 * meaning of fields depends on {@code type}, so they are passed on at the end of the document.
 */
final class TypedEventParser extends ChunkParser {

  /** Further items count as one. */
  private static final int MAX_ITEMS = 1_024;

  private String type = "";
  private String object = "";
  private TextBytes text = NOTHING;
  private int position;
  private String reason = "";
  private String status = "";
  private String incomplete = "";

  /** Texts of an item or content block, or of all items of a body. */
  private final List<TextBytes> pieces = new ArrayList<>();

  private final TokenCounts usage = new TokenCounts();
  private boolean hasUsage;

  private String unknownField = "";

  /** Items whose texts of a channel have been passed: final objects with them repeat them. */
  private final Map<Channel, BitSet> passed = new EnumMap<>(Channel.class);

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
    unknownField = "";
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
        case "text", "transcript", "refusal", "arguments", "input", "code" -> {
          if (text.isEmpty()) {
            take(Channel.CONTENT);
          }
        }
        default -> answer(field);
      }
    }
    passOn();
  }

  private void passOn() {
    switch (type) {
      case "content_block_delta" -> {
        if (!unknownField.isEmpty()) {
          listener().unknownField(unknownField);
        }
        pass(text.channel());
      }
      case "response.output_item.added", "response.output_item.done", "content_block_start" -> {
        passItem(position, pieces);
        pass(pieces);
      }
      case "response.completed", "response.incomplete" -> {
        pass(pieces);
        passUsage();
        passFinish();
        listener().done();
      }
      case "response.failed", "response.cancelled" -> {
        passUsage();
        if (!errorField) {
          listener().error(Sentence.text("server_error", null, type));
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
        } else {
          passTextOf(type);
        }
      }
    }
  }

  /** An event of a piece of text, or of the complete text of a part that had no pieces. */
  private void passTextOf(String event) {
    boolean isDelta = event.endsWith(".delta");
    if (text.isEmpty() || !(isDelta || event.endsWith(".done"))) {
      return;
    }
    String kind = event.substring(0, event.lastIndexOf('.'));
    @Nullable Channel channel = TextFields.OF_EVENT.get(kind);
    if (channel == null && isDelta && TextFields.mayHaveText(kind)) {
      listener().unknownField(event);
      channel = Channel.CONTENT;
    }
    if (channel != null && (isDelta || !isPassed(position, channel))) {
      pass(channel);
    }
  }

  private boolean isPassed(int item, Channel channel) {
    @Nullable BitSet items = passed.get(channel);
    return items != null && items.get(Math.min(item, MAX_ITEMS));
  }

  private void note(int item, Channel channel) {
    passed.computeIfAbsent(channel, none -> new BitSet()).set(Math.min(item, MAX_ITEMS));
  }

  /** Texts of an item; those that were passed before are not passed again. */
  private void passItem(int item, List<TextBytes> ofItem) {
    ofItem.removeIf(piece -> isPassed(item, piece.channel()));
    ofItem.replaceAll(
        piece -> piece.call() < 0 ? piece : piece.with(piece.channel(), item, piece.callId()));
    ofItem.forEach(piece -> note(item, piece.channel()));
  }

  private void pass(Channel channel) {
    pieces.clear();
    if (!text.isEmpty()) {
      pieces.add(text.with(channel, channel.isToolCall() ? position : -1, null));
      note(position, channel);
    }
    pass(pieces);
  }

  private void passUsage() {
    if (hasUsage) {
      usage.withCacheBesidePrompt();
      listener().usage(type.equals("message_start") ? usage.withoutOutput() : usage);
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
        case "stop_reason" -> reason = word();
        default -> {
          @Nullable Channel channel = TextFields.OF_MESSAGE.get(field);
          @Nullable Channel ofCall = field.equals("partial_json") ? Channel.TOOL_ARGUMENTS : null;
          if (channel != null || ofCall != null) {
            take(channel == null ? ofCall : channel);
          } else if (isString() && text.isEmpty() && TextFields.mayHaveText(field)) {
            unknownField = field;
            take(Channel.CONTENT);
          }
        }
      }
    }
  }

  private void take(Channel channel) {
    if (isString()) {
      text = string(channel);
    }
  }

  private void items() throws IOException {
    int item = 0;
    for (boolean more = firstElement(); more; more = nextElement()) {
      int first = pieces.size();
      item(item);
      passItem(item++, pieces.subList(first, pieces.size()));
    }
  }

  private void item(int itemIndex) throws IOException {
    int first = pieces.size();
    String kind = "";
    TextBytes id = null;
    TextBytes callId = null;
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "type" -> kind = word();
        case "id" -> id = isString() ? string(Channel.TOOL_NAME) : id;
        case "call_id" -> callId = isString() ? string(Channel.TOOL_NAME) : callId;
        default -> {
          @Nullable Channel channel = TextFields.OF_MESSAGE.get(field);
          if (channel != null) {
            TextFields.add(this, TextFields.OF_MESSAGE, channel, pieces);
          } else {
            TextFields.addCall(this, field, pieces);
          }
        }
      }
    }
    boolean isToolCall = kind.endsWith("call") || kind.endsWith("tool_use");
    boolean isReasoning = kind.equals("reasoning");
    int call = isToolCall ? Math.max(0, itemIndex) : -1;
    TextBytes idOfCall = !isToolCall ? null : callId == null ? id : callId;
    List<TextBytes> ofItem = pieces.subList(first, pieces.size());
    ofItem.removeIf(piece -> piece.channel().isToolCall() != isToolCall);
    ofItem.replaceAll(
        piece -> piece.with(isReasoning ? Channel.REASONING : piece.channel(), call, idOfCall));
  }

  /** The response object in an event; its texts were mostly sent in earlier events. */
  private void response() throws IOException {
    for (String field = firstField(); field != null; field = nextField()) {
      switch (field) {
        case "error" -> noteError();
        case "output" -> {
          // Its items may have other positions than in the stream, so kinds of text are compared.
          List<Channel> streamed = List.copyOf(passed.keySet());
          items();
          pieces.removeIf(piece -> streamed.contains(piece.channel()));
        }
        default -> answer(field);
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
      case "id" -> answerId();
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
    usage.clear();
    for (String field = firstField(); field != null; field = nextField()) {
      var unused = usage.take(this, field);
    }
  }

  private String word() {
    return isString() ? string(Channel.CONTENT).text() : "";
  }
}
