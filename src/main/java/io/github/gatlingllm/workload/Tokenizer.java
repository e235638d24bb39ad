package io.github.gatlingllm.workload;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Splits plain text into tokens, without those of a chat template. Slow; thread-safe. */
public interface Tokenizer {

  Tokenizer CHARS4 =
      new Tokenizer() {
        @Override
        public String name() {
          return "chars4";
        }

        @Override
        public int count(String text) {
          return (text.codePointCount(0, text.length()) + 3) / 4;
        }

        @Override
        public String head(String text, int tokens) {
          long max = 4L * tokens;
          return max >= text.codePointCount(0, text.length())
              ? text
              : text.substring(0, text.offsetByCodePoints(0, (int) max));
        }
      };

  /** Its name in settings and reports, e.g. {@code tiktoken:cl100k_base}. */
  String name();

  int count(String text);

  /** The longest prefix of at most that many tokens that ends with a complete character. */
  String head(String text, int tokens);

  /** Texts that are going to be counted: for tokenizers that count many faster than one by one. */
  default void prepare(List<String> texts) {}

  /** The same behind a table of words, where these add up to texts. */
  default Tokenizer byWords() {
    return WordCounts.of(this);
  }

  /** The tokenizer of that {@link #name}; {@code auto} is {@code cl100k_base}. */
  static Tokenizer parse(String name) {
    if (name.equals("auto") || name.equals(ServerTokenizer.NAME)) {
      return new UnresolvedServer(name);
    }
    if (name.equals(CHARS4.name())) {
      return chars4();
    }
    if (name.startsWith(Tiktoken.PREFIX)) {
      return tiktoken(name.substring(Tiktoken.PREFIX.length()));
    }
    if (name.startsWith(HuggingFace.PREFIX)) {
      return huggingFace(name.substring(HuggingFace.PREFIX.length()));
    }
    throw new IllegalArgumentException(
        ("tokenizer '%s' is unknown; expected auto, server, chars4, tiktoken:<encoding>"
                + " or hf:<tokenizer.json or model>")
            .formatted(name));
  }

  /** OpenAI's {@code cl100k_base}; its tables (1.6 MB) are loaded on first use. */
  static Tokenizer cl100k() {
    return Tiktoken.CL100K;
  }

  /** One of OpenAI's encodings, e.g. {@code o200k_base}; its tables are loaded on first use. */
  static Tokenizer tiktoken(String encoding) {
    return Tiktoken.of(encoding);
  }

  /**
   * The tokenizer of a model on Hugging Face, of a {@code tokenizer.json}, of the folder that has
   * it, or of {@code <owner>/<name>} on the Hub, whose file is downloaded once: counts as its
   * server does, without special tokens, truncation or padding.
   *
   * <p>Needs the optional dependency {@code ai.djl.huggingface:tokenizers}. The library downloads
   * nothing: {@code ai.djl.offline=true} is set unless it has another value. On first use the
   * native library is unpacked (15 MB) to {@code .djl.ai/tokenizers} in the home directory, or to
   * {@code DJL_CACHE_DIR}; {@code RUST_LIBRARY_PATH} sets an installed one.
   */
  static Tokenizer huggingFace(String file) {
    return HuggingFace.open(file, System.getenv());
  }

  /**
   * By the {@code tokenizer.json} of a model whose name is that of a file or folder, or {@code
   * <owner>/<name>} on the Hub; null for other names.
   *
   * @throws IllegalArgumentException why it is not to be had
   */
  static @Nullable Tokenizer ofModelFile(String model, Map<String, String> environment) {
    return HuggingFace.isNamed(model) ? HuggingFace.open(model, environment) : null;
  }

  /** That of a model of OpenAI by its name; null for other names. */
  static @Nullable Tokenizer ofModel(String model) {
    return Tiktoken.ofModel(model);
  }

  /** One token per four characters (Unicode code points), rounded up: an estimate. */
  static Tokenizer chars4() {
    return CHARS4;
  }

  /** A text that has not been counted before the load, or that the server did not count. */
  final class Uncounted extends IllegalStateException {
    private static final long serialVersionUID = 1;

    Uncounted(String why, @Nullable Throwable cause) {
      super(why, cause);
    }
  }

  /** That of a server which is not known yet: {@code cl100k_base} until then. */
  record UnresolvedServer(String setting) implements Tokenizer {

    public boolean isDemanded() {
      return setting.equals(ServerTokenizer.NAME);
    }

    @Override
    public String name() {
      return cl100k().name();
    }

    @Override
    public int count(String text) {
      return cl100k().count(text);
    }

    @Override
    public String head(String text, int tokens) {
      return cl100k().head(text, tokens);
    }
  }
}
