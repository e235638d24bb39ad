package io.github.gatlingllm.action;

/** One piece of a chat's message list, as the DSL describes it. */
public sealed interface MessagePart {

  /** A message of plain text. */
  record Text(String role, Dynamic<String> text) implements MessagePart {}

  /** What a tool that the model called gave back. */
  record ToolResult(Dynamic<String> callId, Dynamic<String> text) implements MessagePart {}

  /** Whole messages: a list of maps, or JSON text of an array. */
  record Whole(Dynamic<Object> messages) implements MessagePart {}

  /** The conversation that is kept under this session key. */
  record History(String sessionKey) implements MessagePart {}
}
