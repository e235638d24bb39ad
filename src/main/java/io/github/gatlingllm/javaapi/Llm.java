package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.client.Api;

/** A request with a name that still needs its API. */
public final class Llm {

  private final Dynamic<String> name;

  Llm(Dynamic<String> name) {
    this.name = name;
  }

  /** A chat completion: {@code POST …/chat/completions}. */
  public ChatRequestBuilder chat() {
    return withMessages(Api.CHAT);
  }

  /** For internal use only: a request to an API that takes messages. */
  public ChatRequestBuilder withMessages(Api api) {
    return new ChatRequestBuilder(new LlmRequest(name, api));
  }

  /** OpenAI's Responses API, which streams typed events: {@code POST …/responses}. */
  public ChatRequestBuilder responses() {
    return withMessages(Api.RESPONSES);
  }

  /**
   * Anthropic's Messages API: {@code POST …/messages}. It requires {@code maxTokens}. The API key
   * is also sent as {@code x-api-key}, and {@code anthropic-version} is {@code 2023-06-01} unless a
   * header sets it.
   */
  public ChatRequestBuilder messages() {
    return withMessages(Api.MESSAGES);
  }

  /** A text completion: {@code POST …/completions}. */
  public CompletionRequestBuilder completion() {
    return new CompletionRequestBuilder(new LlmRequest(name, Api.COMPLETIONS));
  }

  /** Embeddings of texts: {@code POST …/embeddings}. */
  public EmbeddingRequestBuilder embeddings() {
    return new EmbeddingRequestBuilder(new LlmRequest(name, Api.EMBEDDINGS));
  }

  /** The relevance of documents to a query: {@code POST …/rerank}. */
  public RerankRequestBuilder rerank() {
    return new RerankRequestBuilder(new LlmRequest(name, Api.RERANK));
  }
}
