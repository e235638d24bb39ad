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

/**
 * A request that sends messages: a chat completion, or the equivalent request to the APIs {@code
 * responses} and {@code messages}. Messages and parameters, in any order, are translated to the
 * API's own fields.
 *
 * <pre>{@code
 * llm("ask").chat().system("You are a helpful assistant.").user("#{prompt}").maxTokens(256)
 *     .check(finishReason().is("length"), ttft().lt(500), answer().saveAs("draft"))
 * }</pre>
 */
public final class ChatRequestBuilder extends GenerationRequestBuilder<ChatRequestBuilder> {

  ChatRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  ChatRequestBuilder with(LlmRequest changed) {
    return new ChatRequestBuilder(changed);
  }

  private ChatRequestBuilder and(MessagePart message) {
    return with(request.and(message));
  }

  private ChatRequestBuilder text(String role, Dynamic<String> text) {
    return and(MessagePart.text(role, text));
  }

  /**
   * Sends the conversation so far, that of {@link LlmDsl#conversation} in this session attribute,
   * before the messages of this request. If the request succeeds, its messages and the answer are
   * appended to the conversation.
   */
  public ChatRequestBuilder history(String sessionKey) {
    return with(request.withHistory(sessionKey));
  }

  /**
   * Sends the conversation so far, and the next turn of the recorded dialog that it follows; see
   * {@link ConversationBuilder#dialog(String)}. A failed request ends the conversation.
   */
  public ChatRequestBuilder nextTurn(String sessionKey) {
    return and(MessagePart.nextTurn(sessionKey));
  }

  /** Appends a system message; a Gatling EL String. */
  public ChatRequestBuilder system(String text) {
    return text("system", Dynamic.text(text));
  }

  public ChatRequestBuilder system(Function<Session, String> text) {
    return text("system", Dynamic.of(text));
  }

  /** Appends a user message; a Gatling EL String. */
  public ChatRequestBuilder user(String text) {
    return text("user", Dynamic.text(text));
  }

  public ChatRequestBuilder user(Function<Session, String> text) {
    return text("user", Dynamic.of(text));
  }

  /**
   * Appends a user message with images: {@code user("What is in #{what}?", image("cat.png"))}. The
   * text is a Gatling EL String, empty for a message without text.
   */
  public ChatRequestBuilder user(String text, Image image, Image... more) {
    return illustrated(Dynamic.text(text), image, more);
  }

  public ChatRequestBuilder user(Function<Session, String> text, Image image, Image... more) {
    return illustrated(Dynamic.of(text), image, more);
  }

  private ChatRequestBuilder illustrated(Dynamic<String> text, Image image, Image... more) {
    List<Dynamic<String>> urls =
        Stream.concat(Stream.of(image), Stream.of(more)).map(Image::url).toList();
    return and(MessagePart.illustrated(text, urls));
  }

  /** Appends an assistant message; a Gatling EL String. */
  public ChatRequestBuilder assistant(String text) {
    return text("assistant", Dynamic.text(text));
  }

  public ChatRequestBuilder assistant(Function<Session, String> text) {
    return text("assistant", Dynamic.of(text));
  }

  /** Appends the result of a tool call; call id and text are Gatling EL Strings. */
  public ChatRequestBuilder tool(String callId, String text) {
    return and(MessagePart.toolResult(Dynamic.text(callId), Dynamic.text(text)));
  }

  public ChatRequestBuilder tool(Function<Session, String> callId, Function<Session, String> text) {
    return and(MessagePart.toolResult(Dynamic.of(callId), Dynamic.of(text)));
  }

  /**
   * Appends the results of the model's last tool calls, which {@code toolCalls().saveAs("calls")}
   * saved, one message per call: {@code toolResults("calls", call -> weatherIn(call.arguments()))}.
   */
  public ChatRequestBuilder toolResults(
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
  public ChatRequestBuilder messages(String el) {
    return and(MessagePart.all(Dynamic.el(el, Object.class)));
  }

  /** Appends a list of messages, computed from the session; each is a map in OpenAI's format. */
  public ChatRequestBuilder messages(Function<Session, List<?>> messages) {
    return and(MessagePart.all(Dynamic.of(s -> (Object) messages.apply(s))));
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
   * Requests the log probability of each token, and of the {@code top} most likely ones at its
   * position, 0 to 20.
   */
  public ChatRequestBuilder logprobs(int top) {
    return parameter("logprobs", Dynamic.of(true)).parameter("top_logprobs", Dynamic.of(top));
  }
}
