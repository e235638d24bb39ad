package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.SelfTest;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The error of the load generator at the load of the run, by the self-test of its machine.
 *
 * @param test the self-test; without quotes unless it applies to the run
 * @param peak at the most requests in flight and the highest rate of any level; null without quotes
 */
public record SelfTestQuote(SelfTest test, @Nullable At operatingPoint, @Nullable At peak) {

  /**
   * A load of the run, and the lightest tested level with at least as many streams and events.
   *
   * @param eventsPerS token events per second, taken as one per token
   * @param tested null where the self-test measured no such load
   */
  public record At(
      @Nullable String stage, double streams, double eventsPerS, SelfTest.@Nullable Level tested) {}

  /** The run's own rate is in it too: rates of levels that overlap in time add up there. */
  static @Nullable SelfTestQuote of(
      @Nullable SelfTest test,
      Figures run,
      @Nullable LevelFigures quoted,
      List<LevelFigures> levels) {
    if (test == null || !test.applies()) {
      return test == null ? null : new SelfTestQuote(test, null, null);
    }
    double fastest =
        Stream.concat(Stream.of(run), levels.stream().map(LevelFigures::figures))
            .mapToDouble(SelfTestQuote::rate)
            .max()
            .orElse(0);
    return new SelfTestQuote(
        test,
        quoted == null ? null : at(test, quoted.label(), quoted.figures(), rate(quoted.figures())),
        at(test, null, run, fastest));
  }

  private static At at(SelfTest test, @Nullable String stage, Figures figures, double eventsPerS) {
    Double most = figures.number(Metric.PEAK_IN_FLIGHT);
    double streams = most == null ? 0 : most;
    return new At(stage, streams, eventsPerS, test.covering(streams, eventsPerS).orElse(null));
  }

  private static double rate(Figures figures) {
    Double rate = figures.number(Metric.OUTPUT_TOKENS_PER_S);
    return rate == null ? 0 : rate;
  }
}
