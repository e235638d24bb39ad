package io.github.gatlingllm.engine;

import io.github.gatlingllm.random.SplitMix64;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What all connections of one engine share.
 *
 * @param received counts completion requests
 * @param groundTruth takes what was done for each request
 */
record EngineCore(
    Options options,
    SchedulerThread scheduler,
    EngineMetrics metrics,
    AtomicLong received,
    Consumer<GroundTruth> groundTruth,
    LongSupplier nanoClock) {

  /**
   * How the engine answers; when it does is its scheduler's.
   *
   * @param model name of the only model
   * @param seed of texts, lengths and faults
   * @param maxContext most tokens of prompt and answer together
   * @param apiKey asked for on {@code /v1/…}; null for none
   * @param recordGroundTruth whether finished requests are kept
   * @param tokensPerChunk tokens that share one chunk
   * @param prefixCaching whether KV blocks are shared by their content
   * @param reasoningTokens that a chat answer begins with; 0 for an engine that does not reason
   * @param faults shares add up to at most 1
   */
  record Options(
      String model,
      long seed,
      int maxContext,
      @Nullable String apiKey,
      boolean recordGroundTruth,
      int tokensPerChunk,
      boolean prefixCaching,
      int reasoningTokens,
      List<Fault> faults) {

    /** What goes wrong with a request, by its number from 0; null where nothing does. */
    Fault.@Nullable Effect faultOf(long request) {
      double draw = new SplittableRandom(SplitMix64.mix(seed) + request).nextDouble();
      for (Fault fault : faults) {
        draw -= fault.share();
        if (draw < 0) {
          return fault.effect();
        }
      }
      return null;
    }
  }
}
