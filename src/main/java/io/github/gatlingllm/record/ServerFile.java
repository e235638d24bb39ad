package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads {@code llm/server.jsonl}: a line of JSON per {@link ServerSample}. Names of
 * values and bounds of histograms are written once per endpoint, and again when they change.
 * Reading takes bounded memory and skips damaged lines.
 */
public final class ServerFile {

  private static final int LONGEST_LINE = 1 << 20;
  private static final int MAX_ENDPOINTS = 1_000;
  private static final int MAX_BOUNDS = 1_000;
  private static final double LARGEST = 1e18;

  /** Skips unknown metrics, of later versions, and null values. */
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
      @JsonProperty("le") @Nullable List<@Nullable Double> le,
      @JsonProperty("counts") @Nullable List<@Nullable Long> counts) {}

  /** Names and bounds that were written for an endpoint. */
  private static final class Endpoint {
    private final Map<EngineMetric, String> names = new EnumMap<>(EngineMetric.class);
    private final Map<EngineMetric, List<Double>> bounds = new EnumMap<>(EngineMetric.class);
  }

  /** A file to append samples to; the first one creates it. Not thread-safe. */
  public ServerFile(Path file) {
    this.file = file;
  }

  /** Appends a line. */
  public void append(ServerSample sample) throws IOException {
    Line line =
        new Line(
            sample.unixNanos(),
            sample.target(),
            sample.url(),
            sample.source(),
            sample.tookMs(),
            sample.error(),
            sample.reset(),
            new EnumMap<>(EngineMetric.class),
            new EnumMap<>(EngineMetric.class),
            new EnumMap<>(EngineMetric.class));
    Endpoint written = endpoint(line);
    sample
        .names()
        .forEach(
            (metric, name) -> {
              if (!name.equals(written.names.put(metric, name))) {
                line.names.put(metric, name);
              }
            });
    line.values.putAll(sample.values());
    sample
        .histograms()
        .forEach(
            (metric, all) -> {
              boolean same = all.bounds().equals(written.bounds.put(metric, all.bounds()));
              List<Double> bounds = same ? null : all.bounds();
              line.histograms.put(
                  metric, new Buckets(all.count(), all.sum(), bounds, all.counts()));
            });
    JsonLines.append(file, json -> json.writePOJO(line));
  }

  private Endpoint endpoint(Line line) {
    return endpoints.computeIfAbsent(key(line), any -> new Endpoint());
  }

  private static String key(Line line) {
    return (line.target == null ? "" : line.target) + '\n' + line.url;
  }

  /**
   * Passes every sample to {@code sink}, in the order of the file, with the names and bounds known
   * of its endpoint; none if the file does not exist.
   *
   * @return number of damaged lines, which are skipped
   * @throws IOException if the file cannot be read
   */
  public static long read(Path file, Consumer<ServerSample> sink) throws IOException {
    ServerFile reader = new ServerFile(file);
    long damaged = 0;
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
      ByteArrayOutputStream line = new ByteArrayOutputStream(4_096);
      for (int next = in.read(); next >= 0 || line.size() > 0; next = in.read()) {
        if (next >= 0 && next != '\n') {
          if (line.size() <= LONGEST_LINE) {
            line.write(next);
          }
        } else if (line.size() > 0) {
          ServerSample sample = reader.sample(line.toByteArray());
          line.reset();
          if (sample == null) {
            damaged++;
          } else {
            sink.accept(sample);
          }
        }
      }
    } catch (NoSuchFileException e) {
      return 0;
    }
    return damaged;
  }

  /** The sample of a line; null if the line is damaged. */
  private @Nullable ServerSample sample(byte[] bytes) throws IOException {
    Line line;
    try {
      line = bytes.length > LONGEST_LINE ? null : LINES.readValue(bytes);
    } catch (JsonProcessingException e) {
      return null;
    }
    if (line == null || line.unixNanos < 0 || !(line.tookMs >= 0 && line.tookMs <= LARGEST)) {
      return null;
    }
    if (endpoints.size() == MAX_ENDPOINTS && !endpoints.containsKey(key(line))) {
      return null;
    }
    Endpoint known = endpoint(line);
    line.names.forEach((metric, name) -> known.names.put(metric, cut(name)));
    Map<EngineMetric, ServerSample.Histogram> histograms = new EnumMap<>(EngineMetric.class);
    line.histograms.forEach(
        (metric, buckets) -> {
          ServerSample.Histogram histogram = histogram(known, metric, buckets);
          if (histogram != null && metric.kind() == EngineMetric.Kind.HISTOGRAM) {
            histograms.put(metric, histogram);
          }
        });
    line.values
        .entrySet()
        .removeIf(
            value ->
                !(Math.abs(value.getValue()) <= LARGEST)
                    || value.getKey().kind() == EngineMetric.Kind.HISTOGRAM);
    return new ServerSample(
        line.unixNanos,
        FieldReader.cut(line.target),
        cut(line.url),
        line.source == null ? "" : cut(line.source),
        line.tookMs,
        FieldReader.cut(line.error),
        line.reset,
        known.names,
        line.values,
        histograms);
  }

  private static String cut(String text) {
    return Objects.requireNonNull(FieldReader.cut(text));
  }

  /** Null if its numbers are impossible, or its bounds are missing. */
  private static ServerSample.@Nullable Histogram histogram(
      Endpoint known, EngineMetric metric, Buckets buckets) {
    List<Double> bounds = buckets.le == null ? known.bounds.get(metric) : bounds(buckets.le);
    if (bounds == null) {
      return null;
    }
    known.bounds.put(metric, bounds);
    List<Long> counts = buckets.counts == null ? List.of() : buckets.counts;
    long before = 0;
    for (Long count : counts) {
      if (count == null || count < before) {
        return null;
      }
      before = count;
    }
    boolean isWhole =
        before <= buckets.count
            && counts.size() == bounds.size()
            && Math.abs(buckets.sum) <= LARGEST;
    return isWhole ? new ServerSample.Histogram(buckets.count, buckets.sum, bounds, counts) : null;
  }

  private static @Nullable List<Double> bounds(List<@Nullable Double> le) {
    double before = Double.NEGATIVE_INFINITY;
    for (Double bound : le) {
      if (bound == null || !(bound > before && bound <= LARGEST)) {
        return null;
      }
      before = bound;
    }
    return le.size() > MAX_BOUNDS ? null : List.copyOf(le);
  }
}
