package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.action.LlmRequest.MessagePart;
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
    implements Llm.MessageSteps {

  ChatRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  ChatRequestBuilder with(LlmRequest changed) {
    return new ChatRequestBuilder(changed);
  }

  /**
   * Sends the conversation so far before the messages of this request; see {@link
   * ChatStep#history}.
   */
  public ChatRequestBuilder history(String sessionKey) {
    return with(request.withHistory(sessionKey));
  }

  /** Appends a system message; a Gatling EL String. */
  public ChatRequestBuilder system(String text) {
    return system(Dynamic.text(text));
  }

  public ChatRequestBuilder system(Function<Session, String> text) {
    return system(Dynamic.of(text));
  }

  private ChatRequestBuilder system(Dynamic<String> text) {
    return and(new MessagePart.Text("system", text));
  }

  /** The tools that the model may call: a JSON array, as a Gatling EL String. */
  public ChatRequestBuilder tools(String json) {
    return edit(draft -> draft.tools = Dynamic.text(json));
  }

  public ChatRequestBuilder tools(Function<Session, String> json) {
    return edit(draft -> draft.tools = Dynamic.of(json));
  }

  /**
   * Controls whether the model calls tools, and which: a JSON value such as {@code "auto"}, quotes
   * included, as a Gatling EL String.
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
   * Asks for the log probability of each token, and of the most likely tokens at its position.
   *
   * @param top number of most likely tokens, 0 to 20
   */
  public ChatRequestBuilder logprobs(int top) {
    return parameter("logprobs", Dynamic.of(true)).parameter("top_logprobs", Dynamic.of(top));
  }

  /** For internal use only. */
  @Override
  public ChatRequestBuilder and(MessagePart message) {
    return with(request.and(message));
  }
}
