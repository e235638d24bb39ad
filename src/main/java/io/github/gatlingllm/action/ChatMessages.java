package io.github.gatlingllm.action;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.gatling.core.session.Session;
import io.github.gatlingllm.action.LlmRequest.MessagePart;
import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.workload.Conversation;
import io.github.gatlingllm.workload.Conversation.Dialog;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/** Collects the messages of a chat request, and which of them are new to its conversation. */
final class ChatMessages {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Session session;
  private final GenerationRequest.Builder body;

  /** Whether a part may be the result of a tool, which answers a call in the history. */
  private final boolean answersCalls;

  final List<Message> newMessages = new ArrayList<>();

  @Nullable String historyKey;
  @Nullable Conversation conversation;

  @Nullable String tools;

  ChatMessages(Session session, GenerationRequest.Builder body, List<MessagePart> parts) {
    this.session = session;
    this.body = body;
    answersCalls = parts.stream().anyMatch(part -> part.answersCalls);
    parts.forEach(part -> part.adding.accept(this));
  }

  void addText(String role, Dynamic<String> text) {
    append(Message.of(role, text.resolve(session)));
  }

  void addToolResult(Dynamic<String> callId, Dynamic<String> text) {
    append(Message.tool(callId.resolve(session), text.resolve(session)));
  }

  void addToolResults(Dynamic<Map<String, String>> byCallId) {
    byCallId.resolve(session).forEach((id, text) -> append(Message.tool(id, text)));
  }

  private void append(Message message) {
    body.message(message);
    newMessages.add(message);
  }

  void addIllustrated(Dynamic<String> text, List<Dynamic<String>> imageUrls) {
    ArrayNode parts = JSON.createArrayNode();
    String resolved = text.resolve(session);
    if (!resolved.isEmpty()) {
      parts.addObject().put("type", "text").put("text", resolved);
    }
    for (Dynamic<String> url : imageUrls) {
      parts
          .addObject()
          .put("type", "image_url")
          .putObject("image_url")
          .put("url", url.resolve(session));
    }
    append(Message.parts("user", parts.toString()));
  }

  void addAll(Dynamic<Object> all) {
    Object messages = all.resolve(session);
    if (messages instanceof Dialog dialog) {
      tools = dialog.tools();
      body.messages(dialog.promptMessages());
    } else {
      body.messagesJson(messages instanceof String text ? text : json(messages));
    }
  }

  Conversation addHistory(String key) {
    Conversation before = stored(key);
    List<Message> next = before.nextQuestion();
    boolean hasResults =
        next == null ? answersCalls : next.stream().anyMatch(each -> each.toolCallId() != null);
    Conversation history = hasResults ? before : before.withoutOpenCalls();
    historyKey = key;
    conversation = history;
    body.messages(history.messages());
    return history;
  }

  void addNextTurn(String key) {
    Conversation stored = addHistory(key);
    if (!stored.isScripted()) {
      throw new IllegalArgumentException(
          ("conversation '%s' follows no dialog; start it so: "
                  + "conversation(\"%s\").dialog(\"#{dialog}\")")
              .formatted(key, key));
    }
    List<Message> next = stored.nextQuestion();
    if (next == null) {
      throw new IllegalArgumentException(
          "the dialog of '%s' has no more turns; check this first: asLongAs(goesOn(\"%s\"))"
              .formatted(key, key));
    }
    tools = stored.tools();
    next.forEach(this::append);
  }

  /** The session after a request with these parts failed: a replayed dialog ends with it. */
  static Session afterFailure(List<MessagePart> parts, Session session) {
    Session after = session;
    for (MessagePart part : parts) {
      if (part.isNextTurn
          && session.attributes().getOrElse(part.conversation, () -> null)
              instanceof Conversation stored) {
        after = after.set(part.conversation, stored.failed());
      }
    }
    return after;
  }

  private Conversation stored(String key) {
    Object attribute = session.attributes().getOrElse(key, () -> null);
    if (attribute == null) {
      return Conversation.of();
    }
    if (attribute instanceof Conversation stored) {
      return stored;
    }
    throw new IllegalArgumentException(
        "session attribute '%s' is not a conversation; start one: conversation(\"%s\")"
            .formatted(key, key));
  }

  private static String json(Object messages) {
    try {
      return JSON.writeValueAsString(plain(messages));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "messages: expected a list of maps with role and content, got "
              + messages.getClass().getSimpleName(),
          e);
    }
  }

  /** Converts Scala collections, which feeders put into the session, to Java ones. */
  private static Object plain(Object value) {
    if (value instanceof scala.collection.Map<?, ?> map) {
      return plain(CollectionConverters.asJava(map));
    }
    if (value instanceof scala.collection.Iterable<?> many) {
      return plain(CollectionConverters.asJava(many.toSeq()));
    }
    if (value instanceof Map<?, ?> map) {
      Map<Object, Object> copy = new LinkedHashMap<>();
      map.forEach((key, element) -> copy.put(key, plain(element)));
      return copy;
    }
    if (value instanceof List<?> list) {
      return list.stream().map(ChatMessages::plain).toList();
    }
    return value;
  }
}
