package io.github.gatlingllm.workload;

import java.util.function.ToIntFunction;

/** Counts as a test says; a head has a character per token. */
record FakeTokenizer(ToIntFunction<String> counting) implements Tokenizer {

  @Override
  public String name() {
    return "fake";
  }

  @Override
  public int count(String text) {
    return counting.applyAsInt(text);
  }

  @Override
  public String head(String text, int tokens) {
    return text.substring(0, Math.min(text.length(), tokens));
  }
}
