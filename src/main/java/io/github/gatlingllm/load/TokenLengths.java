package io.github.gatlingllm.load;

import org.jspecify.annotations.Nullable;

/**
 * How long a traced request was; requests that replay it may pin their lengths by it.
 *
 * @param input tokens of the prompt; null where the trace does not say
 * @param output generated tokens; null where the trace does not say
 */
public record TokenLengths(@Nullable Integer input, @Nullable Integer output) {
  /** Session attribute of a replayed user: tokens of the prompt, an {@code Integer}. */
  public static final String INPUT_KEY = "inputTokens";

  /** Session attribute of a replayed user: tokens to generate, an {@code Integer}. */
  public static final String OUTPUT_KEY = "outputTokens";
}
