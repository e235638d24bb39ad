package io.github.gatlingllm.action;

import io.gatling.core.action.Action;
import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.structure.ScenarioContext;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.wire.Api;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One LLM request as the DSL describes it. Immutable; {@link #edit} gives a changed copy. */
public final class LlmRequest {

  private final Draft parts;

  private LlmRequest(Draft parts) {
    this.parts = parts;
  }

  /** A chat completion that says nothing yet. */
  public static LlmRequest chat(Dynamic<String> name) {
    return of(name, Api.CHAT);
  }

  /** A text completion that says nothing yet. */
  public static LlmRequest completion(Dynamic<String> name) {
    return of(name, Api.COMPLETIONS);
  }

  /** A request that says nothing yet. */
  static LlmRequest of(Dynamic<String> name, Api api) {
    return new LlmRequest(new Draft(name, api));
  }

  /** A copy with that change. */
  public LlmRequest edit(Consumer<Draft> change) {
    Draft copy = new Draft(parts);
    change.accept(copy);
    return new LlmRequest(copy);
  }

  /** A copy with one more piece of the message list. */
  public LlmRequest and(MessagePart message) {
    return edit(draft -> draft.messages.add(message));
  }

  /** What the DSL hands to Gatling. */
  public ActionBuilder toActionBuilder() {
    return new ActionBuilder() {
      @Override
      public Action build(ScenarioContext context, Action next) {
        return LlmAction.build(LlmRequest.this, context, next);
      }
    };
  }

  /** All parts, for reading. */
  Draft parts() {
    return parts;
  }

  /**
   * A check, and when it is done.
   *
   * @param condition null for always
   */
  public record ConditionalCheck(
      CheckBuilder check, @Nullable BiFunction<LlmResponse, Session, Boolean> condition) {

    /** Done always. */
    public static ConditionalCheck of(CheckBuilder check) {
      return new ConditionalCheck(check, null);
    }

    /** Done where the condition on the session holds. */
    public static ConditionalCheck when(Dynamic<Boolean> condition, CheckBuilder check) {
      return new ConditionalCheck(
          check, (response, session) -> condition.resolve(session.asScala()));
    }

    /** Done where the condition holds. */
    public static ConditionalCheck when(
        BiFunction<LlmResponse, Session, Boolean> condition, CheckBuilder check) {
      return new ConditionalCheck(check, condition);
    }
  }

  /** The parts of a request while it is being changed; null where nothing was said. */
  public static final class Draft {
    final Dynamic<String> name;
    final Api api;
    public final List<MessagePart> messages;
    public @Nullable Dynamic<String> prompt;
    public @Nullable Dynamic<String> model;
    public @Nullable Dynamic<Integer> maxTokens;
    public @Nullable Dynamic<Double> temperature;
    public @Nullable Dynamic<Double> topP;
    public List<Dynamic<String>> stop;
    public @Nullable Dynamic<Long> seed;
    public @Nullable Dynamic<Boolean> stream;
    public @Nullable Dynamic<String> tools;
    public @Nullable Dynamic<String> toolChoice;
    public @Nullable Dynamic<String> responseFormat;
    public @Nullable Dynamic<Integer> n;
    public @Nullable Dynamic<String> extraBody;
    public final Map<String, Dynamic<String>> headers;
    public final List<ConditionalCheck> checks;
    public boolean silent;

    private Draft(Dynamic<String> name, Api api) {
      this.name = name;
      this.api = api;
      messages = new ArrayList<>();
      stop = List.of();
      headers = new LinkedHashMap<>();
      checks = new ArrayList<>();
    }

    private Draft(Draft from) {
      name = from.name;
      api = from.api;
      messages = new ArrayList<>(from.messages);
      prompt = from.prompt;
      model = from.model;
      maxTokens = from.maxTokens;
      temperature = from.temperature;
      topP = from.topP;
      stop = from.stop;
      seed = from.seed;
      stream = from.stream;
      tools = from.tools;
      toolChoice = from.toolChoice;
      responseFormat = from.responseFormat;
      n = from.n;
      extraBody = from.extraBody;
      headers = new LinkedHashMap<>(from.headers);
      checks = new ArrayList<>(from.checks);
      silent = from.silent;
    }
  }
}
