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
 * responses} and {@code messages}. Messages and parameters are translated to the API's own fields.
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

  /**
   * Sends the conversation so far before the messages of this request; see {@link
   * ChatStep#history}.
   */
  public ChatRequestBuilder history(String sessionKey) {
    return with(request.withHistory(sessionKey));
  }

  /** Appends a system message; a Gatling EL String. */
  public ChatRequestBuilder system(String text) {
    return message("system", Dynamic.text(text));
  }

  public ChatRequestBuilder system(Function<Session, String> text) {
    return message("system", Dynamic.of(text));
  }

  /** Appends a user message; a Gatling EL String. */
  public ChatRequestBuilder user(String text) {
    return message("user", Dynamic.text(text));
  }

  public ChatRequestBuilder user(Function<Session, String> text) {
    return message("user", Dynamic.of(text));
  }

  /**
   * Appends a user message with images.
   *
   * <pre>{@code
   * llm("look").chat().user("What is in #{what}?", image("cat.png"), image(512, 512).variants(16))
   * }</pre>
   *
   * @param text a Gatling EL String; empty for a message without text
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
    return with(request.and(new MessagePart.Illustrated("user", text, urls)));
  }

  /** Appends an assistant message; a Gatling EL String. */
  public ChatRequestBuilder assistant(String text) {
    return message("assistant", Dynamic.text(text));
  }

  public ChatRequestBuilder assistant(Function<Session, String> text) {
    return message("assistant", Dynamic.of(text));
  }

  /** Appends the result of a tool call; call id and text are Gatling EL Strings. */
  public ChatRequestBuilder tool(String callId, String text) {
    return with(request.and(new MessagePart.ToolResult(Dynamic.text(callId), Dynamic.text(text))));
  }

  public ChatRequestBuilder tool(Function<Session, String> callId, Function<Session, String> text) {
    return with(request.and(new MessagePart.ToolResult(Dynamic.of(callId), Dynamic.of(text))));
  }

  /**
   * Appends the results of the model's last tool calls, one message per call.
   *
   * <pre>{@code
   * llm("report").chat().history("h").toolResults("calls", call -> weatherIn(call.arguments()))
   * }</pre>
   *
   * @param sessionKey session attribute that {@code toolCalls().saveAs(…)} saved the calls to
   * @param tool computes the result of a call
   */
  public ChatRequestBuilder toolResults(
      String sessionKey, Function<LlmResponse.ToolCall, String> tool) {
    return with(
        request.and(
            new MessagePart.ToolResults(
                Dynamic.of(
                    session -> {
                      Map<String, String> byCallId = new LinkedHashMap<>();
                      for (LlmResponse.ToolCall call :
                          session.<LlmResponse.ToolCall>getList(sessionKey)) {
                        byCallId.put(call.id(), tool.apply(call));
                      }
                      return byCallId;
                    }))));
  }

  /**
   * Appends a list of messages in OpenAI's format.
   *
   * @param el a Gatling EL String for a session attribute that is a list of maps, a {@link
   *     io.github.gatlingllm.workload.Dialog} of a dataset (up to its last user message, with its
   *     tools unless others are set), or JSON text of an array
   */
  public ChatRequestBuilder messages(String el) {
    return with(request.and(new MessagePart.Whole(Dynamic.el(el, Object.class))));
  }

  /** Appends a list of messages, computed from the session; each is a map in OpenAI's format. */
  public ChatRequestBuilder messages(Function<Session, List<?>> messages) {
    return with(request.and(new MessagePart.Whole(Dynamic.of(s -> (Object) messages.apply(s)))));
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

  private ChatRequestBuilder message(String role, Dynamic<String> text) {
    return with(request.and(new MessagePart.Text(role, text)));
  }
}
