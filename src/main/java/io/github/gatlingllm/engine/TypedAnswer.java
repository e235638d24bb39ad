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
  final void text(int choice, TokenType type, String text, Usage usage) {
    // The name of a tool and its arguments share one item.
    if (open == null || (type != open && type != TokenType.ARGUMENTS)) {
      closeItem();
      item++;
      open = type;
      opened(type, text);
    }
    sent.append(type, text);
    if (type != TokenType.TOOL_NAME) {
      delta(type, text);
    }
  }

  @Override
  final void finish(int choice, String reason, Usage usage) {
    sent.finishReason = reason;
    closeItem();
  }

  private void closeItem() {
    if (open != null) {
      closed(open);
      open = null;
    }
  }

  abstract void opened(TokenType type, String text);

  abstract void delta(TokenType type, String text);

  abstract void closed(TokenType type);

  /** Writes an event of this type; the other fields as in {@link Json#of}, behind a comma. */
  final void event(String type, String fields, @Nullable Object... values) {
    String more = Json.of(fields, values).text();
    write("event: %s\ndata: {\"type\":\"%s\"%s}\n\n".formatted(type, type, more));
  }

  static List<TokenType> items(SentChoice answer) {
    return Stream.of(TokenType.REASONING, TokenType.TEXT, TokenType.TOOL_NAME)
        .filter(type -> answer.text(type) != null)
        .toList();
  }
}
