package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.action.LlmRequest.MessagePart;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/** The messages and parameters of a request that sends messages, in any order. */
public abstract sealed class ChatBuilder<S extends ChatBuilder<S>>
    extends GenerationRequestBuilder<S> permits ChatStep, ChatRequestBuilder {

  ChatBuilder(LlmRequest request) {
    super(request);
  }

  private ChatRequestBuilder and(MessagePart message) {
    return new ChatRequestBuilder(request.and(message));
  }

  private ChatRequestBuilder text(String role, Dynamic<String> text) {
    return and(MessagePart.text(role, text));
  }

  /**
   * Sends the conversation so far, that of {@link LlmDsl#conversation} in this session attribute,
   * before the messages of this request. If the request succeeds, its messages and the answer are
   * appended to the conversation.
   */
  public final S history(String sessionKey) {
    return with(request.withHistory(sessionKey));
  }

  /** Appends a system message; a Gatling EL String. */
  public final S system(String text) {
    return with(request.and(MessagePart.text("system", Dynamic.text(text))));
  }

  public final S system(Function<Session, String> text) {
    return with(request.and(MessagePart.text("system", Dynamic.of(text))));
  }

  /** Appends a user message; a Gatling EL String. */
  public final ChatRequestBuilder user(String text) {
    return text("user", Dynamic.text(text));
  }

  public final ChatRequestBuilder user(Function<Session, String> text) {
    return text("user", Dynamic.of(text));
  }

  /**
   * Appends a user message with images: {@code user("What is in #{what}?", image("cat.png"))}. The
   * text is a Gatling EL String, empty for a message without text.
   */
  public final ChatRequestBuilder user(String text, Image image, Image... more) {
    return illustrated(Dynamic.text(text), image, more);
  }

  public final ChatRequestBuilder user(Function<Session, String> text, Image image, Image... more) {
    return illustrated(Dynamic.of(text), image, more);
  }

  private ChatRequestBuilder illustrated(Dynamic<String> text, Image image, Image... more) {
    List<Dynamic<String>> urls =
        Stream.concat(Stream.of(image), Stream.of(more)).map(Image::url).toList();
    return and(MessagePart.illustrated("user", text, urls));
  }

  /** Appends an assistant message; a Gatling EL String. */
  public final ChatRequestBuilder assistant(String text) {
    return text("assistant", Dynamic.text(text));
  }

  public final ChatRequestBuilder assistant(Function<Session, String> text) {
    return text("assistant", Dynamic.of(text));
  }

  /** Appends the result of a tool call; call id and text are Gatling EL Strings. */
  public final ChatRequestBuilder tool(String callId, String text) {
    return and(MessagePart.toolResult(Dynamic.text(callId), Dynamic.text(text)));
  }

  public final ChatRequestBuilder tool(
      Function<Session, String> callId, Function<Session, String> text) {
    return and(MessagePart.toolResult(Dynamic.of(callId), Dynamic.of(text)));
  }

  /**
   * Appends the results of the model's last tool calls, which {@code toolCalls().saveAs("calls")}
   * saved, one message per call: {@code toolResults("calls", call -> weatherIn(call.arguments()))}.
   */
  public final ChatRequestBuilder toolResults(
      String sessionKey, Function<LlmResponse.ToolCall, String> tool) {
    return and(
        MessagePart.toolResults(
            Dynamic.of(
                session -> {
                  Map<String, String> byCallId = new LinkedHashMap<>();
                  for (LlmResponse.ToolCall call :
                      session.<LlmResponse.ToolCall>getList(sessionKey)) {
                    byCallId.put(call.id(), tool.apply(call));
                  }
                  return byCallId;
                })));
  }

  /**
   * Appends messages in OpenAI's format: a Gatling EL String for a session attribute that is a list
   * of maps, a {@link io.github.gatlingllm.workload.Conversation.Dialog} of a dataset (up to its
   * last user message, with its tools unless others are set), or JSON text of an array.
   */
  public final ChatRequestBuilder messages(String el) {
    return and(MessagePart.all(Dynamic.el(el, Object.class)));
  }

  /** Appends a list of messages, computed from the session; each is a map in OpenAI's format. */
  public final ChatRequestBuilder messages(Function<Session, List<?>> messages) {
    return and(MessagePart.all(Dynamic.of(s -> (Object) messages.apply(s))));
  }

  /** The tools that the model may call: a JSON array, as a Gatling EL String. */
  public final S tools(String json) {
    return edit(draft -> draft.tools = Dynamic.text(json));
  }

  public final S tools(Function<Session, String> json) {
    return edit(draft -> draft.tools = Dynamic.of(json));
  }

  /**
   * Whether the model calls tools, and which: a JSON value such as {@code "auto"}, quotes included,
   * as a Gatling EL String.
   */
  public final S toolChoice(String json) {
    return edit(draft -> draft.toolChoice = Dynamic.text(json));
  }

  public final S toolChoice(Function<Session, String> json) {
    return edit(draft -> draft.toolChoice = Dynamic.of(json));
  }

  /** The format of the answer: a JSON object, e.g. with a JSON schema, as a Gatling EL String. */
  public final S responseFormat(String json) {
    return edit(draft -> draft.responseFormat = Dynamic.text(json));
  }

  public final S responseFormat(Function<Session, String> json) {
    return edit(draft -> draft.responseFormat = Dynamic.of(json));
  }

  /**
   * Asks for the log probability of each token, and of the {@code top} most likely ones at its
   * position, 0 to 20.
   */
  public final S logprobs(int top) {
    return parameter("logprobs", Dynamic.of(true)).parameter("top_logprobs", Dynamic.of(top));
  }
}
