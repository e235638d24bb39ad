package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import java.util.function.Function;

/**
 * A request for the vectors of texts. Its answer is one body, so it has a latency and no first
 * token; it is ok where there is a vector for each text.
 *
 * <pre>{@code
 * llm("embed").embeddings().input("#{passage}", "#{next}").dimensions(256).encodingFormat("base64")
 * }</pre>
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 */
public final class EmbeddingRequestBuilder extends LlmRequestBuilder<EmbeddingRequestBuilder> {

  EmbeddingRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  EmbeddingRequestBuilder with(LlmRequest changed) {
    return new EmbeddingRequestBuilder(changed);
  }

  /** How long each vector is to be, where the model can choose. */
  public EmbeddingRequestBuilder dimensions(int dimensions) {
    return parameter("dimensions", Dynamic.of(dimensions));
  }

  /** As {@link #dimensions(int)}; a Gatling EL String. */
  public EmbeddingRequestBuilder dimensions(String el) {
    return parameter("dimensions", Dynamic.el(el, Integer.class));
  }

  /** As {@link #dimensions(int)}, computed from the session. */
  public EmbeddingRequestBuilder dimensions(Function<Session, Integer> dimensions) {
    return parameter("dimensions", Dynamic.of(dimensions));
  }

  /**
   * How numbers are written: {@code float}, which servers take unless told, or {@code base64}, a
   * third of the bytes.
   */
  public EmbeddingRequestBuilder encodingFormat(String format) {
    return parameter("encoding_format", Dynamic.text(format));
  }

  /** As {@link #encodingFormat(String)}, computed from the session. */
  public EmbeddingRequestBuilder encodingFormat(Function<Session, String> format) {
    return parameter("encoding_format", Dynamic.of(format));
  }
}
