package io.github.gatlingllm.workload;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingRegistry;
import com.knuddels.jtokkit.api.EncodingType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** OpenAI's encodings by jtokkit; special tokens in a text are counted as plain text. */
record Tiktoken(EncodingType type) implements Tokenizer {

  static final String PREFIX = "tiktoken:";

  static final Tiktoken CL100K = new Tiktoken(EncodingType.CL100K_BASE);

  /** Loads the tables of an encoding on first use. */
  private static final EncodingRegistry TABLES = Encodings.newLazyEncodingRegistry();

  static Tiktoken of(String encoding) {
    return EncodingType.fromName(encoding)
        .map(Tiktoken::new)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "encoding '" + encoding + "' is unknown; expected one of " + all()));
  }

  /** Models of OpenAI, the most specific first. */
  private static final Map<String, EncodingType> MODELS =
      new LinkedHashMap<>(
          Map.of("gpt-4-|gpt-4$|gpt-3\\.5|text-embedding-", EncodingType.CL100K_BASE));

  static {
    MODELS.put("gpt-4o|gpt-4\\.|gpt-5|chatgpt-|o[134](-|$)|gpt-oss", EncodingType.O200K_BASE);
  }

  static @Nullable Tiktoken ofModel(String model) {
    return MODELS.entrySet().stream()
        .filter(row -> Pattern.compile("^(openai/)?(" + row.getKey() + ")").matcher(model).find())
        .map(row -> new Tiktoken(row.getValue()))
        .findFirst()
        .orElse(null);
  }

  private static String all() {
    return Arrays.stream(EncodingType.values())
        .map(EncodingType::getName)
        .collect(Collectors.joining(", "));
  }

  @Override
  public String name() {
    return PREFIX + type.getName();
  }

  @Override
  public int count(String text) {
    return encoding().countTokensOrdinary(sent(text));
  }

  @Override
  public String head(String text, int tokens) {
    Encoding encoding = encoding();
    var encoded = encoding.encodeOrdinary(sent(text), tokens);
    return encoded.isTruncated() ? encoding.decode(encoded.getTokens()) : text;
  }

  private Encoding encoding() {
    return TABLES.getEncoding(type);
  }

  /** As the server receives it: an unpaired surrogate, which UTF-8 lacks, is a question mark. */
  static String sent(String text) {
    boolean isWellFormed =
        text.codePoints()
            .noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    return isWellFormed
        ? text
        : new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }
}
