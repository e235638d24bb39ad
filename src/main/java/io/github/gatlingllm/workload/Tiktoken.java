package io.github.gatlingllm.workload;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingRegistry;
import com.knuddels.jtokkit.api.EncodingType;

/** OpenAI's byte pair encodings, by jtokkit. Special tokens in a text are counted as plain text. */
record Tiktoken(EncodingType type) implements Tokenizer {

  static final Tiktoken CL100K = new Tiktoken(EncodingType.CL100K_BASE);

  /** Loads the tables of an encoding when they are first asked for. */
  private static final EncodingRegistry TABLES = Encodings.newLazyEncodingRegistry();

  @Override
  public String name() {
    return "tiktoken:" + type.getName();
  }

  @Override
  public int count(String text) {
    return encoding().countTokensOrdinary(text);
  }

  @Override
  public String head(String text, int tokens) {
    Encoding encoding = encoding();
    var encoded = encoding.encodeOrdinary(text, tokens);
    return encoded.isTruncated() ? encoding.decode(encoded.getTokens()) : text;
  }

  private Encoding encoding() {
    return TABLES.getEncoding(type);
  }
}
