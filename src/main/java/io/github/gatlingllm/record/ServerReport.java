package io.github.gatlingllm.record;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
   * The timings that servers are known to report, with one key per meaning, and the names that
   * servers give them.
   */
  public enum Timing {
    /** Time in the server's queue. */
    QUEUE("queue_s", "queue"),
    /** From the end of the queue to the first token. */
    PREFILL("prefill_s", "prefill"),
    /** From the first token to the last. */
    DECODE("decode_s", "decode"),
    /** Prefill and decode. */
    INFERENCE("inference_s", "inference"),
    /** Checking and tokenizing the prompt. */
    VALIDATION("validation_s", "validation"),
    /** Mean time per token of the answer. */
    TIME_PER_TOKEN("time_per_token_s", "time per token"),
    /** Total time in the server. */
    TOTAL("total_s", "total"),
    /** Until the API began to answer. */
    PROCESSING("processing_s", "processing"),
    /** Until the server behind the gateway had answered with headers. */
    UPSTREAM("upstream_s", "behind the gateway"),
    /** Tokens of the prompt that were processed. */
    PROMPT_N("prompt_n", "prompt tokens processed"),
    /** Tokens of the prompt that were in the cache. */
    CACHE_N("cache_n", "prompt tokens in the cache"),
    /** Tokens of the answer. */
    PREDICTED_N("predicted_n", "answer tokens");

    private static final double SECONDS = 1;
    private static final double MILLIS = 1_000;

    /** By the server's name: a path in the body, or a response header. */
    private static final Map<String, Origin> ORIGINS = new HashMap<>();

    private record Origin(Timing timing, double perUnit) {}

    static {
      // Groq: under usage, or x_groq.usage of a stream.
      origin("usage.queue_time", QUEUE, SECONDS);
      origin("usage.prompt_time", PREFILL, SECONDS);
      origin("usage.completion_time", DECODE, SECONDS);
      origin("usage.total_time", TOTAL, SECONDS);
      // llama.cpp.
      origin("timings.prompt_ms", PREFILL, MILLIS);
      origin("timings.predicted_ms", DECODE, MILLIS);
      origin("timings.predicted_per_token_ms", TIME_PER_TOKEN, MILLIS);
      origin("timings.prompt_n", PROMPT_N, SECONDS);
      origin("timings.cache_n", CACHE_N, SECONDS);
      origin("timings.predicted_n", PREDICTED_N, SECONDS);
      // vLLM with --enable-per-request-metrics; its first token counts from the end of its queue.
      origin("metrics.queue_time_ms", QUEUE, MILLIS);
      origin("metrics.time_to_first_token_ms", PREFILL, MILLIS);
      origin("metrics.generation_time_ms", DECODE, MILLIS);
      origin("metrics.mean_itl_ms", TIME_PER_TOKEN, MILLIS);
      // Text Generation Inference and LoRAX, where an answer is not streamed.
      origin("x-queue-time", QUEUE, MILLIS);
      origin("x-inference-time", INFERENCE, MILLIS);
      origin("x-validation-time", VALIDATION, MILLIS);
      origin("x-time-per-token", TIME_PER_TOKEN, MILLIS);
      origin("x-total-time", TOTAL, MILLIS);
      // OpenAI, and gateways made of Envoy.
      origin("openai-processing-ms", PROCESSING, MILLIS);
      origin("x-envoy-upstream-service-time", UPSTREAM, MILLIS);
    }

    private final String key;
    private final String title;

    Timing(String key, String title) {
      this.key = key;
      this.title = title;
    }

    private static void origin(String name, Timing timing, double perUnit) {
      ORIGINS.put(name, new Origin(timing, perUnit));
    }

    /** Its key in a record, e.g. {@code queue_s}. */
    public String key() {
      return key;
    }

    /** Whether the response header of that name, in lower case, holds a timing. */
    public static boolean isHeader(String name) {
      return ORIGINS.containsKey(name) && name.indexOf('.') < 0;
    }

    /**
     * The key of a server's name; an unknown name is converted to a key.
     *
     * @param name of {@link ServerReport#names}
     */
    public static String keyOf(String name) {
      Origin known = ORIGINS.get(name);
      if (known != null) {
        return known.timing.key;
      }
      return name.replace(SERVER_TIMING, "").toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_")
          + "_s";
    }

    /**
     * Converts a reported value to seconds, rounded to nanoseconds, or to tokens; NaN if it is
     * impossible.
     *
     * @param name of {@link ServerReport#names}; {@code Server-Timing} is in milliseconds
     * @param reported in the server's unit
     */
    public static double value(String name, double reported) {
      Origin known = ORIGINS.get(name);
      double value = Math.rint(reported * 1e9 / (known == null ? MILLIS : known.perUnit)) / 1e9;
      double max =
          known != null && !known.timing.key.endsWith("_s") ? RequestRecord.MAX_TOKENS : MAX_S;
      return value >= 0 && value <= max ? value : Double.NaN;
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
