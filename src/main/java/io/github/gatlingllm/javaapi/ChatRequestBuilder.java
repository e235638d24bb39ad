package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.ActionBuilder;
import io.github.gatlingllm.action.LlmRequest;

/**
 * A request that sends messages: a chat completion, or the equivalent request to the APIs {@code
 * responses} and {@code messages}. Messages and parameters are translated to the API's own fields.
 *
 * <pre>{@code
 * llm("ask").chat().system("You are a helpful assistant.").user("#{prompt}").maxTokens(256)
 *     .check(finishReason().is("length"), ttft().lt(500), answer().saveAs("draft"))
 * }</pre>
 */
public final class ChatRequestBuilder extends ChatBuilder<ChatRequestBuilder>
    implements ActionBuilder {

  ChatRequestBuilder(LlmRequest request) {
    super(request);
  }

  @Override
  ChatRequestBuilder with(LlmRequest changed) {
    return new ChatRequestBuilder(changed);
  }
}
