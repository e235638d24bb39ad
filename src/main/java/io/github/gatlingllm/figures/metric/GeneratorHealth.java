package io.github.gatlingllm.figures.metric;

import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** State of one load generator in the measure window of one load level. */
public record GeneratorHealth(String injector, List<Interval> seconds) {

  /**
   * About a second.
   *
   * @param lateMicros for the loop with the most lag: how long its lag exceeded each of {@link
   *     GeneratorSecond#LATE_MS}
   * @param idle idle share of the machine's CPU; null if unknown
   */
  @SuppressWarnings("ArrayRecordComponent") // compared by nobody
  public record Interval(
      double fromS,
      double untilS,
      double lagMaxMs,
      int[] lateMicros,
      @Nullable Double idle,
      @Nullable Double own,
      double compilerS,
      double gcMaxMs) {

    public double lengthS() {
      return untilS - fromS;
    }
  }

  public double lengthS() {
    return seconds.stream().mapToDouble(Interval::lengthS).sum();
  }

  public double lagMaxMs() {
    return seconds.stream().mapToDouble(Interval::lagMaxMs).max().orElse(0);
  }

  /** Share of the machine's CPU that the generator used; null if unknown. */
  public @Nullable Double own() {
    return mean(Interval::own);
  }

  /** Idle share of the machine's CPU; null if unknown. */
  public @Nullable Double idle() {
    return mean(Interval::idle);
  }

  /** Weighted by length; a second without a value counts as 0. */
  private @Nullable Double mean(Function<Interval, @Nullable Double> share) {
    return seconds.stream().map(share).allMatch(Objects::isNull)
        ? null
        : (Double)
            (seconds.stream()
                    .mapToDouble(
                        second ->
                            Objects.requireNonNullElse(share.apply(second), 0.0) * second.lengthS())
                    .sum()
                / lengthS());
  }
}
