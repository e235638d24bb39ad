package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import java.util.List;
import java.util.function.Function;

/**
 * A request for the embeddings of texts: {@code llm("embed").embeddings().input("#{passage}")}. The
 * answer is one body: it has a latency, but no first token. The request succeeds if the answer has
 * a vector for each text.
 */
public final class EmbeddingRequestBuilder extends LlmRequestBuilder<EmbeddingRequestBuilder> {

  EmbeddingRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  EmbeddingRequestBuilder with(LlmRequest changed) {
    return new EmbeddingRequestBuilder(changed);
  }

  /** The texts to embed, all in one request; Gatling EL Strings. */
  public EmbeddingRequestBuilder input(String text, String... more) {
    return edit(draft -> draft.inputs = texts(text, more));
  }

  public EmbeddingRequestBuilder input(Function<Session, List<String>> texts) {
    return edit(draft -> draft.inputList = Dynamic.of(texts));
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
