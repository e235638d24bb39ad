package io.github.gatlingllm.engine;

import org.jspecify.annotations.Nullable;

/**
 * Token counts of one response, all choices together.
 *
 * @param cachedTokens prompt tokens from the prefix cache, of the first choice
 * @param reasoningTokens of the completion tokens; null for an engine that does not reason
 */
record Usage(
    int promptTokens, int completionTokens, int cachedTokens, @Nullable Integer reasoningTokens) {

  /** The JSON object of that name in OpenAI's API. */
  String json() {
    String reasoning =
        reasoningTokens == null
            ? ""
            : ",\"completion_tokens_details\":{\"reasoning_tokens\":" + reasoningTokens + "}";
    return "{\"prompt_tokens\":"
        + promptTokens
        + ",\"completion_tokens\":"
        + completionTokens
        + ",\"total_tokens\":"
        + (promptTokens + completionTokens)
        + ",\"prompt_tokens_details\":{\"cached_tokens\":"
        + cachedTokens
        + "}"
        + reasoning
        + "}";
  }
}
