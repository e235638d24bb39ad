package io.github.gatlingllm.workload;

/**
 * Divides text into tokens. Too slow for an event loop; safe for use by several threads.
 *
 * <p>Its counts are those of the bare text: what a chat template adds around messages, and the
 * special tokens that a model puts before or after a text, are not in them.
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
   * <p>Tokenized again on its own, the cut text may have fewer than {@code tokens} tokens, and with
   * some tokenizers more. Callers that need an exact count must count it again.
   *
   * @param tokens ≥ 0
   */
  String head(String text, int tokens);

  /**
   * The tokenizer of that {@link #name}.
   *
   * @param name {@code auto} for {@code tiktoken:cl100k_base}, {@code chars4}, {@code
   *     tiktoken:<encoding>}, or {@code hf:<tokenizer.json>}
   * @throws IllegalArgumentException in one line, if there is no such tokenizer
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
   * <|endoftext|>} are counted as the plain text that they are written in.
   *
   * @param encoding e.g. {@code o200k_base}
   * @throws IllegalArgumentException in one line with all encodings, if it is none of them
   */
  static Tokenizer tiktoken(String encoding) {
    return Tiktoken.of(encoding);
  }

  /**
   * The tokenizer of a model on Hugging Face, by that project's own library: what the server of
   * that model counts. Special tokens that a text spells out count as one; none are added, and
   * texts are neither truncated nor padded, whatever the file says.
   *
   * <p>Needs {@code ai.djl.huggingface:tokenizers} on the class path, an optional dependency of
   * ours. It brings the library for Linux (x86-64, aarch64), macOS (aarch64) and Windows (x86-64)
   * and nothing is downloaded: it is told to stay offline ({@code ai.djl.offline=true}) unless
   * {@code DJL_OFFLINE} or that property says otherwise, and so does not report its use either. On
   * first use the library is unpacked (15 MB) to {@code .djl.ai/tokenizers} in the home directory,
   * or in the temporary directory where the home directory cannot be written, and found there from
   * then on; {@code DJL_CACHE_DIR}, an environment variable or a system property, names another
   * directory, and {@code RUST_LIBRARY_PATH} a library that is installed already.
   *
   * @param file path of a {@code tokenizer.json}
   * @throws IllegalArgumentException in one line, if the dependency is missing, or the file is
   *     missing or not understood
   */
  static Tokenizer huggingFace(String file) {
    return HuggingFace.open(file);
  }

  /** One token per four characters, begun ones included: an estimate that needs no tables. */
  static Tokenizer chars4() {
    return CharsPerToken.FOUR;
  }

  /**
   * One token per {@code chars} characters (Unicode code points): a rule of thumb, not a
   * vocabulary.
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
}
