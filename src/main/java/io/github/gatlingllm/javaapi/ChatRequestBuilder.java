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
 * A request that sends messages: a chat completion, or the same by the APIs {@code responses} and
 * {@code messages}, which are sent what is said here in their own words.
 *
 * <pre>{@code
 * llm("ask").chat().system("You are a helpful assistant.").user("#{prompt}").maxTokens(256)
 *     .check(finishReason().is("length"), ttft().lt(500), answer().saveAs("draft"))
 * }</pre>
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 */
public final class ChatRequestBuilder extends GenerationRequestBuilder<ChatRequestBuilder> {

  ChatRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  ChatRequestBuilder with(LlmRequest changed) {
    return new ChatRequestBuilder(changed);
  }

  /** The conversation so far, before what is asked here; see {@link ChatStep#history}. */
  public ChatRequestBuilder history(String sessionKey) {
    return with(request.withHistory(sessionKey));
  }

  /** One more message of the system; a Gatling EL String. */
  public ChatRequestBuilder system(String text) {
    return message("system", Dynamic.text(text));
  }

  /** One more message of the system, computed from the session. */
  public ChatRequestBuilder system(Function<Session, String> text) {
    return message("system", Dynamic.of(text));
  }

  /** One more message of the user; a Gatling EL String. */
  public ChatRequestBuilder user(String text) {
    return message("user", Dynamic.text(text));
  }

  /** One more message of the user, computed from the session. */
  public ChatRequestBuilder user(Function<Session, String> text) {
    return message("user", Dynamic.of(text));
  }

  /**
   * One more message of the user, with images.
   *
   * <pre>{@code
   * llm("look").chat().user("What is in #{what}?", image("cat.png"), image(512, 512).variants(16))
   * }</pre>
   *
   * @param text a Gatling EL String; empty for none
   */
  public ChatRequestBuilder user(String text, Image image, Image... more) {
    return illustrated(Dynamic.text(text), image, more);
  }

  /** As {@link #user(String, Image, Image...)}, the text computed from the session. */
  public ChatRequestBuilder user(Function<Session, String> text, Image image, Image... more) {
    return illustrated(Dynamic.of(text), image, more);
  }

  private ChatRequestBuilder illustrated(Dynamic<String> text, Image image, Image... more) {
    List<Dynamic<String>> urls =
        Stream.concat(Stream.of(image), Stream.of(more)).map(Image::url).toList();
    return with(request.and(new MessagePart.Illustrated("user", text, urls)));
  }

  /** One more message of the assistant; a Gatling EL String. */
  public ChatRequestBuilder assistant(String text) {
    return message("assistant", Dynamic.text(text));
  }

  /** One more message of the assistant, computed from the session. */
  public ChatRequestBuilder assistant(Function<Session, String> text) {
    return message("assistant", Dynamic.of(text));
  }

  /** The result of a tool call; Gatling EL Strings. */
  public ChatRequestBuilder tool(String callId, String text) {
    return with(request.and(new MessagePart.ToolResult(Dynamic.text(callId), Dynamic.text(text))));
  }

  /** The result of a tool call, computed from the session. */
  public ChatRequestBuilder tool(Function<Session, String> callId, Function<Session, String> text) {
    return with(request.and(new MessagePart.ToolResult(Dynamic.of(callId), Dynamic.of(text))));
  }

  /**
   * The results of the tools that the model called last, one message each.
   *
   * <pre>{@code
   * llm("report").chat().history("h").toolResults("calls", call -> weatherIn(call.arguments()))
   * }</pre>
   *
   * @param sessionKey where {@code toolCalls().saveAs(…)} has kept the calls
   * @param tool gives the result of a call
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
   * A whole list of messages, in OpenAI's form.
   *
   * @param el a Gatling EL String for a session attribute that is a list of maps, a {@link
   *     io.github.gatlingllm.workload.Dialog} of a dataset (up to its last user message, with its
   *     tools unless others are set), or JSON text of an array
   */
  public ChatRequestBuilder messages(String el) {
    return with(request.and(new MessagePart.Whole(Dynamic.el(el, Object.class))));
  }

  /** A whole list of messages, each a map in OpenAI's form, computed from the session. */
  public ChatRequestBuilder messages(Function<Session, List<?>> messages) {
    return with(request.and(new MessagePart.Whole(Dynamic.of(s -> (Object) messages.apply(s)))));
  }

  /** The tools the model may call: a JSON array; a Gatling EL String. */
  public ChatRequestBuilder tools(String json) {
    return edit(draft -> draft.tools = Dynamic.text(json));
  }

  /** As {@link #tools(String)}, computed from the session. */
  public ChatRequestBuilder tools(Function<Session, String> json) {
    return edit(draft -> draft.tools = Dynamic.of(json));
  }

  /**
   * Whether and which tools the model calls: a JSON value such as {@code "auto"} with its quotes; a
   * Gatling EL String.
   */
  public ChatRequestBuilder toolChoice(String json) {
    return edit(draft -> draft.toolChoice = Dynamic.text(json));
  }

  /** As {@link #toolChoice(String)}, computed from the session. */
  public ChatRequestBuilder toolChoice(Function<Session, String> json) {
    return edit(draft -> draft.toolChoice = Dynamic.of(json));
  }

  /** The form the answer must have: a JSON object such as a JSON schema; a Gatling EL String. */
  public ChatRequestBuilder responseFormat(String json) {
    return edit(draft -> draft.responseFormat = Dynamic.text(json));
  }

  /** As {@link #responseFormat(String)}, computed from the session. */
  public ChatRequestBuilder responseFormat(Function<Session, String> json) {
    return edit(draft -> draft.responseFormat = Dynamic.of(json));
  }

  /**
   * Asks for the log probability of each token, and of the likeliest ones in its place.
   *
   * @param top how many of these, 0 to 20
   */
  public ChatRequestBuilder logprobs(int top) {
    return parameter("logprobs", Dynamic.of(true)).parameter("top_logprobs", Dynamic.of(top));
  }

  private ChatRequestBuilder message(String role, Dynamic<String> text) {
    return with(request.and(new MessagePart.Text(role, text)));
  }
}
