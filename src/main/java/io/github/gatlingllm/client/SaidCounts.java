package io.github.gatlingllm.client;

import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The tokens of one answer as its server counts them; {@value #UNKNOWN} where it said nothing. */
final class SaidCounts {

  static final int UNKNOWN = -1;

  private int prompt = UNKNOWN;
  private int completion = UNKNOWN;
  private int cached = UNKNOWN;
  private int reasoning = UNKNOWN;
  private List<String> refused = List.of();

  /**
   * One usage object; of several the last counts, and one of zeros says nothing.
   *
   * @return the tokens of the answer as it says them, if an answer can have so many
   */
  int usage(int ofPrompt, int ofAnswer, int ofCache, int ofReasoning) {
    int promptTokens = possible(ofPrompt, "prompt_tokens");
    int answerTokens = possible(ofAnswer, "completion_tokens");
    if (promptTokens > 0 || answerTokens > 0) {
      prompt = lastSaid(prompt, promptTokens);
      completion = lastSaid(completion, answerTokens);
    }
    if (ofPrompt > 0 || ofAnswer > 0) {
      int cachedTokens = possible(ofCache, "cached_tokens");
      int reasoningTokens = possible(ofReasoning, "reasoning_tokens");
      cached = cachedTokens == UNKNOWN ? cached : cachedTokens;
      reasoning = reasoningTokens == UNKNOWN ? reasoning : reasoningTokens;
    }
    return answerTokens;
  }

  /** The count; as if it had not been said where no answer can have it. */
  private int possible(int count, String name) {
    if (count <= RequestRecord.MOST_TOKENS) {
      return count;
    }
    if (!refused.contains(name)) {
      refused = new ArrayList<>(refused);
      refused.add(name);
    }
    return UNKNOWN;
  }

  /** The last count that is not zero; zero where there was no other. */
  private static int lastSaid(int before, int count) {
    return count > 0 ? count : Math.max(before, count);
  }

  static @Nullable Integer known(int count) {
    return count == UNKNOWN ? null : count;
  }

  int prompt() {
    return prompt;
  }

  int completion() {
    return completion;
  }

  int cached() {
    return cached;
  }

  int reasoning() {
    return reasoning;
  }

  /** Counts that no answer can have, by name. */
  List<String> refused() {
    return refused;
  }
}
