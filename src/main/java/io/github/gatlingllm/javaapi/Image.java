package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.Dynamic;

/** An image in a user message; see {@link LlmDsl#image(String)}. */
public sealed interface Image permits ImageContent, NoiseImage {

  /** For internal use only: the URL that is sent. */
  Dynamic<String> url();
}
