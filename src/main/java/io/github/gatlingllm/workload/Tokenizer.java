package io.github.gatlingllm.workload;

/**
 * Divides text into tokens. Too slow for an event loop; safe for use by several threads.
 *
 * <p>Its counts are those of the bare text: what a chat template adds around messages is not in
 * them.
 */
public interface Tokenizer {

  /** As it is named in settings and reports, e.g. {@code tiktoken:cl100k_base}. */
  String name();

  /** How many tokens the text has, ≥ 0. */
  int count(String text);

  /**
   * The longest beginning of the text that has at most that many tokens and ends with a whole
   * character; all of it where it has no more.
   *
   * <p>Cut texts are tokenized anew by whoever gets them: its count may come out lower than {@code
   * tokens}, and with some tokenizers higher. Who needs an exact count verifies.
   *
   * @param tokens ≥ 0
   */
  String head(String text, int tokens);

  /** OpenAI's {@code cl100k_base}; its tables (1.6 MB) are loaded on first use. */
  static Tokenizer cl100k() {
    return Tiktoken.CL100K;
  }

  /** One token per four characters, begun ones included: an estimate that needs no tables. */
  static Tokenizer chars4() {
    return CharsPerToken.FOUR;
  }
}
