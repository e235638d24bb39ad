package io.github.gatlingllm.workload;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;

/** Counts the tokens of a text. Too slow for an event loop; safe for use by several threads. */
@FunctionalInterface
public interface Tokenizer {

  /** How many tokens the text has, ≥ 0. */
  int count(String text);

  /** OpenAI's {@code cl100k_base}, by jtokkit; its tables (1.6 MB) are loaded on first use. */
  static Tokenizer cl100k() {
    return text -> Cl100k.ENCODING.countTokensOrdinary(text);
  }

  /** Holds the encoding until somebody needs it. */
  final class Cl100k {
    private static final Encoding ENCODING =
        Encodings.newLazyEncodingRegistry().getEncoding(EncodingType.CL100K_BASE);

    private Cl100k() {}
  }
}
