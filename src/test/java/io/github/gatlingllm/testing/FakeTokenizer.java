package io.github.gatlingllm.testing;

import io.github.gatlingllm.workload.Tokenizer;
import java.util.function.ToIntFunction;

/** Counts as a test states; heads of texts have this number of tokens per letter. */
public record FakeTokenizer(ToIntFunction<String> counting, int tokensPerLetter)
    implements Tokenizer {

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
    return text.substring(0, Math.min(text.length(), tokens / tokensPerLetter));
  }
}
