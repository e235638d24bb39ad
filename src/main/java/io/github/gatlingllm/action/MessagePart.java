package io.github.gatlingllm.action;

import java.util.List;

/** One piece of a chat's message list, as the DSL describes it. */
public sealed interface MessagePart {

  /** A message of plain text. */
  record Text(String role, Dynamic<String> text) implements MessagePart {}

  /** What a tool that the model called gave back. */
  record ToolResult(Dynamic<String> callId, Dynamic<String> text) implements MessagePart {}

  /** A message of a text, unless that is empty, and images by URL. */
  record Illustrated(String role, Dynamic<String> text, List<Dynamic<String>> imageUrls)
      implements MessagePart {}

  /** Whole messages: a list of maps, JSON text of an array, or a recorded dialog. */
  record Whole(Dynamic<Object> messages) implements MessagePart {}

  /** The conversation that is kept under this session key. */
  record History(String sessionKey) implements MessagePart {}

  /** That conversation, and the next turn of the dialog that it follows. */
  record NextTurn(String sessionKey) implements MessagePart {}
}
