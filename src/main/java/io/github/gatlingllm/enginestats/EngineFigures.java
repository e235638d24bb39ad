package io.github.gatlingllm.enginestats;

import io.github.gatlingllm.record.EngineMetric;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a target's pages of metrics say of the measure windows of some load levels. Counters and
 * histograms are differences between two readings; of a reading interval that a window cuts, the
 * part that lies in it counts.
 *
 * @param windowS length of the windows, seconds
 * @param readings of all its pages in the windows
 * @param failedReadings of these, how many brought nothing
 * @param resets how often a counter went back, as after a restart
 * @param states gauges, as they were at the readings
 * @param counters how much they grew
 * @param timings histograms, in seconds
 * @param isPowerShared whether the GPUs' power is told by a page that is about all targets
 */
public record EngineFigures(
    double windowS,
    long readings,
    long failedReadings,
    long resets,
    Map<EngineMetric, State> states,
    Map<EngineMetric, Growth> counters,
    Map<EngineMetric, Timing> timings,
    boolean isPowerShared) {

  /** A gauge over its readings. */
  public record State(double mean, double max) {}

  /** A counter's growth in the windows, and ÷ their length. */
  public record Growth(double total, double perS) {}

  /**
   * A histogram's values in the windows.
   *
   * @param count how many; a fraction where a window cuts a reading interval
   * @param mean exact, from their sum
   * @param p50 interpolated within its bucket, as all percentiles; beyond the last bound, that
   *     bound; null where there are no buckets or pages have different ones
   */
  public record Timing(
      double count,
      double mean,
      @Nullable Double p50,
      @Nullable Double p90,
      @Nullable Double p95,
      @Nullable Double p99) {}

  /** The mean of a gauge; null where there is none. */
  public @Nullable Double mean(EngineMetric gauge) {
    State state = states.get(gauge);
    return state == null ? null : (Double) state.mean();
  }

  /** The most of a gauge; null where there is none. */
  public @Nullable Double max(EngineMetric gauge) {
    State state = states.get(gauge);
    return state == null ? null : (Double) state.max();
  }

  /** How much a counter grew; null where there is none. */
  public @Nullable Double total(EngineMetric counter) {
    Growth growth = counters.get(counter);
    return growth == null ? null : (Double) growth.total();
  }

  /** How much a counter grew per second; null where there is none. */
  public @Nullable Double perS(EngineMetric counter) {
    Growth growth = counters.get(counter);
    return growth == null ? null : (Double) growth.perS();
  }

  /** The mean of a histogram in milliseconds; null where there is none. */
  public @Nullable Double meanMs(EngineMetric histogram) {
    Timing timing = timings.get(histogram);
    return timing == null ? null : (Double) (timing.mean() * 1e3);
  }

  /** Found ÷ looked up prompt tokens, else as the server says it; null where it does not tell. */
  public @Nullable Double prefixCacheHitRate() {
    return hitRate(
        total(EngineMetric.PREFIX_CACHE_HITS),
        total(EngineMetric.PREFIX_CACHE_QUERIES),
        mean(EngineMetric.PREFIX_CACHE_HIT_RATE));
  }

  private static @Nullable Double hitRate(
      @Nullable Double hits, @Nullable Double queries, @Nullable Double said) {
    return queries == null || hits == null ? said : queries == 0 ? null : (Double) (hits / queries);
  }

  /** Energy of the GPUs in joules: as counted, else mean power × time; null where not told. */
  public @Nullable Double joules() {
    Double counted = total(EngineMetric.GPU_ENERGY_J);
    Double power = mean(EngineMetric.GPU_POWER_W);
    return counted != null || power == null ? counted : (Double) (power * windowS);
  }

  /**
   * One page of metrics in the whole run.
   *
   * @param target that it is about; null where it is about all
   * @param source whose names it has; empty where it was never understood
   * @param lastError why its last failed reading failed; null where none did
   * @param names what it calls its values
   */
  public record Page(
      @Nullable String target,
      String url,
      String source,
      long readings,
      long failedReadings,
      long resets,
      @Nullable String lastError,
      Map<EngineMetric, String> names) {}

  /**
   * A target over time.
   *
   * @param points one per interval in which it was read
   */
  public record OverTime(String target, List<Point> points) {}

  /**
   * An interval.
   *
   * @param startS its start since the start of the run
   * @param values means of gauges, growth of counters per second, means of histograms in seconds
   */
  public record Point(double startS, Map<EngineMetric, Double> values) {

    /** Its value; null where there is none. */
    public @Nullable Double of(EngineMetric metric) {
      return values.get(metric);
    }

    /** As {@link EngineFigures#prefixCacheHitRate()}. */
    public @Nullable Double prefixCacheHitRate() {
      return hitRate(
          of(EngineMetric.PREFIX_CACHE_HITS),
          of(EngineMetric.PREFIX_CACHE_QUERIES),
          of(EngineMetric.PREFIX_CACHE_HIT_RATE));
    }
  }

  /**
   * What engines counted from before the first request to after the last, beside what was sent.
   *
   * @param target null where pages are about all targets
   * @param sent requests of all phases that were sent
   * @param ok of those, how many were complete and passed their checks
   * @param outputTokens of all, as counted for the report
   * @param generatedTokens null where not told, or not for the whole run
   * @param finishedRequests likewise
   */
  public record WholeRun(
      @Nullable String target,
      long sent,
      long ok,
      long outputTokens,
      @Nullable Double generatedTokens,
      @Nullable Double finishedRequests) {}
}
