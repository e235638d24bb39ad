package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import java.util.function.Function;

/**
 * A request that sends messages: a chat completion, or the equivalent request to the APIs {@code
 * responses} and {@code messages}. Messages and parameters are translated to the API's own fields.
 *
 * <pre>{@code
 * llm("ask").chat().system("You are a helpful assistant.").user("#{prompt}").maxTokens(256)
 *     .check(finishReason().is("length"), ttft().lt(500), answer().saveAs("draft"))
 * }</pre>
 */
public final class ChatRequestBuilder extends GenerationRequestBuilder<ChatRequestBuilder>
    implements Llm.MessageSteps<ChatRequestBuilder> {

  ChatRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  ChatRequestBuilder with(LlmRequest changed) {
    return new ChatRequestBuilder(changed);
  }

  @Override
  public LlmRequest request() {
    return request;
  }

  @Override
  public ChatRequestBuilder step(LlmRequest changed) {
    return with(changed);
  }

  /** The tools that the model may call: a JSON array, as a Gatling EL String. */
  public ChatRequestBuilder tools(String json) {
    return edit(draft -> draft.tools = Dynamic.text(json));
  }

  public ChatRequestBuilder tools(Function<Session, String> json) {
    return edit(draft -> draft.tools = Dynamic.of(json));
  }

  /**
   * Whether the model calls tools, and which: a JSON value such as {@code "auto"}, quotes included,
   * as a Gatling EL String.
   */
  public ChatRequestBuilder toolChoice(String json) {
    return edit(draft -> draft.toolChoice = Dynamic.text(json));
  }

  public ChatRequestBuilder toolChoice(Function<Session, String> json) {
    return edit(draft -> draft.toolChoice = Dynamic.of(json));
  }

  /** The format of the answer: a JSON object, e.g. with a JSON schema, as a Gatling EL String. */
  public ChatRequestBuilder responseFormat(String json) {
    return edit(draft -> draft.responseFormat = Dynamic.text(json));
  }

  public ChatRequestBuilder responseFormat(Function<Session, String> json) {
    return edit(draft -> draft.responseFormat = Dynamic.of(json));
  }

  /**
   * Asks for the log probability of each token, and of the {@code top} most likely ones at its
   * position, 0 to 20.
   */
  public ChatRequestBuilder logprobs(int top) {
    return parameter("logprobs", Dynamic.of(true)).parameter("top_logprobs", Dynamic.of(top));
  }
}
