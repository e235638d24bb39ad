package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.settings.SettingValue.Abandonment;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.LengthDistribution.Draw;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * The parameters that all requests for generated text have in common: length, sampling, streaming.
 */
public abstract sealed class GenerationRequestBuilder<T extends GenerationRequestBuilder<T>>
    extends LlmRequestBuilder<T> permits ChatRequestBuilder, CompletionRequestBuilder {

  GenerationRequestBuilder(LlmRequest request) {
    super(request);
  }

  /**
   * Maximum number of tokens to generate, 1 or more. Unless {@link
   * LlmProtocolBuilder#disableIgnoreEos()} is set, the server is told to generate exactly this
   * many.
   */
  public final T maxTokens(int tokens) {
    int limit = InvalidSimulation.requireMin(1, "maxTokens", tokens, "token");
    return edit(draft -> draft.maxTokens = Dynamic.of(limit));
  }

  public final T maxTokens(String el) {
    return edit(draft -> draft.maxTokens = Dynamic.el(el, Integer.class));
  }

  public final T maxTokens(Function<Session, Integer> tokens) {
    return edit(draft -> draft.maxTokens = Dynamic.of(tokens));
  }

  /**
   * Draws the number for each request, e.g. of {@link LlmDsl#lognormalTokens}, by the seed of the
   * protocol. A warm-up request has the mean.
   */
  public final T maxTokens(LengthDistribution lengths) {
    return edit(
        draft ->
            draft.maxTokens =
                Dynamic.of(session -> session.<Draw>get(Draw.KEY).of(lengths), lengths.text()));
  }

  /** Sampling temperature: 0 always takes the most likely token. */
  public final T temperature(double temperature) {
    return parameter("temperature", Dynamic.of(temperature));
  }

  public final T temperature(String el) {
    return parameter("temperature", Dynamic.el(el, Double.class));
  }

  public final T temperature(Function<Session, Double> temperature) {
    return parameter("temperature", Dynamic.of(temperature));
  }

  /** Nucleus sampling: the share of the probability mass to sample from, above 0, at most 1. */
  public final T topP(double topP) {
    return parameter("top_p", Dynamic.of(topP));
  }

  public final T topP(String el) {
    return parameter("top_p", Dynamic.el(el, Double.class));
  }

  public final T topP(Function<Session, Double> topP) {
    return parameter("top_p", Dynamic.of(topP));
  }

  /** Number of most likely tokens to sample from; a parameter of vLLM and SGLang, not of OpenAI. */
  public final T topK(int topK) {
    return parameter("top_k", Dynamic.of(topK));
  }

  /**
   * Minimum probability of a token, as a share of the probability of the most likely token; a
   * parameter of vLLM and SGLang, not of OpenAI.
   */
  public final T minP(double minP) {
    return parameter("min_p", Dynamic.of(minP));
  }

  /** Makes tokens less likely the more often they have occurred in the answer, −2 to 2. */
  public final T frequencyPenalty(double penalty) {
    return parameter("frequency_penalty", Dynamic.of(penalty));
  }

  /** Makes tokens less likely that have occurred in the answer, −2 to 2. */
  public final T presencePenalty(double penalty) {
    return parameter("presence_penalty", Dynamic.of(penalty));
  }

  /**
   * Makes tokens that have occurred in prompt or answer less likely if it is above 1; a parameter
   * of vLLM and SGLang, not of OpenAI.
   */
  public final T repetitionPenalty(double penalty) {
    return parameter("repetition_penalty", Dynamic.of(penalty));
  }

  /** Number of answers to generate, as choices of one response: {@code n}. */
  public final T choices(int choices) {
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

  /** The seed by which the server samples. */
  public final T seed(long seed) {
    return parameter("seed", Dynamic.of(seed));
  }

  public final T seed(String el) {
    return parameter("seed", Dynamic.el(el, Long.class));
  }

  public final T seed(Function<Session, Long> seed) {
    return parameter("seed", Dynamic.of(seed));
  }

  /**
   * Its users leave after this time without a complete answer, in place of {@link
   * LlmProtocolBuilder#abandonAfter(Duration)}.
   */
  public final T abandonAfter(Duration time) {
    return abandonAfter(1, time);
  }

  public final T abandonAfter(double share, Duration time) {
    return abandonAfter(share, time, time);
  }

  public final T abandonAfter(double share, Duration min, Duration max) {
    Abandonment leaving = InvalidSimulation.checked(() -> new Abandonment(share, min, max));
    return edit(draft -> draft.abandonment = leaving);
  }

  /** Requests a stream, or one body; by default as the protocol states. */
  public final T stream(boolean stream) {
    return edit(draft -> draft.stream = Dynamic.of(stream));
  }

  public final T stream(String el) {
    return edit(draft -> draft.stream = Dynamic.el(el, Boolean.class));
  }

  public final T stream(Function<Session, Boolean> stream) {
    return edit(draft -> draft.stream = Dynamic.of(stream));
  }
}
