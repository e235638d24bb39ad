package io.github.gatlingllm.client;

import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The token counts that the server reports with one answer. */
final class TokenCounts {

  private static final int UNKNOWN = -1;

  private int prompt = UNKNOWN;
  private int completion = UNKNOWN;
  private int cached = UNKNOWN;
  private int reasoning = UNKNOWN;
  private List<String> rejected = List.of();

  /** Takes one usage object. Of several the last one counts; an object of zeros is ignored. */
  int usage(int ofPrompt, int ofCompletion, int ofCache, int ofReasoning) {
    int promptTokens = checked(ofPrompt, "prompt_tokens");
    int completionTokens = checked(ofCompletion, "completion_tokens");
    if (promptTokens > 0 || completionTokens > 0) {
      prompt = lastNonZero(prompt, promptTokens);
      completion = lastNonZero(completion, completionTokens);
    }
    if (ofPrompt > 0 || ofCompletion > 0) {
      int cachedTokens = checked(ofCache, "cached_tokens");
      int reasoningTokens = checked(ofReasoning, "reasoning_tokens");
      cached = cachedTokens == UNKNOWN ? cached : cachedTokens;
      reasoning = reasoningTokens == UNKNOWN ? reasoning : reasoningTokens;
    }
    return completionTokens;
  }

  /** The count; {@value #UNKNOWN} where no answer can have so many tokens. */
  private int checked(int count, String name) {
    if (count <= RequestRecord.MAX_TOKENS) {
      return count;
    }
    if (!rejected.contains(name)) {
      rejected = new ArrayList<>(rejected);
      rejected.add(name);
    }
    return UNKNOWN;
  }

  private static int lastNonZero(int before, int count) {
    return count > 0 ? count : Math.max(before, count);
  }

  private static @Nullable Integer known(int count) {
    return count == UNKNOWN ? null : count;
  }

  @Nullable Integer prompt() {
    return known(prompt);
  }

  @Nullable Integer completion() {
    return known(completion);
  }

  @Nullable Integer cached() {
    return known(cached);
  }

  @Nullable Integer reasoning() {
    return known(reasoning);
  }

  List<String> rejected() {
    return rejected;
  }
}
