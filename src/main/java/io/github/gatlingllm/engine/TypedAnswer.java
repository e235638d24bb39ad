package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.AnswerFormat.SentChoice;
import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.github.gatlingllm.engine.ResponseWriter.Usage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes one answer as JSON for an API with typed events, as events or as a whole body. Each run of
 * tokens of one {@link TokenType} is an item (a content block in {@code messages}): a token of
 * another type ends the open item and begins the next one.
 */
abstract class TypedAnswer {
  final String id;
  final String model;

  /** The text sent so far. */
  final SentChoice sent = new SentChoice();

  /** Index of the open item; −1 before the first. */
  int item = -1;

  private @Nullable TokenType open;

  TypedAnswer(String id, String model) {
    this.id = id;
    this.model = model;
  }

  /** Events before the first token. */
  abstract String begin(Usage usage);

  /** Events that carry more text. */
  final String text(TokenType type, CharSequence text) {
    StringBuilder events = new StringBuilder();
    // The name of a tool and its arguments share one item.
    if (open == null || (type != open && type != TokenType.ARGUMENTS)) {
      events.append(closed());
      item++;
      open = type;
      events.append(opened(type, text));
    }
    sent.append(type, text);
    return type == TokenType.TOOL_NAME
        ? events.toString()
        : events.append(delta(type, text)).toString();
  }

  /** Events that end the last item. */
  final String finish(String reason) {
    sent.finish(reason);
    return closed();
  }

  private String closed() {
    TokenType type = open;
    open = null;
    return type == null ? "" : closed(type);
  }

  /** Events that begin an item. */
  abstract String opened(TokenType type, CharSequence text);

  /** Event that carries text of the open item. */
  abstract String delta(TokenType type, CharSequence text);

  /** Event that ends the open item. */
  abstract String closed(TokenType type);

  /** Events after the last item; the terminal event is the last one. */
  abstract String end(Usage usage);

  /** Event that reports an error. */
  abstract String error(Refusal refusal);

  /** The answer as one JSON object. */
  abstract String whole(SentChoice answer, Usage usage);

  static String event(String type, String fields) {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + fields + "}\n\n";
  }

  /** Types of the items of an answer, in order: reasoning, text, tool call. */
  static List<TokenType> parts(SentChoice answer) {
    List<TokenType> parts = new ArrayList<>();
    for (TokenType type : List.of(TokenType.REASONING, TokenType.TEXT, TokenType.TOOL_NAME)) {
      if (answer.text(type) != null) {
        parts.add(type);
      }
    }
    return parts;
  }
}
