package io.github.gatlingllm.engine;

import java.util.Map;
import java.util.TreeMap;

/**
 * The page {@code /metrics}, with the metric names of vLLM in the Prometheus text format. Belongs
 * to the event loop. Times run from the moment the complete request was read to the moment a token
 * was handed to the connection.
 */
final class EngineMetrics {
  private final String labels;
  private final double kvCapacity;
  private final SecondsHistogram ttft =
      new SecondsHistogram(
          0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20,
          40, 80);
  private final SecondsHistogram gaps =
      new SecondsHistogram(
          0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40,
          80);
  private final SecondsHistogram endToEnd = ofRequests();
  private final SecondsHistogram queue = ofRequests();
  private final SecondsHistogram prefill = ofRequests();
  private final SecondsHistogram decode = ofRequests();
  private final Map<String, Long> finished =
      new TreeMap<>(Map.of("stop", 0L, "length", 0L, "tool_calls", 0L, "abort", 0L));
  private long promptTokens;
  private long generatedTokens;

  /**
   * @param kvCapacity tokens of the KV cache: those of a full batch of the longest contexts, as the
   *     engine never preempts
   */
  EngineMetrics(String model, double kvCapacity) {
    this.kvCapacity = kvCapacity;
    labels = "model_name=\"" + model.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  private static SecondsHistogram ofRequests() {
    return new SecondsHistogram(
        0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920);
  }

  void admitted(int promptTokens, long queueNanos) {
    this.promptTokens += promptTokens;
    queue.record(queueNanos);
  }

  void firstToken(long ttftNanos, long prefillNanos) {
    generatedTokens++;
    ttft.record(ttftNanos);
    prefill.record(prefillNanos);
  }

  void nextToken(long gapNanos) {
    generatedTokens++;
    gaps.record(gapNanos);
  }

  void completed(String finishReason, long endToEndNanos, long decodeNanos) {
    finished.merge(finishReason, 1L, Long::sum);
    endToEnd.record(endToEndNanos);
    decode.record(decodeNanos);
  }

  void aborted() {
    finished.merge("abort", 1L, Long::sum);
  }

  String text(EmbeddedEngine.EngineLoad load) {
    StringBuilder out = new StringBuilder(8_192);
    value(out, "vllm:num_requests_running", "gauge", load.running());
    value(out, "vllm:num_requests_waiting", "gauge", load.waiting());
    value(out, "vllm:kv_cache_usage_perc", "gauge", load.kvTokens() / kvCapacity);
    value(out, "vllm:prefix_cache_queries_total", "counter", load.prefixQueriedTokens());
    value(out, "vllm:prefix_cache_hits_total", "counter", load.prefixHitTokens());
    value(out, "vllm:prompt_tokens_total", "counter", promptTokens);
    value(out, "vllm:generation_tokens_total", "counter", generatedTokens);
    type(out, "vllm:request_success_total", "counter");
    finished.forEach(
        (reason, count) ->
            line(out, "vllm:request_success_total", ",finished_reason=\"" + reason + "\"", count));
    histogram(out, "vllm:time_to_first_token_seconds", ttft);
    histogram(out, "vllm:time_per_output_token_seconds", gaps);
    histogram(out, "vllm:inter_token_latency_seconds", gaps);
    histogram(out, "vllm:e2e_request_latency_seconds", endToEnd);
    histogram(out, "vllm:request_queue_time_seconds", queue);
    histogram(out, "vllm:request_prefill_time_seconds", prefill);
    histogram(out, "vllm:request_decode_time_seconds", decode);
    return out.toString();
  }

  private void value(StringBuilder out, String name, String type, Number value) {
    type(out, name, type);
    line(out, name, "", value);
  }

  private void histogram(StringBuilder out, String name, SecondsHistogram histogram) {
    type(out, name, "histogram");
    for (int i = 0; i < histogram.bounds.length; i++) {
      line(out, name + "_bucket", ",le=\"" + histogram.bounds[i] + "\"", histogram.counts[i]);
    }
    line(out, name + "_bucket", ",le=\"+Inf\"", histogram.count);
    line(out, name + "_sum", "", histogram.sum);
    line(out, name + "_count", "", histogram.count);
  }

  private static void type(StringBuilder out, String name, String type) {
    out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private void line(StringBuilder out, String name, String moreLabels, Number value) {
    out.append(name).append('{').append(labels).append(moreLabels).append("} ");
    out.append(value).append('\n');
  }

  /** Counts by ascending upper bounds, in seconds. */
  private static final class SecondsHistogram {
    private final double[] bounds;
    private final long[] counts;
    private double sum;
    private long count;

    SecondsHistogram(double... bounds) {
      this.bounds = bounds.clone();
      this.counts = new long[bounds.length];
    }

    void record(long nanos) {
      double seconds = nanos / 1e9;
      for (int i = bounds.length - 1; i >= 0 && seconds <= bounds[i]; i--) {
        counts[i]++;
      }
      sum += seconds;
      count++;
    }
  }
}
