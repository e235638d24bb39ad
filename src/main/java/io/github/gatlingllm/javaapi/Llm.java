package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.action.LlmRequest.MessagePart;
import io.github.gatlingllm.client.Api;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/** A request with a name that still needs its API. */
public final class Llm {

  private final Dynamic<String> name;

  Llm(Dynamic<String> name) {
    this.name = name;
  }

  /** A chat completion: {@code POST …/chat/completions}. */
  public ChatStep chat() {
    return new ChatStep(new LlmRequest(name, Api.CHAT));
  }

  /** OpenAI's Responses API, which streams typed events: {@code POST …/responses}. */
  public ChatStep responses() {
    return new ChatStep(new LlmRequest(name, Api.RESPONSES));
  }

  /**
   * Anthropic's Messages API: {@code POST …/messages}. It requires {@code maxTokens}. The API key
   * is also sent as {@code x-api-key}, and {@code anthropic-version} is {@code 2023-06-01} unless a
   * header sets it.
   */
  public ChatStep messages() {
    return new ChatStep(new LlmRequest(name, Api.MESSAGES));
  }

  /** A text completion: {@code POST …/completions}. */
  public CompletionStep completion() {
    return new CompletionStep(new LlmRequest(name, Api.COMPLETIONS));
  }

  /** Embeddings of texts: {@code POST …/embeddings}. */
  public EmbeddingStep embeddings() {
    return new EmbeddingStep(new LlmRequest(name, Api.EMBEDDINGS));
  }

  /** A text completion that still needs its prompt. */
  public static final class CompletionStep {

    private final LlmRequest request;

    CompletionStep(LlmRequest request) {
      this.request = request;
    }

    /** The prompt; a Gatling EL String. */
    public CompletionRequestBuilder prompt(String prompt) {
      return new CompletionRequestBuilder(
          request.with(draft -> draft.prompt = Dynamic.text(prompt)));
    }

    public CompletionRequestBuilder prompt(Function<Session, String> prompt) {
      return new CompletionRequestBuilder(request.with(draft -> draft.prompt = Dynamic.of(prompt)));
    }
  }

  /** A request for embeddings that still needs its texts. */
  public static final class EmbeddingStep {

    private final LlmRequest request;

    EmbeddingStep(LlmRequest request) {
      this.request = request;
    }

    /** The texts to embed, all in one request; Gatling EL Strings. */
    public EmbeddingRequestBuilder input(String text, String... more) {
      List<Dynamic<String>> texts =
          Stream.concat(Stream.of(text), Arrays.stream(more)).map(Dynamic::text).toList();
      return new EmbeddingRequestBuilder(request.with(draft -> draft.inputs = texts));
    }

    public EmbeddingRequestBuilder input(Function<Session, List<String>> texts) {
      return new EmbeddingRequestBuilder(
          request.with(draft -> draft.inputList = Dynamic.of(texts)));
    }
  }

  /** The messages that a request can ask to answer. */
  public sealed interface MessageSteps<S extends MessageSteps<S>>
      permits ChatStep, ChatRequestBuilder {

    /** For internal use only: the request so far. */
    LlmRequest request();

    /** For internal use only: the same step of another request. */
    S step(LlmRequest changed);

    private ChatRequestBuilder and(MessagePart message) {
      return new ChatRequestBuilder(request().and(message));
    }

    private ChatRequestBuilder text(String role, Dynamic<String> text) {
      return and(new MessagePart.Text(role, text));
    }

    /**
     * Sends the conversation so far, that of {@link LlmDsl#conversation} in this session attribute,
     * before the messages of this request. If the request succeeds, its messages and the answer are
     * appended to the conversation.
     */
    default S history(String sessionKey) {
      return step(request().withHistory(sessionKey));
    }

    /** Appends a system message; a Gatling EL String. */
    default S system(String text) {
      return step(request().and(new MessagePart.Text("system", Dynamic.text(text))));
    }

    default S system(Function<Session, String> text) {
      return step(request().and(new MessagePart.Text("system", Dynamic.of(text))));
    }

    /** Appends a user message; a Gatling EL String. */
    default ChatRequestBuilder user(String text) {
      return text("user", Dynamic.text(text));
    }

    default ChatRequestBuilder user(Function<Session, String> text) {
      return text("user", Dynamic.of(text));
    }

    /**
     * Appends a user message with images: {@code user("What is in #{what}?", image("cat.png"))}.
     * The text is a Gatling EL String, empty for a message without text.
     */
    default ChatRequestBuilder user(String text, Image image, Image... more) {
      return illustrated(Dynamic.text(text), image, more);
    }

    default ChatRequestBuilder user(Function<Session, String> text, Image image, Image... more) {
      return illustrated(Dynamic.of(text), image, more);
    }

    private ChatRequestBuilder illustrated(Dynamic<String> text, Image image, Image... more) {
      List<Dynamic<String>> urls =
          Stream.concat(Stream.of(image), Stream.of(more)).map(Image::url).toList();
      return and(new MessagePart.Illustrated("user", text, urls));
    }

    /** Appends an assistant message; a Gatling EL String. */
    default ChatRequestBuilder assistant(String text) {
      return text("assistant", Dynamic.text(text));
    }

    default ChatRequestBuilder assistant(Function<Session, String> text) {
      return text("assistant", Dynamic.of(text));
    }

    /** Appends the result of a tool call; call id and text are Gatling EL Strings. */
    default ChatRequestBuilder tool(String callId, String text) {
      return and(new MessagePart.ToolResult(Dynamic.text(callId), Dynamic.text(text)));
    }

    default ChatRequestBuilder tool(
        Function<Session, String> callId, Function<Session, String> text) {
      return and(new MessagePart.ToolResult(Dynamic.of(callId), Dynamic.of(text)));
    }

    /**
     * Appends the results of the model's last tool calls, which {@code toolCalls().saveAs("calls")}
     * saved, one message per call: {@code toolResults("calls", call ->
     * weatherIn(call.arguments()))}.
     */
    default ChatRequestBuilder toolResults(
        String sessionKey, Function<LlmResponse.ToolCall, String> tool) {
      return and(
          new MessagePart.ToolResults(
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
     * Appends messages in OpenAI's format: a Gatling EL String for a session attribute that is a
     * list of maps, a {@link io.github.gatlingllm.workload.Conversation.Dialog} of a dataset (up to
     * its last user message, with its tools unless others are set), or JSON text of an array.
     */
    default ChatRequestBuilder messages(String el) {
      return and(new MessagePart.Whole(Dynamic.el(el, Object.class)));
    }

    /** Appends a list of messages, computed from the session; each is a map in OpenAI's format. */
    default ChatRequestBuilder messages(Function<Session, List<?>> messages) {
      return and(new MessagePart.Whole(Dynamic.of(s -> (Object) messages.apply(s))));
    }
  }
}
