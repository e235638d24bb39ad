package io.github.gatlingllm.testing;

import com.fasterxml.jackson.databind.node.TextNode;

/** The JSON of the usual events of a chat stream, as OpenAI-compatible servers send them. */
public final class ChatChunks {

  private ChatChunks() {}

  public static String role() {
    return chunk("{\"role\":\"assistant\",\"content\":\"\"}", "null");
  }

  public static String content(String text) {
    return chunk("{\"content\":" + quoted(text) + "}", "null");
  }

  /** Reasoning text, in vLLM's {@code reasoning_content}. */
  public static String reasoning(String text) {
    return chunk("{\"reasoning_content\":" + quoted(text) + "}", "null");
  }

  /** The chunk that ends the choice, e.g. {@code stop} or {@code length}. */
  public static String finish(String reason) {
    return chunk("{}", quoted(reason));
  }

  /** The chunk without choices that {@code stream_options.include_usage} asks for. */
  public static String usage(int promptTokens, int completionTokens) {
    return "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
        + "\"model\":\"scripted\",\"choices\":[],\"usage\":{\"prompt_tokens\":"
        + promptTokens
        + ",\"completion_tokens\":"
        + completionTokens
        + ",\"total_tokens\":"
        + (promptTokens + completionTokens)
        + "}}";
  }

  /** A chunk that has the usage so far, as some servers send it with each. */
  public static String withUsage(String chunk, int promptTokens, int completionTokens) {
    return "%s,\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}"
        .formatted(chunk.substring(0, chunk.length() - 1), promptTokens, completionTokens);
  }

  /** Answer text of one of several choices; the finish reason is JSON. */
  public static String choice(int index, String text, String finishReason) {
    return "{\"choices\":[{\"index\":%d,\"delta\":{\"content\":\"%s\"},\"finish_reason\":%s}]}"
        .formatted(index, text, finishReason);
  }

  public static String body(String text) {
    return "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"%s\"},\"finish_reason\":\"stop\"}]}"
        .formatted(text);
  }

  public static String error(String message) {
    return "{\"error\":{\"message\":" + quoted(message) + "}}";
  }

  /** Any delta of choice 0; both arguments are JSON. */
  public static String chunk(String delta, String finishReason) {
    return "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
        + "\"model\":\"scripted\",\"choices\":[{\"index\":0,\"delta\":"
        + delta
        + ",\"finish_reason\":"
        + finishReason
        + "}]}";
  }

  private static String quoted(String text) {
    return TextNode.valueOf(text).toString();
  }
}
