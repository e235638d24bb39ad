package io.github.gatlingllm.record;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Timings and quotas that a server reports with an answer.
 *
 * @param timings by the key of {@link Timing}, in seconds; counts in tokens
 * @param names the server's names of the timings, e.g. {@code usage.queue_time}, in any order
 * @param rateLimits quotas: their limits, what remains of them, and when they are reset
 * @param retryAfterNanos the wait that the server asks for; null if it does not
 */
public record ServerReport(
    Map<String, Double> timings,
    List<String> names,
    Map<String, Double> rateLimits,
    @Nullable Long retryAfterNanos) {

  /** An answer without such a report. */
  public static final ServerReport NONE = new ServerReport(Map.of(), List.of(), Map.of(), null);

  /** Prefix of the names in the header {@code Server-Timing}. */
  public static final String SERVER_TIMING = "server-timing.";

  /** Longer times are ignored. */
  private static final double MAX_S = 86_400;

  /** That timing, in seconds; null if it is not reported. */
  public @Nullable Double timing(Timing timing) {
    return timings.get(timing.key);
  }

  /** That time in nanoseconds, at most a day; 0 if it is not reported or not positive. */
  public long nanos(Timing timing) {
    Double seconds = timing(timing);
    return seconds == null || !(seconds > 0) ? 0 : Math.round(Math.min(seconds, MAX_S) * 1e9);
  }

  /**
   * The timings that servers are known to report: key, title, and the names that servers give them,
   * a path in the body or a response header. {@code usage} is of Groq, also under {@code x_groq} of
   * a stream; {@code timings} of llama.cpp; {@code metrics} of vLLM with {@code
   * --enable-per-request-metrics}, whose first token counts from the end of its queue; {@code x-…}
   * of Text Generation Inference and LoRAX, where an answer is not streamed, and of gateways made
   * of Envoy.
   */
  @SuppressWarnings("ImmutableEnumChecker") // its list is a copy
  public enum Timing {
    QUEUE("queue_s", "queue", "usage.queue_time", "metrics.queue_time_ms", "x-queue-time"),
    /** From the end of the queue to the first token. */
    PREFILL(
        "prefill_s",
        "prefill",
        "usage.prompt_time",
        "timings.prompt_ms",
        "metrics.time_to_first_token_ms"),
    /** From the first token to the last. */
    DECODE(
        "decode_s",
        "decode",
        "usage.completion_time",
        "timings.predicted_ms",
        "metrics.generation_time_ms"),
    /** Prefill and decode. */
    INFERENCE("inference_s", "inference", "x-inference-time"),
    /** Checking and tokenizing the prompt. */
    VALIDATION("validation_s", "validation", "x-validation-time"),
    TIME_PER_TOKEN(
        "time_per_token_s",
        "time per token",
        "timings.predicted_per_token_ms",
        "metrics.mean_itl_ms",
        "x-time-per-token"),
    TOTAL("total_s", "total", "usage.total_time", "x-total-time"),
    /** Until the API began to answer. */
    PROCESSING("processing_s", "processing", "openai-processing-ms"),
    /** Until the server behind the gateway had answered with headers. */
    UPSTREAM("upstream_s", "behind the gateway", "x-envoy-upstream-service-time"),
    PROMPT_N("prompt_n", "prompt tokens processed", "timings.prompt_n"),
    CACHE_N("cache_n", "prompt tokens in the cache", "timings.cache_n"),
    PREDICTED_N("predicted_n", "answer tokens", "timings.predicted_n");

    private static final Map<String, Timing> BY_NAME = new HashMap<>();

    static {
      for (Timing timing : values()) {
        timing.names.forEach(name -> BY_NAME.put(name, timing));
      }
    }

    private final String key;
    private final String title;
    private final List<String> names;

    Timing(String key, String title, String... names) {
      this.key = key;
      this.title = title;
      this.names = List.of(names);
    }

    /** Its key in a record, e.g. {@code queue_s}. */
    public String key() {
      return key;
    }

    /** The names in an object of the body, by their last part. */
    public static Map<String, String> namesIn(String object) {
      return BY_NAME.keySet().stream()
          .filter(name -> name.startsWith(object + "."))
          .collect(
              Collectors.toUnmodifiableMap(name -> name.substring(object.length() + 1), n -> n));
    }

    /** Whether the response header of that name, in lower case, holds a timing. */
    public static boolean isHeader(String name) {
      return BY_NAME.containsKey(name) && name.indexOf('.') < 0;
    }

    /** The key of one of {@link ServerReport#names}; an unknown name is converted to a key. */
    public static String keyOf(String name) {
      Timing known = BY_NAME.get(name);
      return known != null
          ? known.key
          : name.replace(SERVER_TIMING, "").toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_")
              + "_s";
    }

    /**
     * Converts a reported value to seconds, rounded to nanoseconds, or to tokens; NaN if it is
     * impossible. Only Groq reports seconds, all others milliseconds.
     */
    public static double value(String name, double reported) {
      boolean isTime = isTime(keyOf(name));
      double perUnit = isTime && !name.startsWith("usage.") ? 1_000 : 1;
      double value = Math.rint(reported * 1e9 / perUnit) / 1e9;
      return value >= 0 && value <= (isTime ? MAX_S : RequestRecord.MAX_TOKENS)
          ? value
          : Double.NaN;
    }

    /** The title of a key; for an unknown one the key without its unit. */
    public static String title(String key) {
      return Arrays.stream(values())
          .filter(timing -> timing.key.equals(key))
          .map(timing -> timing.title)
          .findFirst()
          .orElse(key.replaceAll("_s$", ""));
    }

    /** Whether the value of a key is a time; otherwise it is a number of tokens. */
    public static boolean isTime(String key) {
      return key.endsWith("_s");
    }
  }
}
