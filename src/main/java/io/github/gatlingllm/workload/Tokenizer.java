package io.github.gatlingllm.workload;

/**
 * Splits text into tokens. Too slow for an event loop; thread-safe.
 *
 * <p>Counts are of the plain text, without the tokens that a chat template or the model's special
 * tokens add.
 */
public interface Tokenizer {

  /** Its name in settings and reports, e.g. {@code tiktoken:cl100k_base}. */
  String name();

  /** Number of tokens of the text, ≥ 0. */
  int count(String text);

  /**
   * The longest prefix of the text that has at most that many tokens and ends with a whole
   * character.
   *
   * <p>Tokenized on its own, the result may have fewer than {@code tokens} tokens, with some
   * tokenizers more. Callers that need an exact count must count it again.
   *
   * @param tokens ≥ 0
   */
  String head(String text, int tokens);

  /**
   * The tokenizer of that {@link #name}.
   *
   * @param name {@code auto} for {@code tiktoken:cl100k_base}, {@code chars4}, {@code
   *     tiktoken:<encoding>}, or {@code hf:<tokenizer.json>}
   * @throws IllegalArgumentException with a one-line message, if there is no such tokenizer
   */
  static Tokenizer parse(String name) {
    if (name.equals("auto")) {
      return cl100k();
    }
    if (name.equals(CharsPerToken.FOUR.name())) {
      return chars4();
    }
    if (name.startsWith(Tiktoken.PREFIX)) {
      return tiktoken(name.substring(Tiktoken.PREFIX.length()));
    }
    if (name.startsWith(HuggingFace.PREFIX)) {
      return huggingFace(name.substring(HuggingFace.PREFIX.length()));
    }
    throw new IllegalArgumentException(
        ("tokenizer '%s' is unknown; expected auto, chars4, tiktoken:<encoding> or"
                + " hf:<tokenizer.json>")
            .formatted(name));
  }

  /** OpenAI's {@code cl100k_base}; its tables (1.6 MB) are loaded on first use. */
  static Tokenizer cl100k() {
    return Tiktoken.CL100K;
  }

  /**
   * One of OpenAI's encodings; its tables are loaded on first use. Special tokens such as {@code
   * <|endoftext|>} are counted as plain text.
   *
   * @param encoding e.g. {@code o200k_base}
   * @throws IllegalArgumentException with a one-line message that lists all encodings, if it is not
   *     one of them
   */
  static Tokenizer tiktoken(String encoding) {
    return Tiktoken.of(encoding);
  }

  /**
   * The tokenizer of a model on Hugging Face, through that project's library: it counts as the
   * server of the model does. A special token in the text counts as one token. No special tokens
   * are added, and texts are neither truncated nor padded, whatever the file specifies.
   *
   * <p>Needs the optional dependency {@code ai.djl.huggingface:tokenizers} on the class path, which
   * contains the native library for Linux (x86-64, aarch64), macOS (aarch64) and Windows (x86-64).
   * Nothing is downloaded and no usage is reported: {@code ai.djl.offline=true} is set unless
   * {@code DJL_OFFLINE} or that property has another value. On first use the library is unpacked
   * (15 MB) to {@code .djl.ai/tokenizers} in the home directory, or in the temporary directory if
   * the home directory is not writable. {@code DJL_CACHE_DIR}, an environment variable or a system
   * property, sets another directory; {@code RUST_LIBRARY_PATH} sets an installed library.
   *
   * @param file path of a {@code tokenizer.json}
   * @throws IllegalArgumentException with a one-line message, if the dependency or the file is
   *     missing, or the file has another form
   */
  static Tokenizer huggingFace(String file) {
    return HuggingFace.open(file);
  }

  /** One token per four characters, rounded up: an estimate without tables. */
  static Tokenizer chars4() {
    return CharsPerToken.FOUR;
  }

  /** One token per {@code chars} characters (Unicode code points), rounded up: an estimate. */
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
}
