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

  /** The relevance of documents to a query: {@code POST …/rerank}. */
  public RerankStep rerank() {
    return new RerankStep(new LlmRequest(name, Api.RERANK));
  }

  private static List<Dynamic<String>> texts(String text, String... more) {
    return Stream.concat(Stream.of(text), Arrays.stream(more)).map(Dynamic::text).toList();
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
      return new EmbeddingRequestBuilder(request.with(draft -> draft.inputs = texts(text, more)));
    }

    public EmbeddingRequestBuilder input(Function<Session, List<String>> texts) {
      return new EmbeddingRequestBuilder(
          request.with(draft -> draft.inputList = Dynamic.of(texts)));
    }
  }

  /** A request for the relevance of documents that still needs its query. */
  public static final class RerankStep extends LlmRequestBuilder<RerankStep> {

    RerankStep(LlmRequest request) {
      super(request);
    }

    @Override
    RerankStep with(LlmRequest changed) {
      return new RerankStep(changed);
    }

    /** The query; a Gatling EL String. */
    public DocumentsStep query(String text) {
      return new DocumentsStep(request.with(draft -> draft.prompt = Dynamic.text(text)));
    }

    public DocumentsStep query(Function<Session, String> text) {
      return new DocumentsStep(request.with(draft -> draft.prompt = Dynamic.of(text)));
    }
  }

  /** A request for the relevance of documents that still needs these. */
  public static final class DocumentsStep extends LlmRequestBuilder<DocumentsStep> {

    DocumentsStep(LlmRequest request) {
      super(request);
    }

    @Override
    DocumentsStep with(LlmRequest changed) {
      return new DocumentsStep(changed);
    }

    /** The documents; Gatling EL Strings. */
    public RerankRequestBuilder documents(String text, String... more) {
      return new RerankRequestBuilder(request.with(draft -> draft.inputs = texts(text, more)));
    }

    public RerankRequestBuilder documents(Function<Session, List<String>> texts) {
      return new RerankRequestBuilder(request.with(draft -> draft.inputList = Dynamic.of(texts)));
    }
  }
}
