package io.github.gatlingllm.simulations;

/** Common lengths of prompts and answers. */
enum LengthPreset {
  /** Long prompts, short answers: summaries, retrieval. */
  PREFILL_HEAVY("prefillHeavy", 8192, 1024),
  /** Equal lengths: chat. */
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

  /** The name and the lengths, for the help text. */
  String inWords() {
    return key + " (" + promptTokens + " in, " + maxTokens + " out)";
  }

  /** The name used in settings. */
  @Override
  public String toString() {
    return key;
  }
}
