package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.ActionBuilder;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmRequest;

/**
 * A request for the relevance of documents to a query: {@code
 * llm("rank").rerank().query("#{question}").documents("#{first}", "#{second}")}. The answer is one
 * body: it has a latency, but no first token. The request succeeds if the answer has a result for
 * each document, or as many as {@link #topN} asks for.
 */
public final class RerankRequestBuilder extends LlmRequestBuilder<RerankRequestBuilder>
    implements ActionBuilder {

  RerankRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  RerankRequestBuilder with(LlmRequest changed) {
    return new RerankRequestBuilder(changed);
  }

  /** Asks for the most relevant documents only, 1 or more: {@code top_n}. */
  public RerankRequestBuilder topN(int documents) {
    return parameter(
        "top_n", Dynamic.of(InvalidSimulation.requireMin(1, "topN", documents, "document")));
  }

  /** Asks for the texts of the documents in the answer, too, or not: {@code return_documents}. */
  public RerankRequestBuilder returnDocuments(boolean returned) {
    return parameter("return_documents", Dynamic.of(returned));
  }
}
