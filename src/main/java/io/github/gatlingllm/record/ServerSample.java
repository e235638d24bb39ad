package io.github.gatlingllm.record;

import static io.github.gatlingllm.record.ServerSample.EngineMetric.Kind.COUNTER;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.Kind.GAUGE;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.Kind.HISTOGRAM;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.Series.MAX;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.Series.MEAN;
import static io.github.gatlingllm.record.ServerSample.EngineMetric.Series.SUM;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.gatlingllm.record.RunFiles.JsonLines;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A scrape of a metrics page of a server: a line of {@code llm/server.jsonl}.
 *
 * @param unixNanos when the page was requested, on the run's clock
 * @param target label of its target; null if it concerns all, such as a host's page
 * @param url of the page, without credentials; with {@code target} it identifies the endpoint
 * @param source the software whose metric names the page has: {@code vllm}, {@code sglang}, {@code
 *     tgi}, {@code llama.cpp}, {@code tensorrt-llm}, {@code triton}, {@code dynamo}, {@code llm-d},
 *     {@code dcgm}, {@code node}, several joined by {@code +}; empty if not recognised
 * @param tookMs from the request to the complete answer, milliseconds
 * @param error why there are no values; null if there are
 * @param reset whether a counter decreased since the last successful scrape, as after a restart
 * @param names the server's own names of the values
 * @param values gauges, and counters since the server's start
 * @param histograms since the server's start
 */
