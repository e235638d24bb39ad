package io.github.gatlingllm.action;

import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.LlmChecks.MeasuredAnswer;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.record.Slo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** An LLM request of a simulation; a parameter is null where not set. {@link #with} copies it. */
public final class LlmRequest extends Draft<LlmRequest> {

  final Dynamic<String> name;
  final Api api;
  public List<MessagePart> messages = List.of();
  public @Nullable Dynamic<String> prompt;
  public List<Dynamic<String>> inputs = List.of();

  /** The texts to embed, instead of {@link #inputs}. */
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
  public @Nullable Slo slo;
  public List<ConditionalCheck> checks = List.of();
  public boolean silent;

  public LlmRequest(Dynamic<String> name, Api api) {
    this.name = name;
    this.api = api;
  }

  public LlmRequest and(MessagePart message) {
    return with(draft -> draft.messages = Draft.and(draft.messages, message));
  }

  /**
   * A copy with the conversation of that session key, after the leading system messages and before
   * all others.
   */
  public LlmRequest withHistory(String sessionKey) {
    List<MessagePart> more = new ArrayList<>(messages);
    int at = 0;
    while (at < more.size()
        && more.get(at) instanceof MessagePart.Text text
        && text.role().equals("system")) {
      at++;
    }
    more.add(at, new MessagePart.History(sessionKey));
    return with(draft -> draft.messages = List.copyOf(more));
  }

  public ActionBuilder toActionBuilder() {
    validate();
    return (context, next) -> LlmAction.build(this, context, next);
  }

  private void validate() {
    try {
      validateJson();
      checks.forEach(conditional -> LlmChecks.build(conditional.check()));
    } catch (IllegalArgumentException e) {
      String called = name.text() == null ? "…" : '"' + name.text() + '"';
      throw InvalidSimulation.because("llm(" + called + "): " + e.getMessage());
    }
  }

  private void validateJson() {
    GenerationRequest.Builder body =
        GenerationRequest.of(api)
            .tools(constant(tools))
            .toolChoice(constant(toolChoice))
            .responseFormat(constant(responseFormat))
            .extra(constant(extraBody));
    for (MessagePart part : messages) {
      String text = part instanceof MessagePart.Whole whole ? whole.messages().text() : null;
      if (text != null && !text.contains("#{")) {
        body.messagesJson(text);
      }
    }
  }

  private static @Nullable String constant(@Nullable Dynamic<String> text) {
    return text == null ? null : text.constant();
  }

  public sealed interface MessagePart {

    record Text(String role, Dynamic<String> text) implements MessagePart {}

    record ToolResult(Dynamic<String> callId, Dynamic<String> text) implements MessagePart {}

    /** The results of several tool calls, by the id of the call. */
    record ToolResults(Dynamic<Map<String, String>> byCallId) implements MessagePart {}

    /** A message of a text, which may be empty, and of images by URL. */
    record Illustrated(String role, Dynamic<String> text, List<Dynamic<String>> imageUrls)
        implements MessagePart {}

    /** A list of messages: a list of maps, the JSON text of an array, or a recorded dialog. */
    record Whole(Dynamic<Object> messages) implements MessagePart {}

    record History(String sessionKey) implements MessagePart {}

    /** The conversation of this session key, and the next turn of the dialog that it replays. */
    record NextTurn(String sessionKey) implements MessagePart {}
  }

  /** A check, and the condition on which it is made; null for none. */
  public record ConditionalCheck(
      CheckBuilder check, @Nullable BiFunction<MeasuredAnswer, Session, Boolean> condition) {}
}
