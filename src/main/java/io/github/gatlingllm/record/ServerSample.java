package io.github.gatlingllm.record;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one page of metrics of a server said at one instant: a line of {@code llm/server.jsonl}.
 *
 * @param unixNanos when the page was asked for, on the run's clock
 * @param target label of the target that it is about; null where it is about all, such as a host's
 * @param url of the page, without credentials; with {@code target} it names the endpoint
 * @param source whose names the page has: {@code vllm}, {@code sglang}, {@code tgi}, {@code
 *     llama.cpp}, {@code tensorrt-llm}, {@code triton}, {@code dynamo}, {@code llm-d}, {@code
 *     dcgm}, {@code node}, several joined by {@code +}; empty where it was never understood
 * @param tookMs from the question to the whole answer, milliseconds
 * @param error why there are no values; null where there are
 * @param reset whether a counter went back since the last scrape that succeeded, as after a restart
 * @param names the server's own names of values, as far as known
 * @param values gauges as they are, counters since the server's start
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

  /** The same of another instant. */
  public ServerSample at(long otherUnixNanos) {
    return new ServerSample(
        otherUnixNanos, target, url, source, tookMs, error, reset, names, values, histograms);
  }

  /** The same of a target, as the first of its page: nothing before it could have been reset. */
  public ServerSample asFirst(@Nullable String ofTarget) {
    return new ServerSample(
        unixNanos, ofTarget, url, source, tookMs, error, false, names, values, histograms);
  }

  /** A value; null where there is none. */
  public @Nullable Double value(EngineMetric metric) {
    return values.get(metric);
  }

  /**
   * How many values there were since the server's start.
   *
   * @param count all of them
   * @param sum of the values
   * @param bounds upper ones, inclusive, ascending, all finite; empty where the server has no
   *     buckets or its series have different ones
   * @param counts of values up to each bound, never less than the one before nor more than all
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
