package io.github.gatlingllm.figures.metric;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Figures from a target's metrics pages in the measure windows of one or more load levels. Counters
 * and histograms are differences between readings; if a window cuts a reading interval, the growth
 * counts in proportion to the overlap.
 *
 * @param gpus by name
 * @param roles the same of the servers that only prefill, and of those that only decode
 * @param isPowerShared whether GPU power comes from a page that describes all targets
 */
@JsonPropertyOrder({"window_s", "prefix_cache_hit_rate", "acceptance_rate", "accepted_length"})
public record EngineFigures(
    double windowS,
    long readings,
    long failedReadings,
    long resets,
    Map<EngineMetric, EngineState> states,
    Map<EngineMetric, EngineGrowth> counters,
    Map<EngineMetric, EngineTiming> timings,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, Gpu> gpus,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, EngineFigures> roles,
    @JsonIgnore boolean isPowerShared) {

  private static final List<EngineMetric> KV_MOVED =
      List.of(
          EngineMetric.KV_TRANSFER_BYTES,
          EngineMetric.KV_OFFLOADED_BYTES,
          EngineMetric.KV_OFFLOADED_TOKENS,
          EngineMetric.KV_OFFLOADED_BLOCKS);

  public record EngineState(double mean, double max) {}

  /**
   * The gauges of one GPU.
   *
   * @param atLimit its reading with the lowest clock of those at a limit; null if none was
   */
  public record Gpu(Map<EngineMetric, EngineState> states, @Nullable AtLimit atLimit) {

    private static final Pattern NUMBER = Pattern.compile("\\d+");

    /** The order of names: GPU 2 before GPU 10. */
    public static final Comparator<String> BY_NUMBER =
        Comparator.comparing(
            name ->
                NUMBER
                    .matcher(name)
                    .replaceAll(
                        of -> "0".repeat(Math.max(0, 9 - of.group().length())) + of.group()));

    public @Nullable Double mean(EngineMetric gauge) {
      return value(states, gauge, EngineState::mean);
    }

    public @Nullable Double max(EngineMetric gauge) {
      return value(states, gauge, EngineState::max);
    }
  }

  /**
   * The clock of a GPU whose temperature or power was at its limit.
   *
   * @param limit {@code temperature} or {@code power}
   * @param value of it, °C or W
   * @param atS seconds since the start of the load
   */
  public record AtLimit(double clockMhz, String limit, double value, double atS) {}

  /**
   * A counter's growth in the windows, as far as it was read.
   *
   * @param perS {@code total} ÷ the time that readings cover; null if they cover less than {@link
   *     #MIN_COVERED} of the windows
   */
  public record EngineGrowth(double total, @Nullable Double perS, double covered) {

    public static final double MIN_COVERED = 0.95;

    public static EngineGrowth of(double grown, double coveredS, double windowS) {
      double covered = coveredS / windowS;
      return new EngineGrowth(
          grown, covered < MIN_COVERED ? null : (Double) (grown / coveredS), covered);
    }
  }

  /** A histogram's values; percentiles are interpolated, null without buckets. */
  public record EngineTiming(
      double count,
      double mean,
      @Nullable Double p50,
      @Nullable Double p90,
      @Nullable Double p95,
      @Nullable Double p99) {}

  private static <V> @Nullable Double value(
      Map<EngineMetric, V> all, EngineMetric metric, Function<V, @Nullable Double> value) {
    V of = all.get(metric);
    return of == null ? null : value.apply(of);
  }

  public @Nullable Double mean(EngineMetric gauge) {
    return value(states, gauge, EngineState::mean);
  }

  public @Nullable Double max(EngineMetric gauge) {
    return value(states, gauge, EngineState::max);
  }

  public @Nullable Double total(EngineMetric counter) {
    return value(counters, counter, EngineGrowth::total);
  }

  public @Nullable Double perS(EngineMetric counter) {
    return value(counters, counter, EngineGrowth::perS);
  }

  public @Nullable Double meanMs(EngineMetric histogram) {
    return value(timings, histogram, timing -> timing.mean() * 1e3);
  }

  public @Nullable Double p99Ms(EngineMetric histogram) {
    Double seconds = value(timings, histogram, EngineTiming::p99);
    return seconds == null ? null : (Double) (seconds * 1e3);
  }

  /** Cached ÷ looked-up prompt tokens, else the server's own rate; null if unknown. */
  @JsonProperty
  public @Nullable Double prefixCacheHitRate() {
    return share(
        total(EngineMetric.PREFIX_CACHE_HITS),
        total(EngineMetric.PREFIX_CACHE_QUERIES),
        mean(EngineMetric.PREFIX_CACHE_HIT_RATE));
  }

  private static @Nullable Double share(
      @Nullable Double part, @Nullable Double total, @Nullable Double reported) {
    return total == null || part == null ? reported : total == 0 ? null : (Double) (part / total);
  }

  /** Accepted ÷ drafted tokens of speculative decoding, else the server's own rate; or null. */
  @JsonProperty
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public @Nullable Double acceptanceRate() {
    return share(
        total(EngineMetric.SPEC_ACCEPTED_TOKENS),
        total(EngineMetric.SPEC_DRAFT_TOKENS),
        mean(EngineMetric.SPEC_ACCEPTANCE_RATE));
  }

  /** Tokens of a step: 1 + accepted ÷ drafts, else the server's own mean; null if unknown. */
  @JsonProperty
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public @Nullable Double acceptedLength() {
    Double drafts = total(EngineMetric.SPEC_DRAFTS);
    Double accepted = share(total(EngineMetric.SPEC_ACCEPTED_TOKENS), drafts, null);
    return drafts == null
        ? mean(EngineMetric.SPEC_ACCEPTANCE_LENGTH)
        : accepted == null ? null : (Double) (1 + accepted);
  }

  /** Whether parts of its KV cache went to other servers, or out of the GPU. */
  public boolean movesKv() {
    return timings.containsKey(EngineMetric.KV_TRANSFER_S)
        || KV_MOVED.stream().anyMatch(counters::containsKey);
  }

  /** Energy of the GPUs in joules, by their counters, else mean power × time; null if unknown. */
  public @Nullable Double joules() {
    Double power =
        counters.containsKey(EngineMetric.GPU_ENERGY_J)
            ? perS(EngineMetric.GPU_ENERGY_J)
            : mean(EngineMetric.GPU_POWER_W);
    return power == null ? null : (Double) (power * windowS);
  }

  public record EnginePage(
      @Nullable String target,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String role,
      String url,
      String source,
      long readings,
      long failedReadings,
      long resets,
      @Nullable String lastError,
      Map<EngineMetric, String> names) {}

  /** Means of gauges and, in seconds, of histograms; growth of counters per second. */
  public record EnginePoint(
      double startS,
      Map<EngineMetric, Double> values,
      Map<String, Map<EngineMetric, Double>> gpus) {

    public @Nullable Double of(EngineMetric metric) {
      return values.get(metric);
    }

    /** The share of the memory of all GPUs that is in use. */
    public @Nullable Double gpuMemoryUse() {
      return share(
          of(EngineMetric.GPU_MEMORY_USED_BYTES), of(EngineMetric.GPU_MEMORY_TOTAL_BYTES), null);
    }

    public @Nullable Double prefixCacheHitRate() {
      return share(
          of(EngineMetric.PREFIX_CACHE_HITS),
          of(EngineMetric.PREFIX_CACHE_QUERIES),
          of(EngineMetric.PREFIX_CACHE_HIT_RATE));
    }
  }

  /**
   * Counters of an engine over the entire run, beside the requests sent to it.
   *
   * @param targets the targets that reach it; empty where pages describe no single target
   * @param tokensByServer output tokens; those that only our tokenizer counted, as of cut answers,
   *     by its error in answers that the server counted too
   */
  public record EngineRun(
      List<String> targets,
      long sent,
      long ok,
      long abandoned,
      long outputTokens,
      double tokensByServer,
      @Nullable Double generatedTokens,
      @Nullable Double finishedRequests) {}
}
