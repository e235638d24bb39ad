package io.github.gatlingllm.record;

import static io.github.gatlingllm.record.EngineMetric.Kind.COUNTER;
import static io.github.gatlingllm.record.EngineMetric.Kind.GAUGE;
import static io.github.gatlingllm.record.EngineMetric.Kind.HISTOGRAM;
import static io.github.gatlingllm.record.EngineMetric.Series.MAX;
import static io.github.gatlingllm.record.EngineMetric.Series.MEAN;
import static io.github.gatlingllm.record.EngineMetric.Series.SUM;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/**
 * The catalogue of the metrics that servers, GPUs and hosts report during a run, under common
 * names: key, title, unit, kind, how several series of one page (models, replicas, GPUs) become one
 * number, meaning. The files of a run keep each server's own name beside it.
 */
public enum EngineMetric {
  REQUESTS_RUNNING("requests running", "requests", GAUGE, SUM, "in the engine's batch"),
  REQUESTS_WAITING("requests waiting", "requests", GAUGE, SUM, "in the engine's queue"),
  KV_CACHE_USE("KV cache in use", "share", GAUGE, MAX, "of its blocks or tokens; 1 is full"),
  PREFIX_CACHE_HIT_RATE(
      "prefix cache hit rate",
      "share",
      GAUGE,
      MEAN,
      "share of prompt tokens over a period that the server chooses; if it has no counters"),
  PREFIX_CACHE_QUERIES(
      "prefix cache queries", "tokens", COUNTER, SUM, "prompt tokens looked up in the cache"),
  PREFIX_CACHE_HITS("prefix cache hits", "tokens", COUNTER, SUM, "of these, found in the cache"),
  PREEMPTIONS(
      "preemptions",
      "requests",
      COUNTER,
      SUM,
      "requests taken out of the batch because KV memory ran out; they are computed again"),
  PROMPT_TOKENS("prompt tokens", "tokens", COUNTER, SUM, "processed, those of the cache included"),
  GENERATION_TOKENS("generated tokens", "tokens", COUNTER, SUM, "reasoning included"),
  REQUESTS_FINISHED("requests finished", "requests", COUNTER, SUM, "for whatever reason"),
  ENGINE_TTFT_S(
      "engine TTFT",
      "s",
      HISTOGRAM,
      SUM,
      "from the request's arrival in the server to its first token"),
  ENGINE_ITL_S("engine ITL", "s", HISTOGRAM, SUM, "between two tokens of a request"),
  ENGINE_TPOT_S(
      "engine TPOT", "s", HISTOGRAM, SUM, "mean time per token of a request, a value per request"),
  ENGINE_E2E_S("engine E2E", "s", HISTOGRAM, SUM, "from a request's arrival to its end"),
  ENGINE_QUEUE_S("engine queue", "s", HISTOGRAM, SUM, "a request's wait for the batch"),
  ENGINE_PREFILL_S("engine prefill", "s", HISTOGRAM, SUM, "from the batch to the first token"),
  ENGINE_DECODE_S("engine decode", "s", HISTOGRAM, SUM, "from the first token to the last"),
  GPU_UTILIZATION("GPU utilisation", "share", GAUGE, MEAN, "share of time in which a kernel ran"),
  GPU_MEMORY_USED_BYTES("GPU memory used", "bytes", GAUGE, SUM, "of all GPUs of the page"),
  GPU_MEMORY_TOTAL_BYTES("GPU memory", "bytes", GAUGE, SUM, "of all GPUs of the page"),
  GPU_POWER_W("GPU power", "W", GAUGE, SUM, "of all GPUs of the page"),
  GPU_ENERGY_J("GPU energy", "J", COUNTER, SUM, "of all GPUs of the page"),
  GPUS("GPUs", "GPUs", GAUGE, SUM, "whose power or utilisation the page reports"),
  NODE_CPU_USE("host CPU in use", "share", GAUGE, MEAN, "since the scrape before, all processors"),
  NODE_MEMORY_AVAILABLE_BYTES(
      "host memory available", "bytes", GAUGE, SUM, "without swapping, as the kernel estimates");

  /** The kind of its values. */
  public enum Kind {
    /** A state at the instant of the scrape. */
    GAUGE,
    /** A sum since the server's start; only differences are meaningful. */
    COUNTER,
    /** Counters of values by upper bound, and the sum of the values. */
    HISTOGRAM
  }

  /** How several series of one page become one number. */
  public enum Series {
    SUM,
    MEAN,
    MAX
  }

  private final String key;
  private final String title;
  private final String unit;
  private final Kind kind;
  private final Series series;
  private final String meaning;

  EngineMetric(String title, String unit, Kind kind, Series series, String meaning) {
    this.key = name().toLowerCase(Locale.ROOT);
    this.title = title;
    this.unit = unit;
    this.kind = kind;
    this.series = series;
    this.meaning = meaning;
  }

  /** Its name in charts and tables. */
  public String title() {
    return title;
  }

  /** The unit of its values; {@code share} is from 0 to 1. */
  public String unit() {
    return unit;
  }

  public Kind kind() {
    return kind;
  }

  public Series series() {
    return series;
  }

  public String meaning() {
    return meaning;
  }

  /** Its key in {@code server.jsonl}. */
  @JsonValue
  @Override
  public String toString() {
    return key;
  }
}
