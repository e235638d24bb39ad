package io.github.gatlingllm.check;

import io.github.gatlingllm.record.GeneratorField;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * How one load generator fared in the measure window of one load level.
 *
 * @param injector its name
 * @param seconds in order of time; at least one
 */
public record GeneratorHealth(String injector, List<Interval> seconds) {

  /**
   * About a second.
   *
   * @param fromS since the start of the run
   * @param lagMaxMs how late its event loops were at most
   * @param lateMicros how long the loop that was late most was later than each of {@link
   *     GeneratorField#LATE_MS}
   * @param idle share of the machine's processors that was idle; null where unknown
   * @param own share of them that the generator's process used; null where unknown
   * @param compilerS time of its compiler
   * @param gcMaxMs its longest pause for garbage collection
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

    /** A machine with less idle than this share has nothing to give. */
    private static final double FULL = 0.05;

    /** What a generator may take of a full machine without being to blame. */
    private static final double LIGHT = 0.1;

    double lengthS() {
      return untilS - fromS;
    }

    /** How long a loop was later than that, in seconds. */
    double lateS(double toleranceMs) {
      for (int i = 0; i < Math.min(lateMicros.length, GeneratorField.LATE_MS.size()); i++) {
        if (GeneratorField.LATE_MS.get(i) >= toleranceMs) {
          return Math.min(lengthS(), lateMicros[i] / 1e6);
        }
      }
      return lagMaxMs > toleranceMs ? lengthS() : 0;
    }

    /** How long the generator took what others lack, in seconds. */
    double outOfCpuS() {
      return idle != null && own != null && idle < FULL && own > LIGHT ? lengthS() : 0;
    }
  }

  /** Seconds that follow each other. */
  record Span(List<Interval> seconds) {

    /** Where it is in the run. */
    String place() {
      return "from %s s to %s s of the run"
          .formatted(
              (long) Math.floor(seconds.get(0).fromS()),
              (long) Math.ceil(seconds.get(seconds.size() - 1).untilS()));
    }

    double lengthS() {
      return seconds.stream().mapToDouble(Interval::lengthS).sum();
    }

    double lagMaxMs() {
      return seconds.stream().mapToDouble(Interval::lagMaxMs).max().orElse(0);
    }

    double gcMaxMs() {
      return seconds.stream().mapToDouble(Interval::gcMaxMs).max().orElse(0);
    }

    /** Seconds of the compiler per second. */
    double compiler() {
      return seconds.stream().mapToDouble(Interval::compilerS).sum() / lengthS();
    }

    double own() {
      return mean(Interval::own);
    }

    double idle() {
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

  /** How late its event loops were at most, in milliseconds. */
  public double lagMaxMs() {
    return all().lagMaxMs();
  }

  /** Share of the machine's processors that its process used; null where unknown. */
  public @Nullable Double own() {
    return seconds.stream().allMatch(second -> second.own() == null) ? null : (Double) all().own();
  }

  /** Share of them that was idle; null where unknown. */
  public @Nullable Double idle() {
    return seconds.stream().allMatch(second -> second.idle() == null)
        ? null
        : (Double) all().idle();
  }

  /** The whole window. */
  Span all() {
    return new Span(seconds);
  }

  /** Share of the window in which a loop was later than that. */
  double lateShare(double toleranceMs) {
    return seconds.stream().mapToDouble(second -> second.lateS(toleranceMs)).sum()
        / all().lengthS();
  }

  /**
   * Spans of the seconds that have anything of something, those with most of it first.
   *
   * @param much how much a second has; 0 for none
   */
  List<Span> spans(ToDoubleFunction<Interval> much) {
    List<Span> spans = new ArrayList<>();
    List<Interval> current = List.of();
    for (Interval second : seconds) {
      if (much.applyAsDouble(second) <= 0) {
        current = List.of();
      } else if (current.isEmpty()) {
        current = new ArrayList<>(List.of(second));
        spans.add(new Span(current));
      } else {
        current.add(second);
      }
    }
    spans.sort(
        Comparator.<Span>comparingDouble(span -> span.seconds().stream().mapToDouble(much).sum())
            .reversed());
    return spans;
  }
}
