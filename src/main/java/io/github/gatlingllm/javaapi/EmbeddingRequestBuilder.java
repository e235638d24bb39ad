package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.ActionBuilder;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;

/**
 * A request for the embeddings of texts: {@code llm("embed").embeddings().input("#{passage}")}. The
 * answer is one body: it has a latency, but no first token. The request succeeds if the answer has
 * a vector for each text.
 */
public final class EmbeddingRequestBuilder extends LlmRequestBuilder<EmbeddingRequestBuilder>
    implements ActionBuilder {

  EmbeddingRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  EmbeddingRequestBuilder with(LlmRequest changed) {
    return new EmbeddingRequestBuilder(changed);
  }

  /** The number of dimensions of each vector, for models that support several. */
  public EmbeddingRequestBuilder dimensions(int dimensions) {
    return parameter("dimensions", Dynamic.of(dimensions));
  }

  /**
   * The encoding of the vectors: {@code float}, the default of servers, or {@code base64}, which
   * takes a third of the bytes; a Gatling EL String.
   */
  public EmbeddingRequestBuilder encodingFormat(String format) {
    return parameter("encoding_format", Dynamic.text(format));
  }
}
