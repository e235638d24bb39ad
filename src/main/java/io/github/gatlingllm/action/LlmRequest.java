package io.github.gatlingllm.action;

import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.check.Check;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.Abandonment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An LLM request of a simulation; a parameter is null where not set. {@link #with} copies it. */
public final class LlmRequest extends Draft<LlmRequest> {

  /** The session attributes that have conversations of this process. */
  private static final Set<String> CONVERSATIONS = ConcurrentHashMap.newKeySet();

  final Dynamic<String> name;
  final Api api;
  public List<MessagePart> messages = List.of();

  /** The prompt, or the query that documents are compared with. */
  public @Nullable Dynamic<String> prompt;

  /** The texts to embed, or the documents. */
  public List<Dynamic<String>> inputs = List.of();

  /** In place of {@link #inputs}. */
  public @Nullable Dynamic<List<String>> inputList;

  public @Nullable Dynamic<String> model;
  public @Nullable Dynamic<Integer> maxTokens;

  /** Further fields of the body by name: numbers, texts and booleans. */
  public Map<String, Dynamic<?>> parameters = Map.of();

  public List<Dynamic<String>> stop = List.of();
  public @Nullable Dynamic<Boolean> stream;
  public @Nullable Dynamic<String> tools;
  public @Nullable Dynamic<String> toolChoice;
  public @Nullable Dynamic<String> responseFormat;
  public @Nullable Dynamic<String> extraBody;
  public Map<String, Dynamic<String>> headers = Map.of();
  public @Nullable Dynamic<String> apiKey;
  public @Nullable Duration requestTimeout;
  public @Nullable Abandonment abandonment;
  public @Nullable Slo slo;
  List<Check<MeasuredAnswer>> checks = List.of();
  public boolean isSilent;

  public LlmRequest(Dynamic<String> name, Api api) {
    this.name = name;
    this.api = api;
  }

  public LlmRequest and(MessagePart message) {
    return with(draft -> draft.messages = Draft.and(draft.messages, message));
  }

  /** A copy with that conversation after the leading system messages and before all others. */
  public LlmRequest withHistory(String sessionKey) {
    List<MessagePart> more = new ArrayList<>(messages);
    int at = 0;
    while (at < more.size() && more.get(at).isSystem) {
      at++;
    }
    more.add(at, MessagePart.history(sessionKey));
    return with(draft -> draft.messages = List.copyOf(more));
  }

  /** A copy with more checks, which are made only on that condition; null for none. */
  public LlmRequest checking(
      List<CheckBuilder> more, @Nullable BiFunction<MeasuredAnswer, Session, Boolean> condition) {
    List<Check<MeasuredAnswer>> all = new ArrayList<>(checks);
    try {
      more.forEach(check -> all.add(MeasuredAnswer.check(check, condition)));
    } catch (IllegalArgumentException e) {
      throw mistake(String.valueOf(e.getMessage()));
    }
    return with(draft -> draft.checks = List.copyOf(all));
  }

  public ActionBuilder toActionBuilder() {
    validate();
    return (context, next) -> LlmAction.build(this, context, next);
  }

  /** Sends that request for each turn of the recorded session that the user was fed. */
  public static ActionBuilder replaying(ActionBuilder request) {
    return SessionReplay.of(request);
  }

  /** A session attribute that the simulation starts a conversation in. */
  public static String conversation(String sessionKey) {
    CONVERSATIONS.add(sessionKey);
    return sessionKey;
  }

  private void validate() {
    String missing = missing();
    if (missing != null) {
      throw mistake("expected " + missing);
    }
    try {
      validateJson();
    } catch (IllegalArgumentException e) {
      throw mistake(String.valueOf(e.getMessage()));
    }
  }

  /** What it still needs, in words; null for nothing. */
  private @Nullable String missing() {
    boolean hasTexts = !inputs.isEmpty() || inputList != null;
    if (api.takesMessages()) {
      return messages.stream().allMatch(MessagePart::isOnlyContext)
          ? "a message; add one: .user(\"#{question}\")"
          : null;
    } else if (api.generates()) {
      return prompt == null ? "a prompt; set it: .prompt(\"#{prompt}\")" : null;
    } else if (api == Api.RERANK && prompt == null) {
      return "a query; set it: .query(\"#{question}\")";
    }
    String method = api == Api.RERANK ? "documents" : "input";
    return hasTexts ? null : "a text; add one: .%s(\"#{passage}\")".formatted(method);
  }

  /** Refuses what only the protocol, or the rest of the simulation, shows to be a mistake. */
  public void validateIn(LlmProtocol protocol) {
    if (api.is(Api.Trait.REQUIRES_LIMIT)
        && maxTokens == null
        && extraBody == null
        && protocol.extraBody() == null) {
      throw mistake(api.key() + "() needs maxTokens; set it: .maxTokens(256)");
    }
    for (MessagePart part : messages) {
      String key = part.conversation;
      if (key != null && !CONVERSATIONS.contains(key)) {
        throw mistake(
            "no conversation is called '%s'; start it: .exec(conversation(\"%s\"))"
                .formatted(key, key));
      }
    }
  }

  /** Whether its answers are streamed, as far as that is known without a user. */
  boolean isStreamed(LlmProtocol protocol) {
    Boolean own = stream == null ? null : stream.constant();
    return api.generates() && (own == null ? protocol.get(Setting.STREAM) : own);
  }

  private InvalidSimulation mistake(String what) {
    String called = name.text() == null ? "…" : '"' + name.text() + '"';
    return InvalidSimulation.because("llm(" + called + "): " + what);
  }

  private void validateJson() {
    GenerationRequest.Builder body =
        GenerationRequest.of(api)
            .tools(constant(tools))
            .toolChoice(constant(toolChoice))
            .responseFormat(constant(responseFormat))
            .extra(constant(extraBody));
    messages.stream()
        .map(part -> part.json)
        .filter(json -> json != null)
        .forEach(body::messagesJson);
  }

  private static @Nullable String constant(@Nullable Dynamic<String> text) {
    return text == null ? null : text.constant();
  }

  /** A part of the messages of a request. */
  public static final class MessagePart {

    /** Adds it to the messages for a user. */
    final Consumer<ChatMessages> adding;

    final boolean isSystem;

    /** Whether it may have results of tools, which answer calls in the history. */
    final boolean answersCalls;

    /** The session attribute of the conversation that it sends; null for none. */
    final @Nullable String conversation;

    /** Whether it sends the next turn of the dialog that its conversation follows. */
    final boolean isNextTurn;

    /** The text of all messages where it is the same for all users, else null. */
    final @Nullable String json;

    private MessagePart(
        Consumer<ChatMessages> adding,
        boolean isSystem,
        boolean answersCalls,
        @Nullable String conversation,
        boolean isNextTurn,
        @Nullable String json) {
      this.adding = adding;
      this.isSystem = isSystem;
      this.answersCalls = answersCalls;
      this.conversation = conversation;
      this.isNextTurn = isNextTurn;
      this.json = json;
    }

    private static MessagePart of(
        boolean isSystem, boolean answersCalls, Consumer<ChatMessages> adding) {
      return new MessagePart(adding, isSystem, answersCalls, null, false, null);
    }

    /** Whether a request with it still has nothing to answer. */
    boolean isOnlyContext() {
      return isSystem || (conversation != null && !isNextTurn);
    }

    public static MessagePart text(String role, Dynamic<String> text) {
      return of(role.equals("system"), false, chat -> chat.addText(role, text));
    }

    /** A message of a user of a text, which may be empty, and of images by URL. */
    public static MessagePart illustrated(Dynamic<String> text, List<Dynamic<String>> imageUrls) {
      return of(false, false, chat -> chat.addIllustrated(text, imageUrls));
    }

    public static MessagePart toolResult(Dynamic<String> callId, Dynamic<String> text) {
      return of(false, true, chat -> chat.addToolResult(callId, text));
    }

    public static MessagePart toolResults(Dynamic<Map<String, String>> byCallId) {
      return of(false, true, chat -> chat.addToolResults(byCallId));
    }

    /** A list of messages: a list of maps, the JSON text of an array, or a recorded dialog. */
    public static MessagePart all(Dynamic<Object> messages) {
      String text = messages.text();
      String json = text == null || text.contains("#{") ? null : text;
      return new MessagePart(chat -> chat.addAll(messages), false, true, null, false, json);
    }

    static MessagePart history(String sessionKey) {
      return new MessagePart(
          chat -> chat.addHistory(sessionKey), false, false, sessionKey, false, null);
    }

    /** The conversation of this session key, and the next turn of the dialog that it replays. */
    public static MessagePart nextTurn(String sessionKey) {
      return new MessagePart(
          chat -> chat.addNextTurn(sessionKey), false, false, sessionKey, true, null);
    }
  }
}
