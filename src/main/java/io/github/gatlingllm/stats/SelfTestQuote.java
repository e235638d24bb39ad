package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Figures.Throughput;
import io.github.gatlingllm.record.SelfTest;
import java.util.List;
import java.util.Objects;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the self-test of a run's machine says about that run: the load generator's own error at the
 * run's load, taken from the lightest tested level with at least as many streams and events.
 *
 * @param measuredUnixNs when it was measured
 * @param differs in what the run differs from it; unless empty nothing is quoted
 * @param clockUncertaintyMs how far its errors may be off
 * @param boundMs the largest p99 of an error below its ceiling
 * @param ceiling the highest load within that bound; null where there is none
 * @param levels all that it measured
 * @param operatingPoint at the level that headlines quote; null where there are several or none
 * @param peak at the most in flight and the highest rate of any level of the run; null where
 *     nothing is quoted
 */
public record SelfTestQuote(
    long measuredUnixNs,
    List<String> differs,
    double clockUncertaintyMs,
    double boundMs,
    SelfTest.@Nullable Ceiling ceiling,
    List<SelfTest.Level> levels,
    @Nullable At operatingPoint,
    @Nullable At peak) {

  /**
   * A load of the run, and the tested level that covers it.
   *
   * @param stage label of the load level; null for the peak of all
   * @param streams most requests in flight
   * @param eventsPerS token events per second, taken as one per token
   * @param tested null where the self-test measured no such load
   */
  public record At(
      @Nullable String stage, double streams, double eventsPerS, SelfTest.@Nullable Level tested) {}

  /** Whether anything is quoted. */
  public boolean applies() {
    return differs.isEmpty();
  }

  /**
   * What is quoted.
   *
   * @param test as the run knows it; null where it knows none
   * @param operatingLevel the one that headlines quote; null where there are several or none
   * @param stages all load levels
   * @param run all of them pooled
   */
  static @Nullable SelfTestQuote of(
      @Nullable SelfTest test,
      Summary.@Nullable Stage operatingLevel,
      List<Summary.Stage> stages,
      Throughput run) {
    if (test == null) {
      return null;
    }
    boolean isQuoted = test.applies();
    return new SelfTestQuote(
        test.measuredUnixNanos(),
        test.differs(),
        test.clockUncertaintyMs(),
        test.boundMs(),
        test.ceiling(),
        test.levels(),
        isQuoted && operatingLevel != null ? operatingPoint(test, operatingLevel) : null,
        isQuoted ? peak(test, stages, run) : null);
  }

  private static At operatingPoint(SelfTest test, Summary.Stage level) {
    Throughput flow = level.figures().throughput();
    return at(test, level.label(), flow.peakInFlight(), flow.outputTokensPerS());
  }

  /** Levels side by side add up in the run's own rate, levels one after the other do not. */
  private static At peak(SelfTest test, List<Summary.Stage> stages, Throughput run) {
    Stream<@Nullable Double> rates =
        Stream.concat(
            Stream.of(run).map(Throughput::outputTokensPerS),
            stages.stream().map(level -> level.figures().throughput().outputTokensPerS()));
    DoubleStream known = rates.filter(Objects::nonNull).mapToDouble(Double::doubleValue);
    return at(test, null, run.peakInFlight(), known.max().orElse(0));
  }

  private static At at(
      SelfTest test,
      @Nullable String stage,
      @Nullable Double inFlight,
      @Nullable Double tokensPerS) {
    double streams = inFlight == null ? 0 : inFlight;
    double events = tokensPerS == null ? 0 : tokensPerS;
    return new At(stage, streams, events, test.covering(streams, events).orElse(null));
  }
}
