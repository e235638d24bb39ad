package io.github.gatlingllm.record;

import static io.github.gatlingllm.record.ServerSample.SampleKind.COUNTER;
import static io.github.gatlingllm.record.ServerSample.SampleKind.GAUGE;
import static io.github.gatlingllm.record.ServerSample.SampleKind.HISTOGRAM;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.DoubleSummaryStatistics;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A scrape of a metrics page of a server: a line of {@code llm/server.jsonl}.
 *
 * @param unixNanos when the page was requested, on the run's clock
 * @param target label of its target; null if it concerns all, such as a host's page
 * @param role {@code prefill} or {@code decode}, where the setting gives one; else null
 * @param url of the page, without credentials; with {@code target} it identifies the endpoint
 * @param source the software whose metric names the page has: {@code vllm}, {@code sglang}, {@code
 *     tgi}, {@code llama.cpp}, {@code tensorrt-llm}, {@code triton}, {@code dynamo}, {@code llm-d},
 *     {@code dcgm}, {@code amd}, {@code node}, {@code kubernetes}, {@code knative}, {@code ray},
 *     several joined by {@code +}; empty if not recognised
 * @param tookMs from the request to the complete answer, milliseconds
 * @param error why there are no values; null if there are
 * @param reset whether a counter decreased since the last successful scrape, as after a restart
 * @param names the server's own names of the values
 * @param values gauges, and counters since the server's start
 * @param histograms since the server's start
 * @param gpus by GPU, its own values of the gauges that begin with {@code gpu_}
 */
