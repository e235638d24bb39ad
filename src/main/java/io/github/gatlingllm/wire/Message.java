package io.github.gatlingllm.wire;

import org.jspecify.annotations.Nullable;

/**
 * One chat message of a request.
 *
 * @param role {@code system}, {@code user}, {@code assistant}, {@code tool}, …
 * @param content the text; null for an assistant message that only calls tools
 * @param parts content as a JSON array of parts, in place of the text
 * @param toolCalls the calls of an assistant message as a JSON array
 * @param toolCallId which call a {@code tool} message answers
 */
public record Message(
    String role,
    @Nullable String content,
    @Nullable String parts,
    @Nullable String toolCalls,
    @Nullable String toolCallId) {

  /** A message that is only text. */
  public static Message of(String role, String content) {
    return new Message(role, content, null, null, null);
  }

  public static Message system(String content) {
    return of("system", content);
  }

  public static Message user(String content) {
    return of("user", content);
  }

  public static Message assistant(String content) {
    return of("assistant", content);
  }

  /** A message whose content is a JSON array of parts, e.g. text and images. */
  public static Message parts(String role, String parts) {
    return new Message(role, null, parts, null, null);
  }

  /** What the model said when it called tools. */
  public static Message toolCalls(@Nullable String content, String toolCalls) {
    return new Message("assistant", content, null, toolCalls, null);
  }

  /** The result of a tool call. */
  public static Message tool(String toolCallId, String content) {
    return new Message("tool", content, null, null, toolCallId);
  }
}
