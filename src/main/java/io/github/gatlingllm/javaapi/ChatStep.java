package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.action.LlmRequest.MessagePart;
import java.util.function.Function;

/** A request that sends messages and still needs a message to answer. */
public final class ChatStep implements Llm.MessageSteps {

  private final LlmRequest request;

  ChatStep(LlmRequest request) {
    this.request = request;
  }

  /** Appends a system message; a Gatling EL String. */
  public ChatStep system(String text) {
    return system(Dynamic.text(text));
  }

  public ChatStep system(Function<Session, String> text) {
    return system(Dynamic.of(text));
  }

  private ChatStep system(Dynamic<String> text) {
    return new ChatStep(request.and(new MessagePart.Text("system", text)));
  }

  /**
   * Sends the conversation so far before the messages of this request. If the request succeeds, its
   * messages and the answer are appended to the conversation.
   *
   * @param sessionKey session attribute of a conversation; see {@link LlmDsl#conversation}
   */
  public ChatStep history(String sessionKey) {
    return new ChatStep(request.withHistory(sessionKey));
  }

  /**
   * Sends the conversation so far, and the next turn of the recorded dialog that it follows; see
   * {@link ConversationBuilder#dialog(String)}. A failed request ends the conversation.
   *
   * @param sessionKey session attribute of the conversation
   */
  public ChatRequestBuilder nextTurn(String sessionKey) {
    return and(new MessagePart.NextTurn(sessionKey));
  }

  /** For internal use only. */
  @Override
  public ChatRequestBuilder and(MessagePart message) {
    return new ChatRequestBuilder(request.and(message));
  }
}