public record ServerSample(
    @JsonProperty(value = "unix_ns", required = true) long unixNanos,
    @Nullable String target,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String role,
    @JsonProperty(required = true) String url,
    String source,
    @JsonProperty(value = "took_ms", required = true) double tookMs,
    @Nullable String error,
    @JsonProperty(required = true) boolean reset,
    Map<EngineMetric, String> names,
    Map<EngineMetric, Double> values,
    Map<EngineMetric, Histogram> histograms,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, Map<EngineMetric, Double>> gpus) {

  public ServerSample {
    source = source == null ? "" : source;
    names = known(names);
    values = known(values);
    histograms = known(histograms);
    Map<String, Map<EngineMetric, Double>> each = new LinkedHashMap<>(RunInfo.ordered(gpus));
    each.replaceAll((gpu, own) -> known(own));
    gpus = Collections.unmodifiableMap(each);
  }

  /** Without metrics that this version does not know, which are read as null, and without nulls. */
  private static <T> Map<EngineMetric, T> known(@Nullable Map<EngineMetric, T> values) {
    Map<EngineMetric, T> known = new EnumMap<>(EngineMetric.class);
    if (values != null) {
      values.forEach(
          (metric, value) -> {
            if (metric != null && value != null) {
              known.put(metric, value);
            }
          });
    }
    return Collections.unmodifiableMap(known);
  }

  /** The same sample as the first one of its page and of that target, and so without a reset. */
  public ServerSample asFirst(@Nullable String ofTarget) {
    return Components.with(this, "target", ofTarget, "reset", false);
  }

  private ServerSample with(
      Map<EngineMetric, String> otherNames, Map<EngineMetric, Histogram> others) {
    return Components.with(this, "names", otherNames, "histograms", others);
  }

  /** The same sample without values. */
  public ServerSample failed(String why) {
    return Components.with(this, "error", why);
  }

  /** The same sample with the values of its page. */
  public ServerSample of(
      String software,
      boolean isReset,
      Map<EngineMetric, String> ownNames,
      Map<EngineMetric, Double> numbers,
      Map<EngineMetric, Histogram> buckets,
      Map<String, Map<EngineMetric, Double>> byGpu) {
    return new ServerSample(
        unixNanos, target, role, url, software, tookMs, null, isReset, ownNames, numbers, buckets,
        byGpu);
  }

  public @Nullable Double value(EngineMetric metric) {
    return values.get(metric);
  }

  /**
   * A cumulative histogram since the server's start.
   *
   * @param bounds upper bounds of the buckets, inclusive, ascending, finite; empty if the server
   *     has no buckets, or its series have different ones
   * @param counts number of values up to each bound; ascending, at most {@code count}
   */
  public record Histogram(
      @JsonProperty(required = true) long count,
      @JsonProperty(required = true) double sum,
      @JsonProperty("le") @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Double> bounds,
      List<Long> counts) {

    public Histogram {
      bounds = bounds == null ? List.of() : List.copyOf(bounds);
      counts = List.copyOf(counts);
    }
  }

  /**
   * Writes and reads {@code llm/server.jsonl}. Names of values and bounds of histograms are written
   * once per endpoint, and again when they change.
   */
  public static final class ServerFile {

    private final Path file;
    private final Map<String, Endpoint> endpoints = new HashMap<>();

    private static final class Endpoint {
      private final Map<EngineMetric, String> names = new EnumMap<>(EngineMetric.class);
      private final Map<EngineMetric, List<Double>> bounds = new EnumMap<>(EngineMetric.class);
    }

    /** A file to append samples to; the first one creates it. Not thread-safe. */
    public ServerFile(Path file) {
      this.file = file;
    }

    public void append(ServerSample sample) throws IOException {
      Endpoint written = endpoint(sample);
      Map<EngineMetric, String> names = new EnumMap<>(EngineMetric.class);
      Map<EngineMetric, Histogram> histograms = new EnumMap<>(EngineMetric.class);
      sample.names.forEach(
          (metric, name) -> {
            if (!name.equals(written.names.put(metric, name))) {
              names.put(metric, name);
            }
          });
      sample.histograms.forEach(
          (metric, all) -> {
            boolean same = all.bounds.equals(written.bounds.put(metric, all.bounds));
            List<Double> bounds = same ? List.of() : all.bounds;
            histograms.put(metric, new Histogram(all.count, all.sum, bounds, all.counts));
          });
      try (JsonLines lines = JsonLines.appendTo(file)) {
        lines.add(sample.with(names, histograms));
      }
    }

    private Endpoint endpoint(ServerSample of) {
      return endpoints.computeIfAbsent(
          (of.target == null ? "" : of.target) + '\n' + of.url, any -> new Endpoint());
    }

    /** Passes every sample to {@code sink}; returns the number of damaged lines. */
    public static long read(Path file, Consumer<ServerSample> sink) throws IOException {
      ServerFile known = new ServerFile(file);
      return JsonLines.values(
          file, ServerSample.class, sample -> sink.accept(known.complete(sample)));
    }

    /** The sample of a line, with the names and bounds of the lines before. */
    private ServerSample complete(ServerSample line) {
      Endpoint known = endpoint(line);
      known.names.putAll(line.names);
      Map<EngineMetric, Histogram> histograms = new EnumMap<>(EngineMetric.class);
      line.histograms.forEach(
          (metric, all) -> {
            if (!all.bounds.isEmpty() || all.counts.isEmpty()) {
              known.bounds.put(metric, all.bounds);
            }
            List<Double> bounds = known.bounds.getOrDefault(metric, List.of());
            if (bounds.size() == all.counts.size()) { // otherwise their line is damaged
              histograms.put(metric, new Histogram(all.count, all.sum, bounds, all.counts));
            }
          });
      return line.with(known.names, histograms);
    }
  }

  /**
   * The catalogue of the metrics that servers, GPUs and hosts report, under common names: title,
   * unit, kind, and how several series of one page become one number. {@code docs/records.md} has
   * their meaning.
   */
  public enum EngineMetric {
    REQUESTS_RUNNING("requests running", "requests", GAUGE, Merge.SUM),
    REQUESTS_WAITING("requests waiting", "requests", GAUGE, Merge.SUM),
    KV_CACHE_USE("KV cache in use", "share", GAUGE, Merge.MAX),
    PREFIX_CACHE_HIT_RATE("prefix cache hit rate", "share", GAUGE, Merge.MEAN),
    PREFIX_CACHE_QUERIES("prefix cache queries", "tokens", COUNTER, Merge.SUM),
    PREFIX_CACHE_HITS("prefix cache hits", "tokens", COUNTER, Merge.SUM),
    PREEMPTIONS("preemptions", "requests", COUNTER, Merge.SUM),
    PROMPT_TOKENS("prompt tokens", "tokens", COUNTER, Merge.SUM),
    GENERATION_TOKENS("generated tokens", "tokens", COUNTER, Merge.SUM),
    SPEC_DRAFTS("drafts", "drafts", COUNTER, Merge.SUM),
    SPEC_DRAFT_TOKENS("drafted tokens", "tokens", COUNTER, Merge.SUM),
    SPEC_ACCEPTED_TOKENS("accepted tokens", "tokens", COUNTER, Merge.SUM),
    SPEC_ACCEPTANCE_RATE("acceptance rate", "share", GAUGE, Merge.MEAN),
    SPEC_ACCEPTANCE_LENGTH("accepted length", "tokens", GAUGE, Merge.MEAN),
    REQUESTS_FINISHED("requests finished", "requests", COUNTER, Merge.SUM),
    ENGINE_TTFT_S("engine TTFT", "s", HISTOGRAM, Merge.SUM),
    ENGINE_ITL_S("engine ITL", "s", HISTOGRAM, Merge.SUM),
    ENGINE_TPOT_S("engine TPOT", "s", HISTOGRAM, Merge.SUM),
    ENGINE_E2E_S("engine E2E", "s", HISTOGRAM, Merge.SUM),
    ENGINE_QUEUE_S("engine queue", "s", HISTOGRAM, Merge.SUM),
    ENGINE_PREFILL_S("engine prefill", "s", HISTOGRAM, Merge.SUM),
    ENGINE_DECODE_S("engine decode", "s", HISTOGRAM, Merge.SUM),
    KV_TRANSFER_S("KV transfer", "s", HISTOGRAM, Merge.SUM),
    KV_TRANSFER_BYTES("KV transferred", "bytes", COUNTER, Merge.SUM),
    KV_TRANSFERS_FAILED("failed KV transfers", "transfers", COUNTER, Merge.SUM),
    KV_OFFLOADED_BYTES("KV offloaded", "bytes", COUNTER, Merge.SUM),
    KV_LOADED_BYTES("KV loaded back", "bytes", COUNTER, Merge.SUM),
    KV_OFFLOADED_TOKENS("KV offloaded", "tokens", COUNTER, Merge.SUM),
    KV_LOADED_TOKENS("KV loaded back", "tokens", COUNTER, Merge.SUM),
    KV_OFFLOADED_BLOCKS("KV offloaded", "blocks", COUNTER, Merge.SUM),
    KV_LOADED_BLOCKS("KV loaded back", "blocks", COUNTER, Merge.SUM),
    REPLICAS("replicas", "replicas", GAUGE, Merge.SUM),
    GPU_UTILIZATION("GPU utilisation", "share", GAUGE, Merge.MEAN),
    GPU_MEMORY_USED_BYTES("GPU memory used", "bytes", GAUGE, Merge.SUM),
    GPU_MEMORY_TOTAL_BYTES("GPU memory", "bytes", GAUGE, Merge.SUM),
    GPU_CLOCK_MHZ("GPU clock", "MHz", GAUGE, Merge.MEAN),
    GPU_TEMPERATURE_C("GPU temperature", "°C", GAUGE, Merge.MAX),
    GPU_TEMPERATURE_LIMIT_C("GPU temperature limit", "°C", GAUGE, Merge.MEAN),
    GPU_POWER_LIMIT_W("GPU power limit", "W", GAUGE, Merge.SUM),
    GPU_POWER_W("GPU power", "W", GAUGE, Merge.SUM),
    GPU_ENERGY_J("GPU energy", "J", COUNTER, Merge.SUM),
    GPUS("GPUs", "GPUs", GAUGE, Merge.SUM),
    NODE_CPU_USE("host CPU in use", "share", GAUGE, Merge.MEAN),
    NODE_MEMORY_AVAILABLE_BYTES("host memory available", "bytes", GAUGE, Merge.SUM);

    private final String key;
    private final String title;
    private final String unit;
    private final SampleKind kind;
    private final Merge series;

    EngineMetric(String title, String unit, SampleKind kind, Merge series) {
      this.key = name().toLowerCase(Locale.ROOT);
      this.title = title;
      this.unit = unit;
      this.kind = kind;
      this.series = series;
    }

    private enum Merge {
      SUM,
      MEAN,
      MAX
    }

    /** Whether it is a gauge of GPUs, which each has by itself. */
    public boolean isOfEachGpu() {
      return kind == SampleKind.GAUGE && key.startsWith("gpu_");
    }

    public String title() {
      return title;
    }

    /** The unit of its values; {@code share} is from 0 to 1. */
    public String unit() {
      return unit;
    }

    public SampleKind kind() {
      return kind;
    }

    /** Kind, unit, and how several series become one number: {@code gauge, requests, sum}. */
    String form() {
      return kind.name().toLowerCase(Locale.ROOT)
          + ", %s, ".formatted(unit)
          + series.name().toLowerCase(Locale.ROOT);
    }

    /** One value for those of several pages or series; 0 for none. */
    public double ofAll(Stream<Double> values) {
      DoubleSummaryStatistics all = values.mapToDouble(value -> value).summaryStatistics();
      return switch (series) {
        case SUM -> all.getSum();
        case MEAN -> all.getAverage();
        case MAX -> all.getMax();
      };
    }

    /** Its key in {@code server.jsonl}. */
    @JsonValue
    @Override
    public String toString() {
      return key;
    }
  }

  public enum SampleKind {
    /** A state at the instant of the scrape. */
    GAUGE,
    /** A sum since the server's start; only differences are meaningful. */
    COUNTER,
    /** Counters of values by upper bound, and the sum of the values. */
    HISTOGRAM
  }
}
