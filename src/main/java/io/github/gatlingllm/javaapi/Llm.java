package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.client.Api;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** A request with a name that still needs its API. */
public final class Llm {

  private final Dynamic<String> name;

  Llm(Dynamic<String> name) {
    this.name = name;
  }

  /** A chat completion: {@code POST …/chat/completions}. */
  public ChatStep chat() {
    return withMessages(Api.CHAT);
  }

  /** For internal use only: a request to an API that takes messages. */
  public ChatStep withMessages(Api api) {
    return new ChatStep(new LlmRequest(name, api));
  }

  /** OpenAI's Responses API, which streams typed events: {@code POST …/responses}. */
  public ChatStep responses() {
    return withMessages(Api.RESPONSES);
  }

  /**
   * Anthropic's Messages API: {@code POST …/messages}. It requires {@code maxTokens}. The API key
   * is also sent as {@code x-api-key}, and {@code anthropic-version} is {@code 2023-06-01} unless a
   * header sets it.
   */
  public ChatStep messages() {
    return withMessages(Api.MESSAGES);
  }

  /** A text completion: {@code POST …/completions}. */
  public CompletionStep completion() {
    return new CompletionStep(new LlmRequest(name, Api.COMPLETIONS));
  }

  /** Embeddings of texts: {@code POST …/embeddings}. */
  public EmbeddingStep embeddings() {
    return new EmbeddingStep(new LlmRequest(name, Api.EMBEDDINGS));
  }

  /** A text completion that still needs its prompt. */
  public static final class CompletionStep extends GenerationRequestBuilder<CompletionStep> {

    CompletionStep(LlmRequest request) {
      super(request);
    }

    @Override
    CompletionStep with(LlmRequest changed) {
      return new CompletionStep(changed);
    }

    /** The prompt; a Gatling EL String. */
    public CompletionRequestBuilder prompt(String prompt) {
      return new CompletionRequestBuilder(
          request.with(draft -> draft.prompt = Dynamic.text(prompt)));
    }

    public CompletionRequestBuilder prompt(Function<Session, String> prompt) {
      return new CompletionRequestBuilder(request.with(draft -> draft.prompt = Dynamic.of(prompt)));
    }
  }

  /** A request for embeddings that still needs its texts. */
  public static final class EmbeddingStep extends LlmRequestBuilder<EmbeddingStep> {

    EmbeddingStep(LlmRequest request) {
      super(request);
    }

    @Override
    EmbeddingStep with(LlmRequest changed) {
      return new EmbeddingStep(changed);
    }

    /** The texts to embed, all in one request; Gatling EL Strings. */
    public EmbeddingRequestBuilder input(String text, String... more) {
      List<Dynamic<String>> texts =
          Stream.concat(Stream.of(text), Arrays.stream(more)).map(Dynamic::text).toList();
      return new EmbeddingRequestBuilder(request.with(draft -> draft.inputs = texts));
    }

    public EmbeddingRequestBuilder input(Function<Session, List<String>> texts) {
      return new EmbeddingRequestBuilder(
          request.with(draft -> draft.inputList = Dynamic.of(texts)));
    }
  }
}
