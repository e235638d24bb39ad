package io.github.gatlingllm.client;

/** OpenAI chat completions: messages in, a message out. */
final class ChatApi extends Api {

  ChatApi() {
    super("chat", "/chat/completions", "messages");
  }

  @Override
  public boolean takesMessages() {
    return true;
  }

  @Override
  boolean renamesLimit() {
    return true;
  }
}
