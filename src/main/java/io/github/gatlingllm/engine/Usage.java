package io.github.gatlingllm.engine;

/** Token counts of one answer. There is no prefix cache: no prompt token is ever cached. */
record Usage(int promptTokens, int completionTokens) {

  /** The JSON object of that name in OpenAI's API. */
  String json() {
    return "{\"prompt_tokens\":"
        + promptTokens
        + ",\"completion_tokens\":"
        + completionTokens
        + ",\"total_tokens\":"
        + (promptTokens + completionTokens)
        + ",\"prompt_tokens_details\":{\"cached_tokens\":0}}";
  }
}
