package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmRequest;
import java.util.List;
import java.util.function.Function;

/**
 * A request for the relevance of documents to a query: {@code
 * llm("rank").rerank().query("#{question}").documents("#{first}", "#{second}")}. The answer is one
 * body: it has a latency, but no first token. The request succeeds if the answer has a result for
 * each document, or as many as {@link #topN} requests.
 */
public final class RerankRequestBuilder extends LlmRequestBuilder<RerankRequestBuilder> {

  RerankRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  RerankRequestBuilder with(LlmRequest changed) {
    return new RerankRequestBuilder(changed);
  }

  /** The query; a Gatling EL String. */
  public RerankRequestBuilder query(String text) {
    return edit(draft -> draft.prompt = Dynamic.text(text));
  }

  public RerankRequestBuilder query(Function<Session, String> text) {
    return edit(draft -> draft.prompt = Dynamic.of(text));
  }

  /** The documents; Gatling EL Strings. */
  public RerankRequestBuilder documents(String text, String... more) {
    return edit(draft -> draft.inputs = texts(text, more));
  }

  public RerankRequestBuilder documents(Function<Session, List<String>> texts) {
    return edit(draft -> draft.inputList = Dynamic.of(texts));
  }

  /** Requests the most relevant documents only, 1 or more: {@code top_n}. */
  public RerankRequestBuilder topN(int documents) {
    return parameter(
        "top_n", Dynamic.of(InvalidSimulation.requireMin(1, "topN", documents, "document")));
  }

  /** Requests the texts of the documents in the answer, too, or not: {@code return_documents}. */
  public RerankRequestBuilder returnDocuments(boolean returned) {
    return parameter("return_documents", Dynamic.of(returned));
  }
}
