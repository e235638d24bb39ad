package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.action.LlmRequest.MessagePart;
import java.util.List;
import java.util.function.Function;

/** A request that sends messages and still needs a message to answer. */
public final class ChatStep {

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
    return new ChatRequestBuilder(request.and(new MessagePart.NextTurn(sessionKey)));
  }

  /** Appends a user message; a Gatling EL String. */
  public ChatRequestBuilder user(String text) {
    return chat().user(text);
  }

  public ChatRequestBuilder user(Function<Session, String> text) {
    return chat().user(text);
  }

  /** Appends a user message; see {@link ChatRequestBuilder#user(String, Image, Image...)}. */
  public ChatRequestBuilder user(String text, Image image, Image... more) {
    return chat().user(text, image, more);
  }

  /** Appends a user message with images, its text computed from the session. */
  public ChatRequestBuilder user(Function<Session, String> text, Image image, Image... more) {
    return chat().user(text, image, more);
  }

  /** Appends an assistant message; a Gatling EL String. */
  public ChatRequestBuilder assistant(String text) {
    return chat().assistant(text);
  }

  public ChatRequestBuilder assistant(Function<Session, String> text) {
    return chat().assistant(text);
  }

  /** Appends the result of a tool call; call id and text are Gatling EL Strings. */
  public ChatRequestBuilder tool(String callId, String text) {
    return chat().tool(callId, text);
  }

  public ChatRequestBuilder tool(Function<Session, String> callId, Function<Session, String> text) {
    return chat().tool(callId, text);
  }

  /** Appends the results of tool calls; see {@link ChatRequestBuilder#toolResults}. */
  public ChatRequestBuilder toolResults(
      String sessionKey, Function<LlmResponse.ToolCall, String> tool) {
    return chat().toolResults(sessionKey, tool);
  }

  /** Appends a list of messages; see {@link ChatRequestBuilder#messages(String)}. */
  public ChatRequestBuilder messages(String el) {
    return chat().messages(el);
  }

  /** Appends a list of messages; see {@link ChatRequestBuilder#messages(Function)}. */
  public ChatRequestBuilder messages(Function<Session, List<?>> messages) {
    return chat().messages(messages);
  }

  private ChatRequestBuilder chat() {
    return new ChatRequestBuilder(request);
  }
}
