package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestStatus;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Live figures with given values. */
public final class Live {

  private Live() {}

  public static LiveFigures figures(
      long ok,
      long failed,
      long rateLimited,
      long heldBack,
      @Nullable Double sloShare,
      Distribution ttft,
      Distribution itl,
      @Nullable Double tokensPerSNow,
      @Nullable Double tokensPerS,
      @Nullable Double inputsPerS,
      @Nullable Double requestsPerS,
      @Nullable Long inFlight,
      LiveFigures.@Nullable Progress progress) {
    Map<Metric, @Nullable Double> numbers = new EnumMap<>(Metric.class);
    numbers.put(Metric.OUTPUT_TOKENS_PER_S, inputsPerS == null ? tokensPerS : null);
    numbers.put(Metric.INPUTS_PER_S, inputsPerS);
    numbers.put(Metric.REQUESTS_PER_S, requestsPerS);
    long ended = ok + failed + rateLimited;
    Figures figures =
        new Figures(
            Map.of(Metric.TTFT_MS, ttft, Metric.ITL_MS, itl),
            numbers,
            null,
            null,
            null,
            0,
            List.of(),
            Map.of(),
            new Figures.Counts(
                null, ended, ended, ok, 0, Map.of(RequestStatus.RATE_LIMITED.key(), rateLimited)),
            Map.of(),
            null,
            List.of());
    return new LiveFigures(figures, sloShare, heldBack, tokensPerSNow, inFlight, progress);
  }
}
