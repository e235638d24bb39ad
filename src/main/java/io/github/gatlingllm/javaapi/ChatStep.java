package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.action.LlmRequest.MessagePart;
import java.util.List;
import java.util.function.Function;

/** A request that sends messages, and still needs something to answer. */
public final class ChatStep {

  private final LlmRequest request;

  ChatStep(LlmRequest request) {
    this.request = request;
  }

  /** What the model is told before anything else; a Gatling EL String. */
  public ChatStep system(String text) {
    return system(Dynamic.text(text));
  }

  /** As {@link #system(String)}, computed from the session. */
  public ChatStep system(Function<Session, String> text) {
    return system(Dynamic.of(text));
  }

  private ChatStep system(Dynamic<String> text) {
    return new ChatStep(request.and(new MessagePart.Text("system", text)));
  }

  /**
   * The conversation so far, kept in that session attribute by {@link LlmDsl#conversation}. What is
   * asked here and the answer join it when the request succeeds.
   */
  public ChatStep history(String sessionKey) {
    return new ChatStep(request.withHistory(sessionKey));
  }

  /**
   * The conversation kept in that session attribute, and what the dialog that it follows asks next;
   * see {@link ConversationBuilder#dialog(String)}. After a request that fails the conversation is
   * over.
   */
  public ChatRequestBuilder nextTurn(String sessionKey) {
    return new ChatRequestBuilder(request.and(new MessagePart.NextTurn(sessionKey)));
  }

  /** What the user says; a Gatling EL String. */
  public ChatRequestBuilder user(String text) {
    return chat().user(text);
  }

  /** What the user says, computed from the session. */
  public ChatRequestBuilder user(Function<Session, String> text) {
    return chat().user(text);
  }

  /** What the user says and shows; see {@link ChatRequestBuilder#user(String, Image, Image...)}. */
  public ChatRequestBuilder user(String text, Image image, Image... more) {
    return chat().user(text, image, more);
  }

  /** What the user says and shows, the text computed from the session. */
  public ChatRequestBuilder user(Function<Session, String> text, Image image, Image... more) {
    return chat().user(text, image, more);
  }

  /** What the assistant said before; a Gatling EL String. */
  public ChatRequestBuilder assistant(String text) {
    return chat().assistant(text);
  }

  /** What the assistant said before, computed from the session. */
  public ChatRequestBuilder assistant(Function<Session, String> text) {
    return chat().assistant(text);
  }

  /** The result of a tool call; Gatling EL Strings. */
  public ChatRequestBuilder tool(String callId, String text) {
    return chat().tool(callId, text);
  }

  /** The result of a tool call, computed from the session. */
  public ChatRequestBuilder tool(Function<Session, String> callId, Function<Session, String> text) {
    return chat().tool(callId, text);
  }

  /** The results of several tool calls; see {@link ChatRequestBuilder#toolResults}. */
  public ChatRequestBuilder toolResults(
      String sessionKey, Function<LlmResponse.ToolCall, String> tool) {
    return chat().toolResults(sessionKey, tool);
  }

  /** A whole list of messages; see {@link ChatRequestBuilder#messages(String)}. */
  public ChatRequestBuilder messages(String el) {
    return chat().messages(el);
  }

  /** A whole list of messages; see {@link ChatRequestBuilder#messages(Function)}. */
  public ChatRequestBuilder messages(Function<Session, List<?>> messages) {
    return chat().messages(messages);
  }

  private ChatRequestBuilder chat() {
    return new ChatRequestBuilder(request);
  }
}
