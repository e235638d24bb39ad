package io.github.gatlingllm.workload;

/**
 * One token per {@code chars} characters (Unicode code points): a rule of thumb, not a vocabulary.
 */
record CharsPerToken(int chars) implements Tokenizer {

  static final CharsPerToken FOUR = new CharsPerToken(4);

  @Override
  public String name() {
    return "chars" + chars;
  }

  @Override
  public int count(String text) {
    return (text.codePointCount(0, text.length()) + chars - 1) / chars;
  }

  @Override
  public String head(String text, int tokens) {
    long most = (long) tokens * chars;
    return most >= text.codePointCount(0, text.length())
        ? text
        : text.substring(0, text.offsetByCodePoints(0, (int) most));
  }
}
