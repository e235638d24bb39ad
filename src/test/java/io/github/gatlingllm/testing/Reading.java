package io.github.gatlingllm.testing;

import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.Histogram;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A reading of a metrics page: that of target {@code a}, in 1 ms, unless a test says otherwise. */
public final class Reading {

  private final long unixNanos;
  private final Map<EngineMetric, Double> values;
  private @Nullable String target = "a";
  private @Nullable String role;
  private String url = "http://a/metrics";
  private @Nullable String error;
  private boolean reset;
  private Map<EngineMetric, Histogram> histograms = Map.of();
  private Map<String, Map<EngineMetric, Double>> gpus = Map.of();

  private Reading(long unixNanos, Map<EngineMetric, Double> values) {
    this.unixNanos = unixNanos;
    this.values = values;
  }

  public static Reading at(long unixNanos, Map<EngineMetric, Double> values) {
    return new Reading(unixNanos, values);
  }

  public Reading of(@Nullable String newTarget, String newUrl) {
    target = newTarget;
    url = newUrl;
    return this;
  }

  public Reading role(String ofServer) {
    role = ofServer;
    return this;
  }

  public Reading failed(@Nullable String message) {
    error = message;
    return this;
  }

  public Reading reset(boolean isReset) {
    reset = isReset;
    return this;
  }

  public Reading histograms(Map<EngineMetric, Histogram> more) {
    histograms = more;
    return this;
  }

  public Reading gpus(Map<String, Map<EngineMetric, Double>> each) {
    gpus = each;
    return this;
  }

  public ServerSample sample() {
    return new ServerSample(
        unixNanos, target, role, url, "vllm", 1, error, reset, Map.of(), values, histograms, gpus);
  }
}
