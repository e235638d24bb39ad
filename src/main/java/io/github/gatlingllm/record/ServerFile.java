package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
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
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code llm/server.jsonl}: a JSON line per {@link ServerSample}. What does not change is said once
 * per endpoint: names of values, and bounds of histograms. Reading takes bounded memory; a line
 * that is damaged is left out.
 */
public final class ServerFile {

  private static final int LONGEST_LINE = 1 << 20;
  private static final int MOST_ENDPOINTS = 1_000;
  private static final int MOST_BOUNDS = 1_000;
  private static final double LARGEST = 1e18;

  private static final Map<String, EngineMetric> BY_KEY =
      Arrays.stream(EngineMetric.values())
          .collect(Collectors.toUnmodifiableMap(EngineMetric::toString, metric -> metric));

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .build();

  private static final ObjectReader LINES = JSON.readerFor(Line.class);

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
      @JsonProperty("names") @Nullable Map<String, @Nullable String> names,
      @JsonProperty("values") @Nullable Map<String, @Nullable Double> values,
      @JsonProperty("histograms") @Nullable Map<String, @Nullable Buckets> histograms) {

    String endpoint() {
      return (target == null ? "" : target) + '\n' + url;
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record Buckets(
      @JsonProperty(value = "count", required = true) long count,
      @JsonProperty(value = "sum", required = true) double sum,
      @JsonProperty("le") @Nullable List<@Nullable Double> le,
      @JsonProperty("counts") @Nullable List<@Nullable Long> counts) {}

  /** What an endpoint has said once. */
  private static final class Endpoint {
    private final Map<EngineMetric, String> names = new EnumMap<>(EngineMetric.class);
    private final Map<EngineMetric, List<Double>> bounds = new EnumMap<>(EngineMetric.class);
  }

  /** A file that samples are appended to; it is made with the first one. Not thread-safe. */
  public ServerFile(Path file) {
    this.file = file;
  }

  /** Appends a line, whole. */
  public void append(ServerSample sample) throws IOException {
    Map<String, String> names = new LinkedHashMap<>();
    Map<String, Double> values = new LinkedHashMap<>();
    Map<String, Buckets> histograms = new LinkedHashMap<>();
    Line line =
        new Line(
            sample.unixNanos(),
            sample.target(),
            sample.url(),
            sample.source(),
            sample.tookMs(),
            sample.error(),
            sample.reset(),
            Map.of(),
            Map.of(),
            Map.of());
    Endpoint said = endpoints.computeIfAbsent(line.endpoint(), any -> new Endpoint());
    for (EngineMetric metric : EngineMetric.values()) {
      String name = sample.names().get(metric);
      if (name != null && !name.equals(said.names.put(metric, name))) {
        names.put(metric.toString(), name);
      }
      Double value = sample.values().get(metric);
      if (value != null) {
        values.put(metric.toString(), value);
      }
      ServerSample.Histogram histogram = sample.histograms().get(metric);
      if (histogram != null) {
        boolean same = histogram.bounds().equals(said.bounds.put(metric, histogram.bounds()));
        List<Double> bounds = same ? null : histogram.bounds();
        histograms.put(
            metric.toString(),
            new Buckets(histogram.count(), histogram.sum(), bounds, histogram.counts()));
      }
    }
    write(
        new Line(
            line.unixNanos,
            line.target,
            line.url,
            line.source,
            line.tookMs,
            line.error,
            line.reset,
            names,
            values,
            histograms));
  }

  private void write(Line line) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(2_048);
    try (var json = RecordCodec.generator(bytes)) {
      JSON.writer().writeValue(json, line);
      json.writeRaw('\n');
    }
    Files.write(file, bytes.toByteArray(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /**
   * Hands every sample to {@code sink}, in the order of the file, with all names and bounds that
   * its endpoint has said by then; none if there is no such file.
   *
   * @return how many lines are damaged and were left out
   * @throws IOException if it cannot be read
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

  /** Null where the line is no sample. */
  private @Nullable ServerSample sample(byte[] bytes) throws IOException {
    Line line;
    try {
      line = bytes.length > LONGEST_LINE ? null : LINES.readValue(bytes);
    } catch (JsonProcessingException e) {
      return null;
    }
    boolean isKnown = line != null && endpoints.containsKey(line.endpoint());
    if (line == null || line.unixNanos < 0 || !(line.tookMs >= 0 && line.tookMs <= LARGEST)) {
      return null;
    }
    if (!isKnown && endpoints.size() == MOST_ENDPOINTS) {
      return null;
    }
    Endpoint said = endpoints.computeIfAbsent(line.endpoint(), any -> new Endpoint());
    Map<EngineMetric, Double> values = new EnumMap<>(EngineMetric.class);
    Map<EngineMetric, ServerSample.Histogram> histograms = new EnumMap<>(EngineMetric.class);
    known(line.names).forEach((metric, name) -> said.names.put(metric, cut(name)));
    known(line.values)
        .forEach(
            (metric, value) -> {
              if (Math.abs(value) <= LARGEST && metric.kind() != EngineMetric.Kind.HISTOGRAM) {
                values.put(metric, value);
              }
            });
    known(line.histograms)
        .forEach(
            (metric, buckets) -> {
              ServerSample.Histogram histogram = histogram(said, metric, buckets);
              if (histogram != null && metric.kind() == EngineMetric.Kind.HISTOGRAM) {
                histograms.put(metric, histogram);
              }
            });
    return new ServerSample(
        line.unixNanos,
        FieldReader.cut(line.target),
        cut(line.url),
        line.source == null ? "" : cut(line.source),
        line.tookMs,
        FieldReader.cut(line.error),
        line.reset,
        said.names,
        values,
        histograms);
  }

  private static String cut(String text) {
    return Objects.requireNonNull(FieldReader.cut(text));
  }

  /** Those that this version has a name for. */
  private static <V> Map<EngineMetric, V> known(@Nullable Map<String, @Nullable V> byKey) {
    Map<EngineMetric, V> known = new EnumMap<>(EngineMetric.class);
    if (byKey != null) {
      byKey.forEach(
          (key, value) -> {
            EngineMetric metric = BY_KEY.get(key);
            if (metric != null && value != null) {
              known.put(metric, value);
            }
          });
    }
    return known;
  }

  /** Null where it is none: numbers that cannot be, or bounds that were never said. */
  private static ServerSample.@Nullable Histogram histogram(
      Endpoint said, EngineMetric metric, Buckets buckets) {
    List<Double> bounds = buckets.le == null ? said.bounds.get(metric) : bounds(buckets.le);
    if (bounds == null) {
      return null;
    }
    said.bounds.put(metric, bounds);
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
    return le.size() > MOST_BOUNDS ? null : List.copyOf(le);
  }
}
