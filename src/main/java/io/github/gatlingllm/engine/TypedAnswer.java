package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.netty.channel.ChannelHandlerContext;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes one answer as JSON for an API with typed events and without {@code [DONE]}. Each run of
 * tokens of one {@link TokenType} is an item (a content block in {@code messages}): a token of
 * another type ends the open item and begins the next one.
 */
abstract class TypedAnswer extends ResponseWriter.Events {
  final String id;
  final String model;

  final SentChoice sent = new SentChoice();

  int item = -1; // the open one, or the last

  private @Nullable TokenType open;

  TypedAnswer(ChannelHandlerContext context, String requestId, String prefix, String model) {
    super(context, requestId);
    this.id = prefix + requestId;
    this.model = model;
  }

  @Override
  final void begin(int choice, Usage usage) {
    write(begun(usage));
  }

  @Override
  final void text(int choice, TokenType type, CharSequence text, Usage usage) {
    StringBuilder events = new StringBuilder();
    // The name of a tool and its arguments share one item.
    if (open == null || (type != open && type != TokenType.ARGUMENTS)) {
      events.append(closed());
      item++;
      open = type;
      events.append(opened(type, text));
    }
    sent.append(type, text);
    if (type != TokenType.TOOL_NAME) {
      events.append(delta(type, text));
    }
    write(events.toString());
  }

  @Override
  final void finish(int choice, String reason, Usage usage) {
    sent.finishReason = reason;
    write(closed());
  }

  private String closed() {
    TokenType type = open;
    open = null;
    return type == null ? "" : closed(type);
  }

  @Override
  final void end(Usage usage) {
    write(ended(usage));
    close();
  }

  @Override
  final void fail(Refusal refusal) {
    write(error(refusal));
    close();
  }

  abstract String begun(Usage usage);

  abstract String opened(TokenType type, CharSequence text);

  abstract String delta(TokenType type, CharSequence text);

  abstract String closed(TokenType type);

  abstract String ended(Usage usage);

  abstract String error(Refusal refusal);

  static String event(String type, String fields) {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + fields + "}\n\n";
  }

  static List<TokenType> items(SentChoice answer) {
    return Stream.of(TokenType.REASONING, TokenType.TEXT, TokenType.TOOL_NAME)
        .filter(type -> answer.text(type) != null)
        .toList();
  }
}
