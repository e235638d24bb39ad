package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.record.GeneratorField;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * State of one load generator in the measure window of one load level.
 *
 * @param injector its name
 * @param seconds in order of time; at least one
 */
public record GeneratorHealth(String injector, List<Interval> seconds) {

  /**
   * About a second.
   *
   * @param fromS since the start of the run
   * @param lagMaxMs largest lag of an event loop
   * @param lateMicros for the loop with the most lag: how long its lag exceeded each of {@link
   *     GeneratorField#LATE_MS}
   * @param idle idle share of the machine's CPU; null if unknown
   * @param own share of the machine's CPU that the generator used; null if unknown
   * @param compilerS CPU seconds of the JIT compiler
   * @param gcMaxMs longest garbage collection pause
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

    /** A machine with a smaller idle share is out of CPU. */
    private static final double FULL = 0.05;

    /** Share of CPU up to which the generator is not the cause of a machine out of CPU. */
    private static final double LIGHT = 0.1;

    public double lengthS() {
      return untilS - fromS;
    }

    /** How long a loop's lag exceeded that, in seconds. */
    public double lateS(double toleranceMs) {
      for (int i = 0; i < Math.min(lateMicros.length, GeneratorField.LATE_MS.size()); i++) {
        if (GeneratorField.LATE_MS.get(i) >= toleranceMs) {
          return Math.min(lengthS(), lateMicros[i] / 1e6);
        }
      }
      return lagMaxMs > toleranceMs ? lengthS() : 0;
    }

    /** How long the machine was out of CPU because of the generator, in seconds. */
    public double outOfCpuS() {
      return idle != null && own != null && idle < FULL && own > LIGHT ? lengthS() : 0;
    }
  }

  /** Consecutive seconds. */
  public record Span(List<Interval> seconds) {

    /** Its position in the run, in words. */
    public String place() {
      return "from %s s to %s s of the run"
          .formatted(
              (long) Math.floor(seconds.get(0).fromS()),
              (long) Math.ceil(seconds.get(seconds.size() - 1).untilS()));
    }

    public double lengthS() {
      return seconds.stream().mapToDouble(Interval::lengthS).sum();
    }

    public double lagMaxMs() {
      return seconds.stream().mapToDouble(Interval::lagMaxMs).max().orElse(0);
    }

    public double gcMaxMs() {
      return seconds.stream().mapToDouble(Interval::gcMaxMs).max().orElse(0);
    }

    /** JIT compiler seconds per second. */
    public double compiler() {
      return seconds.stream().mapToDouble(Interval::compilerS).sum() / lengthS();
    }

    public double own() {
      return mean(Interval::own);
    }

    public double idle() {
      return mean(Interval::idle);
    }

    private double mean(Function<Interval, @Nullable Double> share) {
      double sum = 0;
      for (Interval second : seconds) {
        Double value = share.apply(second);
        sum += value == null ? 0 : value * second.lengthS();
      }
      return sum / lengthS();
    }
  }

  /** Largest event loop lag in milliseconds. */
  public double lagMaxMs() {
    return all().lagMaxMs();
  }

  /** Share of the machine's CPU that the generator used; null if unknown. */
  public @Nullable Double own() {
    return seconds.stream().allMatch(second -> second.own() == null) ? null : (Double) all().own();
  }

  /** Idle share of the machine's CPU; null if unknown. */
  public @Nullable Double idle() {
    return seconds.stream().allMatch(second -> second.idle() == null)
        ? null
        : (Double) all().idle();
  }

  /** The whole window. */
  public Span all() {
    return new Span(seconds);
  }

  /** Share of the window in which a loop's lag exceeded that. */
  public double lateShare(double toleranceMs) {
    return seconds.stream().mapToDouble(second -> second.lateS(toleranceMs)).sum()
        / all().lengthS();
  }

  /**
   * Spans of consecutive seconds with a positive amount, the largest total first.
   *
   * @param amount the amount of a second
   */
  public List<Span> spans(ToDoubleFunction<Interval> amount) {
    List<Span> spans = new ArrayList<>();
    List<Interval> current = List.of();
    for (Interval second : seconds) {
      if (amount.applyAsDouble(second) <= 0) {
        current = List.of();
      } else if (current.isEmpty()) {
        current = new ArrayList<>(List.of(second));
        spans.add(new Span(current));
      } else {
        current.add(second);
      }
    }
    spans.sort(
        Comparator.<Span>comparingDouble(span -> span.seconds().stream().mapToDouble(amount).sum())
            .reversed());
    return spans;
  }
}
