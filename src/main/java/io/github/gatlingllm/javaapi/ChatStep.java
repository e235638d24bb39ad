package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.action.LlmRequest.MessagePart;

/** A request that sends messages and still needs a message to answer. */
public final class ChatStep implements Llm.MessageSteps<ChatStep> {

  private final LlmRequest request;

  ChatStep(LlmRequest request) {
    this.request = request;
  }

  @Override
  public LlmRequest request() {
    return request;
  }

  @Override
  public ChatStep step(LlmRequest changed) {
    return new ChatStep(changed);
  }

  /**
   * Sends the conversation so far, and the next turn of the recorded dialog that it follows; see
   * {@link ConversationBuilder#dialog(String)}. A failed request ends the conversation.
   */
  public ChatRequestBuilder nextTurn(String sessionKey) {
    return new ChatRequestBuilder(request.and(new MessagePart.NextTurn(sessionKey)));
  }
}
