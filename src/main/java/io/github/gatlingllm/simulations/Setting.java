package io.github.gatlingllm.simulations;

import io.github.gatlingllm.metric.Spelling;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Every setting of the benchmark. The constant's name is its environment name without {@code LLM_};
 * the system property is the same in camel case: {@code TOP_P} is {@code llm.topP} and {@code
 * LLM_TOP_P}.
 */
enum Setting {
  ENDPOINT,
  MODEL,
  API_KEY,
  API,
  STREAM,
  CONCURRENCY,
  RATE,
  ARRIVAL,
  DURATION,
  REQUESTS,
  WARMUP,
  FILL,
  STABILIZE,
  MEASURE,
  TRIALS,
  DRAIN,
  STOP_WHEN,
  SEARCH,
  MAX_TOKENS,
  IGNORE_EOS,
  PROMPT,
  PROMPTS,
  PROMPT_TOKENS,
  DATASET,
  SCENARIO,
  MIX,
  UNIQUE_PROMPTS,
  SHARED_PREFIX,
  TOKENIZER,
  TEMPERATURE,
  TOP_P,
  BODY,
  TIMEOUT,
  IDLE_TIMEOUT,
  SLO,
  SLO_PERCENTILE,
  ASSERT,
  SEED,
  RECORD_TEXT,
  RECORD_TOKENS,
  CSV,
  MAX_IN_FLIGHT,
  INTERLEAVE,
  VERIFY_TLS,
  CONNECTIONS,
  INDEX_BLOCK,
  FAIL_BUILD,
  DRY_RUN,

  METRICS_URL(false),
  LIVE(false);

  private final boolean available;
  private final String key;

  Setting() {
    this(true);
  }

  Setting(boolean available) {
    this.available = available;
    this.key = camelCase(name());
  }

  /** Whether this version has it; one that it does not have is refused, never ignored. */
  boolean isAvailable() {
    return available;
  }

  /** The name after {@code llm.}, e.g. {@code maxTokens}. */
  String key() {
    return key;
  }

  /** The system property, e.g. {@code llm.maxTokens}. */
  String property() {
    return "llm." + key;
  }

  /** The environment variable, e.g. {@code LLM_MAX_TOKENS}. */
  String variable() {
    return "LLM_" + name();
  }

  /** Whether its value must never be shown. */
  boolean isSecret() {
    return this == API_KEY;
  }

  /** The setting of that property name after {@code llm.}; null when there is none. */
  static @Nullable Setting ofKey(String key) {
    return Arrays.stream(values()).filter(s -> s.key.equals(key)).findFirst().orElse(null);
  }

  /** The setting of that environment name; null when there is none. */
  static @Nullable Setting ofVariable(String variable) {
    return Arrays.stream(values())
        .filter(s -> s.variable().equals(variable))
        .findFirst()
        .orElse(null);
  }

  /** The one of {@link #values} whose spelling comes closest. */
  static Setting nearest(String name) {
    List<String> keys = Stream.of(values()).map(Setting::key).toList();
    return values()[keys.indexOf(Spelling.nearest(name, keys, 1).get(0))];
  }

  private static String camelCase(String upperSnake) {
    StringBuilder camel = new StringBuilder();
    for (String word : upperSnake.split("_", -1)) {
      String lower = word.toLowerCase(Locale.ROOT);
      camel.append(camel.isEmpty() ? lower : word.charAt(0) + lower.substring(1));
    }
    return camel.toString();
  }
}
