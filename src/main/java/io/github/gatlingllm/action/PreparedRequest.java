package io.github.gatlingllm.action;

import io.gatling.core.session.Session;
import io.github.gatlingllm.client.TokenCounts;
import io.github.gatlingllm.wire.GenerationRequest;
import io.github.gatlingllm.wire.Message;
import io.github.gatlingllm.workload.Conversation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * One request with every EL and function resolved for one user.
 *
 * @param name the request name
 * @param url what is posted to
 * @param apiKey null for none
 * @param secrets what no message may show: the key, and headers that carry one
 * @param body what is asked
 * @param historyKey session key of the conversation it belongs to; null for none
 * @param conversation that conversation as it was; null for none
 * @param asked messages that join the conversation when the request succeeds
 */
record PreparedRequest(
    String name,
    String url,
    @Nullable String apiKey,
    List<String> secrets,
    GenerationRequest body,
    @Nullable String historyKey,
    @Nullable Conversation conversation,
    List<Message> asked) {

  private static final Pattern SECRET_HEADER =
      Pattern.compile("auth|key|token|secret|cookie", Pattern.CASE_INSENSITIVE);

  /**
   * Resolves the request for that session.
   *
   * @param pinned whether a limit on the output is also its least length
   * @param prefixes what its first message begins with
   * @throws Dynamic.Unresolved when an EL or a function fails
   * @throws IllegalArgumentException when what is asked makes no sense
   */
  static PreparedRequest of(
      LlmRequest request,
      LlmProtocol protocol,
      boolean pinned,
      RequestPrefixes prefixes,
      Session session) {
    LlmRequest.Draft parts = request.parts();
    Chat chat = new Chat(session);
    GenerationRequest.Builder body = GenerationRequest.of(parts.api);
    parts.messages.forEach(part -> chat.add(part, body));
    Integer maxTokens = resolve(parts.maxTokens, session);
    Boolean stream = resolve(parts.stream, session);
    String model = resolve(parts.model == null ? protocol.model() : parts.model, session);
    body
        .model(model)
        .prompt(resolve(parts.prompt, session))
        // Not part of the conversation: a prefix is sent, and not remembered.
        .prefix(prefixes.next(chat.conversation == null ? null : (Long) session.userId()))
        .stream(stream == null ? protocol.streaming() : stream)
        .includeUsage(protocol.includeUsage())
        .maxTokens(maxTokens)
        .ignoreEos(pinned && maxTokens != null)
        .temperature(resolve(parts.temperature, session))
        .topP(resolve(parts.topP, session))
        .stop(parts.stop.stream().map(text -> text.resolve(session)).toList())
        .seed(resolve(parts.seed, session))
        .tools(resolve(parts.tools, session))
        .responseFormat(resolve(parts.responseFormat, session))
        .extra(protocol.extraBody())
        .extra(resolve(parts.extraBody, session));
    String apiKey = resolve(protocol.apiKey(), session);
    return new PreparedRequest(
        parts.name.resolve(session),
        protocol.url(session.userId(), parts.api),
        apiKey,
        secrets(apiKey, List.of(protocol.headers(), parts.headers), session),
        body.build(),
        chat.historyKey,
        chat.conversation,
        chat.asked);
  }

  private static List<String> secrets(
      @Nullable String apiKey, List<Map<String, Dynamic<String>>> headers, Session session) {
    List<String> secrets = new ArrayList<>();
    if (apiKey != null) {
      secrets.add(apiKey);
    }
    for (Map<String, Dynamic<String>> some : headers) {
      some.forEach(
          (name, value) -> {
            if (SECRET_HEADER.matcher(name).find()) {
              secrets.add(value.resolve(session));
            }
          });
    }
    return secrets;
  }

  /** What a tokenizer would count, and the limit on the answer. */
  TokenCounts.Asked toCount() {
    return new TokenCounts.Asked(body.promptText(), body.maxTokens());
  }

  /** Position in its conversation, from 1; null outside conversations. */
  @Nullable Integer turn() {
    return conversation == null ? null : (Integer) (conversation.turns() + 1);
  }

  private static <T> @Nullable T resolve(@Nullable Dynamic<T> value, Session session) {
    return value == null ? null : value.resolve(session);
  }

  /** Collects the messages in order, and notes which of them are new to the conversation. */
  private static final class Chat {
    private final Session session;
    private @Nullable String historyKey;
    private @Nullable Conversation conversation;
    private final List<Message> asked = new ArrayList<>();

    Chat(Session session) {
      this.session = session;
    }

    void add(MessagePart part, GenerationRequest.Builder body) {
      if (part instanceof MessagePart.Text text) {
        say(Message.of(text.role(), text.text().resolve(session)), body);
      } else if (part instanceof MessagePart.ToolResult tool) {
        say(Message.tool(tool.callId().resolve(session), tool.text().resolve(session)), body);
      } else if (part instanceof MessagePart.Whole whole) {
        body.messagesJson(json(whole.messages().resolve(session)));
      } else if (part instanceof MessagePart.History history) {
        historyKey = history.sessionKey();
        conversation = kept(historyKey);
        body.messages(conversation.messages());
      }
    }

    private void say(Message message, GenerationRequest.Builder body) {
      body.message(message);
      asked.add(message);
    }

    private Conversation kept(String key) {
      Object attribute = session.attributes().getOrElse(key, () -> null);
      if (attribute == null) {
        return Conversation.of();
      }
      if (attribute instanceof Conversation kept) {
        return kept;
      }
      throw new IllegalArgumentException(
          "session attribute '"
              + key
              + "' is no conversation; start one: conversation(\""
              + key
              + "\")");
    }

    private static String json(Object messages) {
      if (messages instanceof String text) {
        return text;
      }
      try {
        return SessionJson.WRITER.writeValueAsString(plain(messages));
      } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
        throw new IllegalArgumentException(
            "messages: expected a list of maps with role and content, got "
                + messages.getClass().getSimpleName(),
            e);
      }
    }

    /** Feeders put Scala collections into the session. */
    private static Object plain(Object value) {
      if (value instanceof scala.collection.Map<?, ?> map) {
        return plain(CollectionConverters.asJava(map));
      }
      if (value instanceof scala.collection.Iterable<?> many) {
        return plain(CollectionConverters.asJava(many.toSeq()));
      }
      if (value instanceof Map<?, ?> map) {
        Map<Object, Object> copy = new java.util.LinkedHashMap<>();
        map.forEach((key, element) -> copy.put(key, plain(element)));
        return copy;
      }
      if (value instanceof List<?> list) {
        return list.stream().map(Chat::plain).toList();
      }
      return value;
    }
  }

  /** Holds the JSON writer. */
  private static final class SessionJson {
    private static final com.fasterxml.jackson.databind.ObjectWriter WRITER =
        new com.fasterxml.jackson.databind.ObjectMapper().writer();
  }
}
