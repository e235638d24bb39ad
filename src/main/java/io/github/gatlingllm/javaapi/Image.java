package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.Dynamic;

/** A picture that a user shows; see {@link LlmDsl#image(String)}. */
public sealed interface Image permits ImageContent, NoiseImage {

  /** For internal use only: its URL. */
  Dynamic<String> url();
}
