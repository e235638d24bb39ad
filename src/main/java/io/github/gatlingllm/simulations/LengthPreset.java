package io.github.gatlingllm.simulations;

/** Lengths of prompts and answers that are often quoted, in thousands of tokens. */
enum LengthPreset {
  /** Long prompts, short answers: summaries, retrieval. */
  PREFILL_HEAVY("prefillHeavy", 8192, 1024),
  /** Both alike: chat. */
  BALANCED("balanced", 1024, 1024),
  /** Short prompts, long answers: reasoning, writing. */
  DECODE_HEAVY("decodeHeavy", 1024, 8192);

  private final String key;
  private final int promptTokens;
  private final int maxTokens;

  LengthPreset(String key, int promptTokens, int maxTokens) {
    this.key = key;
    this.promptTokens = promptTokens;
    this.maxTokens = maxTokens;
  }

  int promptTokens() {
    return promptTokens;
  }

  int maxTokens() {
    return maxTokens;
  }

  /** Its name and what it stands for. */
  String inWords() {
    return key + " (" + promptTokens + " in, " + maxTokens + " out)";
  }

  /** The name used in settings. */
  @Override
  public String toString() {
    return key;
  }
}