public record ServerSample(
    long unixNanos,
    @Nullable String target,
    String url,
    String source,
    double tookMs,
    @Nullable String error,
    boolean reset,
    Map<EngineMetric, String> names,
    Map<EngineMetric, Double> values,
    Map<EngineMetric, Histogram> histograms) {

  public ServerSample {
    names = Map.copyOf(names);
    values = Map.copyOf(values);
    histograms = Map.copyOf(histograms);
  }

  /** The same sample as the first one of its page and of that target, and so without a reset. */
  public ServerSample asFirst(@Nullable String ofTarget) {
    return new ServerSample(
        unixNanos, ofTarget, url, source, tookMs, error, false, names, values, histograms);
  }

  public @Nullable Double value(EngineMetric metric) {
    return values.get(metric);
  }

  /**
   * A cumulative histogram since the server's start.
   *
   * @param count number of values
   * @param sum of the values
   * @param bounds upper bounds of the buckets, inclusive, ascending, finite; empty if the server
   *     has no buckets, or its series have different ones
   * @param counts number of values up to each bound; ascending, at most {@code count}
   */
  public record Histogram(long count, double sum, List<Double> bounds, List<Long> counts) {

    public Histogram {
      bounds = List.copyOf(bounds);
      counts = List.copyOf(counts);
    }
  }

  /**
   * Writes and reads {@code llm/server.jsonl}: a line of JSON per {@link ServerSample}. Names of
   * values and bounds of histograms are written once per endpoint, and again when they change.
   * Reading skips damaged lines.
   */
  public static final class ServerFile {

    private static final int MAX_LINE_BYTES = 1 << 20;

    /** Skips unknown metrics and null values. */
    private static final ObjectReader LINES =
        JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL)
            .build()
            .readerFor(Line.class);

    private final Path file;
    private final Map<String, Endpoint> endpoints = new HashMap<>();

    private record Line(
        @JsonProperty(value = "unix_ns", required = true) long unixNanos,
        @JsonProperty("target") @Nullable String target,
        @JsonProperty(value = "url", required = true) String url,
        @JsonProperty("source") @Nullable String source,
        @JsonProperty(value = "took_ms", required = true) double tookMs,
        @JsonProperty("error") @Nullable String error,
        @JsonProperty(value = "reset", required = true) boolean reset,
        @JsonProperty("names") @JsonSetter(contentNulls = Nulls.SKIP)
            EnumMap<EngineMetric, String> names,
        @JsonProperty("values") @JsonSetter(contentNulls = Nulls.SKIP)
            EnumMap<EngineMetric, Double> values,
        @JsonProperty("histograms") @JsonSetter(contentNulls = Nulls.SKIP)
            EnumMap<EngineMetric, Buckets> histograms) {

      private Line {
        names = names == null ? new EnumMap<>(EngineMetric.class) : names;
        values = values == null ? new EnumMap<>(EngineMetric.class) : values;
        histograms = histograms == null ? new EnumMap<>(EngineMetric.class) : histograms;
      }
    }

    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Buckets(
        @JsonProperty(value = "count", required = true) long count,
        @JsonProperty(value = "sum", required = true) double sum,
        @JsonProperty("le") @Nullable List<Double> le,
        @JsonProperty("counts") List<Long> counts) {}

    /** Names and bounds that were written for an endpoint. */
    private static final class Endpoint {
      private final Map<EngineMetric, String> names = new EnumMap<>(EngineMetric.class);
      private final Map<EngineMetric, List<Double>> bounds = new EnumMap<>(EngineMetric.class);
    }

    /** A file to append samples to; the first one creates it. Not thread-safe. */
    public ServerFile(Path file) {
      this.file = file;
    }

    public void append(ServerSample sample) throws IOException {
      Endpoint written = endpoint(sample.target(), sample.url());
      EnumMap<EngineMetric, String> names = new EnumMap<>(EngineMetric.class);
      sample
          .names()
          .forEach(
              (metric, name) -> {
                if (!name.equals(written.names.put(metric, name))) {
                  names.put(metric, name);
                }
              });
      EnumMap<EngineMetric, Double> values = new EnumMap<>(EngineMetric.class);
      values.putAll(sample.values());
      EnumMap<EngineMetric, Buckets> histograms = new EnumMap<>(EngineMetric.class);
      sample
          .histograms()
          .forEach(
              (metric, all) -> {
                boolean same = all.bounds().equals(written.bounds.put(metric, all.bounds()));
                List<Double> bounds = same ? null : all.bounds();
                histograms.put(metric, new Buckets(all.count(), all.sum(), bounds, all.counts()));
              });
      Line line =
          new Line(
              sample.unixNanos(),
              sample.target(),
              sample.url(),
              sample.source(),
              sample.tookMs(),
              sample.error(),
              sample.reset(),
              names,
              values,
              histograms);
      JsonLines.append(file, json -> json.writePOJO(line));
    }

    private Endpoint endpoint(@Nullable String target, String url) {
      return endpoints.computeIfAbsent(
          (target == null ? "" : target) + '\n' + url, any -> new Endpoint());
    }

    /**
     * Passes every sample to {@code sink}, in the order of the file, with the names and bounds
     * known of its endpoint; none if the file does not exist.
     *
     * @return number of damaged lines, which are skipped
     * @throws IOException if the file cannot be read
     */
    public static long read(Path file, Consumer<ServerSample> sink) throws IOException {
      Reading reading = new Reading(new ServerFile(file), sink);
      try (InputStream in = Files.newInputStream(file)) {
        JsonLines.read(in, 1 << 16, MAX_LINE_BYTES, reading);
      } catch (NoSuchFileException e) {
        return 0;
      }
      return reading.damaged;
    }

    private static final class Reading implements JsonLines.LineReader {
      private final ServerFile file;
      private final Consumer<ServerSample> sink;
      private long damaged;

      private Reading(ServerFile file, Consumer<ServerSample> sink) {
        this.file = file;
        this.sink = sink;
      }

      @Override
      public void line(byte[] buffer, int from, int length) throws IOException {
        if (length > 0) {
          ServerSample sample;
          try {
            sample = file.sample(LINES.readValue(buffer, from, length));
          } catch (JsonProcessingException | RuntimeException damage) {
            damaged++;
            return;
          }
          sink.accept(sample);
        }
      }

      @Override
      public void tooLong(long bytes) {
        damaged++;
      }

      @Override
      public void tail(byte[] buffer, int length, long skipped) throws IOException {
        damaged += skipped > 0 ? 1 : 0;
        line(buffer, 0, skipped > 0 ? 0 : length);
      }
    }

    private ServerSample sample(Line line) {
      Endpoint known = endpoint(line.target, line.url);
      known.names.putAll(line.names);
      Map<EngineMetric, ServerSample.Histogram> histograms = new EnumMap<>(EngineMetric.class);
      line.histograms.forEach(
          (metric, buckets) -> {
            if (buckets.le != null) {
              known.bounds.put(metric, buckets.le);
            }
            List<Double> bounds = known.bounds.getOrDefault(metric, List.of());
            if (bounds.size() == buckets.counts.size()) { // otherwise their line is damaged
              histograms.put(
                  metric,
                  new ServerSample.Histogram(buckets.count, buckets.sum, bounds, buckets.counts));
            }
          });
      return new ServerSample(
          line.unixNanos,
          line.target,
          line.url,
          line.source == null ? "" : line.source,
          line.tookMs,
          line.error,
          line.reset,
          known.names,
          line.values,
          histograms);
    }
  }

  /**
   * The catalogue of the metrics that servers, GPUs and hosts report during a run, under common
   * names: key, title, unit, kind, how several series of one page (models, replicas, GPUs) become
   * one number, meaning. The files of a run keep each server's own name beside it.
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
    PROMPT_TOKENS(
        "prompt tokens", "tokens", COUNTER, SUM, "processed, those of the cache included"),
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
        "engine TPOT",
        "s",
        HISTOGRAM,
        SUM,
        "mean time per token of a request, a value per request"),
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
    NODE_CPU_USE(
        "host CPU in use", "share", GAUGE, MEAN, "since the scrape before, all processors"),
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
}
