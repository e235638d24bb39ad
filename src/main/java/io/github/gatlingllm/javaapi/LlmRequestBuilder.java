package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.ActionBuilder;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Draft;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * What chat and text completions have in common. What is not set here is taken from the protocol,
 * and what is not set there is not sent.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 *
 * @param <T> the kind of request
 */
public abstract sealed class LlmRequestBuilder<T extends LlmRequestBuilder<T>>
    implements ActionBuilder permits ChatRequestBuilder, CompletionRequestBuilder {

  final LlmRequest request;

  LlmRequestBuilder(LlmRequest request) {
    this.request = request;
  }

  abstract T with(LlmRequest changed);

  final T edit(Consumer<LlmRequest.RequestDraft> change) {
    return with(request.edit(change));
  }

  /** For internal use only. */
  @Override
  public final io.gatling.core.action.builder.ActionBuilder asScala() {
    return request.toActionBuilder();
  }

  /** The model; a Gatling EL String. */
  public final T model(String model) {
    return edit(draft -> draft.model = Dynamic.text(model));
  }

  /** The model, computed from the session. */
  public final T model(Function<Session, String> model) {
    return edit(draft -> draft.model = Dynamic.of(model));
  }

  /**
   * The most tokens to generate. Unless {@link LlmProtocolBuilder#disableIgnoreEos()} is set, the
   * server is asked to generate exactly this many.
   */
  public final T maxTokens(int tokens) {
    return edit(draft -> draft.maxTokens = Dynamic.of(tokens));
  }

  /** As {@link #maxTokens(int)}; a Gatling EL String. */
  public final T maxTokens(String el) {
    return edit(draft -> draft.maxTokens = Dynamic.el(el, Integer.class));
  }

  /** As {@link #maxTokens(int)}, computed from the session. */
  public final T maxTokens(Function<Session, Integer> tokens) {
    return edit(draft -> draft.maxTokens = Dynamic.of(tokens));
  }

  /** Sampling temperature: 0 takes the likeliest token each time. */
  public final T temperature(double temperature) {
    return parameter("temperature", Dynamic.of(temperature));
  }

  /** As {@link #temperature(double)}; a Gatling EL String. */
  public final T temperature(String el) {
    return parameter("temperature", Dynamic.el(el, Double.class));
  }

  /** As {@link #temperature(double)}, computed from the session. */
  public final T temperature(Function<Session, Double> temperature) {
    return parameter("temperature", Dynamic.of(temperature));
  }

  /** Nucleus sampling: the probability mass that is sampled from, 0 to 1. */
  public final T topP(double topP) {
    return parameter("top_p", Dynamic.of(topP));
  }

  /** As {@link #topP(double)}; a Gatling EL String. */
  public final T topP(String el) {
    return parameter("top_p", Dynamic.el(el, Double.class));
  }

  /** As {@link #topP(double)}, computed from the session. */
  public final T topP(Function<Session, Double> topP) {
    return parameter("top_p", Dynamic.of(topP));
  }

  /** How many of the likeliest tokens are sampled from; of vLLM and SGLang, not of OpenAI. */
  public final T topK(int topK) {
    return parameter("top_k", Dynamic.of(topK));
  }

  /** As {@link #topK(int)}; a Gatling EL String. */
  public final T topK(String el) {
    return parameter("top_k", Dynamic.el(el, Integer.class));
  }

  /** As {@link #topK(int)}, computed from the session. */
  public final T topK(Function<Session, Integer> topK) {
    return parameter("top_k", Dynamic.of(topK));
  }

  /** Least probability of a token, as a share of the likeliest one's; of vLLM and SGLang. */
  public final T minP(double minP) {
    return parameter("min_p", Dynamic.of(minP));
  }

  /** As {@link #minP(double)}; a Gatling EL String. */
  public final T minP(String el) {
    return parameter("min_p", Dynamic.el(el, Double.class));
  }

  /** As {@link #minP(double)}, computed from the session. */
  public final T minP(Function<Session, Double> minP) {
    return parameter("min_p", Dynamic.of(minP));
  }

  /** Makes tokens less likely the more often they came already, −2 to 2. */
  public final T frequencyPenalty(double penalty) {
    return parameter("frequency_penalty", Dynamic.of(penalty));
  }

  /** As {@link #frequencyPenalty(double)}; a Gatling EL String. */
  public final T frequencyPenalty(String el) {
    return parameter("frequency_penalty", Dynamic.el(el, Double.class));
  }

  /** As {@link #frequencyPenalty(double)}, computed from the session. */
  public final T frequencyPenalty(Function<Session, Double> penalty) {
    return parameter("frequency_penalty", Dynamic.of(penalty));
  }

  /** Makes tokens less likely that came already, −2 to 2. */
  public final T presencePenalty(double penalty) {
    return parameter("presence_penalty", Dynamic.of(penalty));
  }

  /** As {@link #presencePenalty(double)}; a Gatling EL String. */
  public final T presencePenalty(String el) {
    return parameter("presence_penalty", Dynamic.el(el, Double.class));
  }

  /** As {@link #presencePenalty(double)}, computed from the session. */
  public final T presencePenalty(Function<Session, Double> penalty) {
    return parameter("presence_penalty", Dynamic.of(penalty));
  }

  /** Makes tokens of prompt and answer less likely where above 1; of vLLM and SGLang. */
  public final T repetitionPenalty(double penalty) {
    return parameter("repetition_penalty", Dynamic.of(penalty));
  }

  /** As {@link #repetitionPenalty(double)}; a Gatling EL String. */
  public final T repetitionPenalty(String el) {
    return parameter("repetition_penalty", Dynamic.el(el, Double.class));
  }

  /** As {@link #repetitionPenalty(double)}, computed from the session. */
  public final T repetitionPenalty(Function<Session, Double> penalty) {
    return parameter("repetition_penalty", Dynamic.of(penalty));
  }

  /** How many answers are asked for, as choices of one response: {@code n}. */
  public final T choices(int choices) {
    return parameter("n", Dynamic.of(choices));
  }

  /** As {@link #choices(int)}; a Gatling EL String. */
  public final T choices(String el) {
    return parameter("n", Dynamic.el(el, Integer.class));
  }

  /** As {@link #choices(int)}, computed from the session. */
  public final T choices(Function<Session, Integer> choices) {
    return parameter("n", Dynamic.of(choices));
  }

  /** Texts that end the answer; Gatling EL Strings. */
  public final T stop(String... texts) {
    List<Dynamic<String>> stops = Arrays.stream(texts).map(Dynamic::text).toList();
    return edit(draft -> draft.stop = stops);
  }

  /** A text that ends the answer, computed from the session. */
  public final T stop(Function<Session, String> text) {
    return edit(draft -> draft.stop = List.of(Dynamic.of(text)));
  }

  /** The sampling seed that the server is asked to use. */
  public final T seed(long seed) {
    return parameter("seed", Dynamic.of(seed));
  }

  /** As {@link #seed(long)}; a Gatling EL String. */
  public final T seed(String el) {
    return parameter("seed", Dynamic.el(el, Long.class));
  }

  /** As {@link #seed(long)}, computed from the session. */
  public final T seed(Function<Session, Long> seed) {
    return parameter("seed", Dynamic.of(seed));
  }

  /** Asks for a stream, or for one body; the protocol decides unless this is set. */
  public final T stream(boolean stream) {
    return edit(draft -> draft.stream = Dynamic.of(stream));
  }

  /** As {@link #stream(boolean)}; a Gatling EL String. */
  public final T stream(String el) {
    return edit(draft -> draft.stream = Dynamic.el(el, Boolean.class));
  }

  /** As {@link #stream(boolean)}, computed from the session. */
  public final T stream(Function<Session, Boolean> stream) {
    return edit(draft -> draft.stream = Dynamic.of(stream));
  }

  /** A JSON object that is merged into the request, last: it wins; a Gatling EL String. */
  public final T body(String json) {
    return edit(draft -> draft.extraBody = Dynamic.text(json));
  }

  /** As {@link #body(String)}, computed from the session. */
  public final T body(Function<Session, String> json) {
    return edit(draft -> draft.extraBody = Dynamic.of(json));
  }

  /**
   * A header, in place of one of the protocol that has this name in whatever case; the value is a
   * Gatling EL String.
   */
  public final T header(String name, String value) {
    return edit(draft -> draft.headers = Draft.andHeader(draft.headers, name, Dynamic.text(value)));
  }

  /** A header, computed from the session. */
  public final T header(String name, Function<Session, String> value) {
    return edit(draft -> draft.headers = Draft.andHeader(draft.headers, name, Dynamic.of(value)));
  }

  /** Headers; the values are Gatling EL Strings. */
  public final T headers(Map<String, String> headers) {
    return edit(
        draft ->
            headers.forEach(
                (name, value) ->
                    draft.headers = Draft.andHeader(draft.headers, name, Dynamic.text(value))));
  }

  /** The key of this request, in place of the protocol's; a Gatling EL String. */
  public final T apiKey(String key) {
    return edit(draft -> draft.apiKey = Dynamic.text(key));
  }

  /** As {@link #apiKey(String)}, computed from the session. */
  public final T apiKey(Function<Session, String> key) {
    return edit(draft -> draft.apiKey = Dynamic.of(key));
  }

  /** Longest time of this request, from connecting to the last byte; else the protocol's. */
  public final T requestTimeout(Duration timeout) {
    return edit(
        draft -> draft.requestTimeout = LlmProtocolBuilder.positive("requestTimeout", timeout));
  }

  /** As {@link #requestTimeout(Duration)}, in seconds. */
  public final T requestTimeout(long seconds) {
    return requestTimeout(Duration.ofSeconds(seconds));
  }

  /**
   * Objectives of all requests of this name, in place of the protocol's. The name must be fixed.
   * Assertions on goodput need an SLO of the protocol too.
   */
  public final T slo(SloBuilder objectives) {
    return edit(draft -> draft.slo = objectives.build());
  }

  private T parameter(String name, Dynamic<?> value) {
    return edit(draft -> draft.parameters = Draft.and(draft.parameters, name, value));
  }

  /** Is in no statistics and no record; checks still run, and a failure still marks the user. */
  public final T silent() {
    return edit(draft -> draft.silent = true);
  }

  /**
   * Checks on the answer: Gatling's {@code bodyString}, {@code substring}, {@code regex}, {@code
   * jsonPath} and {@code jmesPath} look at the generated text, those of {@link LlmDsl} at the
   * measured request.
   */
  public final T check(CheckBuilder... checks) {
    return check(Arrays.asList(checks));
  }

  /** As {@link #check(CheckBuilder...)}. */
  public final T check(List<CheckBuilder> checks) {
    return check(checks, LlmRequest.ConditionalCheck::of);
  }

  private T check(
      List<CheckBuilder> checks, Function<CheckBuilder, LlmRequest.ConditionalCheck> done) {
    return edit(
        draft -> checks.forEach(c -> draft.checks = Draft.and(draft.checks, done.apply(c))));
  }

  /** Checks that are only done where the condition holds; a Gatling EL String. */
  public final CheckCondition<T> checkIf(String condition) {
    Dynamic<Boolean> holds = Dynamic.el(condition, Boolean.class);
    return new CheckCondition<>(this, c -> LlmRequest.ConditionalCheck.when(holds, c));
  }

  /** Checks that are only done where the condition on the session holds. */
  public final CheckCondition<T> checkIf(Function<Session, Boolean> condition) {
    Dynamic<Boolean> holds = Dynamic.of(condition);
    return new CheckCondition<>(this, c -> LlmRequest.ConditionalCheck.when(holds, c));
  }

  /** Checks that are only done where the condition on response and session holds. */
  public final CheckCondition<T> checkIf(BiFunction<LlmResponse, Session, Boolean> condition) {
    return new CheckCondition<>(
        this,
        c ->
            LlmRequest.ConditionalCheck.when(
                (answer, session) -> condition.apply(new LlmResponse(answer), session), c));
  }

  /**
   * A condition that needs its checks.
   *
   * @param <T> the kind of request
   */
  public static final class CheckCondition<T extends LlmRequestBuilder<T>> {
    private final LlmRequestBuilder<T> builder;
    private final Function<CheckBuilder, LlmRequest.ConditionalCheck> conditional;

    CheckCondition(
        LlmRequestBuilder<T> builder,
        Function<CheckBuilder, LlmRequest.ConditionalCheck> conditional) {
      this.builder = builder;
      this.conditional = conditional;
    }

    /** The checks to do where the condition holds. */
    public T then(CheckBuilder... checks) {
      return then(Arrays.asList(checks));
    }

    /** The checks to do where the condition holds. */
    public T then(List<CheckBuilder> checks) {
      return builder.check(checks, conditional);
    }
  }
}
