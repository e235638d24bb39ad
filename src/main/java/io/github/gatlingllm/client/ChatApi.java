package io.github.gatlingllm.client;

/** OpenAI chat completions: messages in, a message out. */
final class ChatApi extends Api {

  ChatApi() {
    super("chat", "/chat/completions", "messages", null, Trait.MESSAGES, Trait.RENAMES_LIMIT);
  }
}
