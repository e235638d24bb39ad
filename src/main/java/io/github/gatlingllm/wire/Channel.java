package io.github.gatlingllm.wire;

/** What a piece of generated text is: every channel bears tokens, only one of them is reasoning. */
public enum Channel {
  /** The answer: {@code delta.content}, {@code text}, {@code message.content}. */
  CONTENT,
  /** Thinking before the answer: {@code reasoning} or {@code reasoning_content}. */
  REASONING,
  /** Why the model does not answer: {@code refusal}. */
  REFUSAL,
  /** {@code tool_calls[].function.name}. */
  TOOL_NAME,
  /** A piece of {@code tool_calls[].function.arguments}. */
  TOOL_ARGUMENTS
}
