package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.action.LlmRequest.MessagePart;

/** A request that sends messages and still needs a message to answer. */
public final class ChatStep extends ChatBuilder<ChatStep> {

  ChatStep(LlmRequest request) {
    super(request);
  }

  @Override
  ChatStep with(LlmRequest changed) {
    return new ChatStep(changed);
  }

  /**
   * Sends the conversation so far, and the next turn of the recorded dialog that it follows; see
   * {@link ConversationBuilder#dialog(String)}. A failed request ends the conversation.
   */
  public ChatRequestBuilder nextTurn(String sessionKey) {
    return new ChatRequestBuilder(request.and(MessagePart.nextTurn(sessionKey)));
  }
}
