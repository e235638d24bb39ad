package io.github.gatlingllm.record;

import java.util.List;
import java.util.Map;
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

  /** A value; null if there is none. */
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
      if (bounds.size() != counts.size()) {
        throw new IllegalArgumentException(
            "%s bounds with %s counts".formatted(bounds.size(), counts.size()));
      }
    }
  }
}
