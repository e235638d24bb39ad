package io.github.gatlingllm.figures.metric;

import io.github.gatlingllm.record.GeneratorSecond;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** How well a load generator kept up while a load level was measured, second by second. */
public record GeneratorHealth(String injector, List<Second> seconds) {

  /** About a second; {@code lateMicros} as in {@link GeneratorSecond#LATE_MS}. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Second(
      double fromS,
      double untilS,
      double lagP99Ms,
      double lagMaxMs,
      int[] lateMicros,
      @Nullable Double idle,
      @Nullable Double own,
      @Nullable Double stolen,
      double compilerS,
      double gcMaxMs) {

    /** A machine with a smaller idle share is out of CPU. */
    private static final double FULL = 0.05;

    /** Share of CPU up to which the generator is not the cause of a machine out of CPU. */
    private static final double LIGHT = 0.1;

    public double lengthS() {
      return untilS - fromS;
    }

    public double lateS(double toleranceMs) {
      for (int i = 0; i < Math.min(lateMicros.length, GeneratorSecond.LATE_MS.size()); i++) {
        if (GeneratorSecond.LATE_MS.get(i) >= toleranceMs) {
          return Math.min(lengthS(), lateMicros[i] / 1e6);
        }
      }
      return lagMaxMs > toleranceMs ? lengthS() : 0;
    }

    /** Without idle CPU, whoever uses it. */
    public double fullS() {
      return idle != null && idle < FULL ? lengthS() : 0;
    }

    public double outOfCpuS() {
      return own != null && own > LIGHT ? fullS() : 0;
    }
  }

  /** Whether the figures of the level can be trusted; {@code share} of the window is affected. */
  public record Verdict(
      Figures.CheckLevel level,
      double share,
      boolean isOutOfCpu,
      double toleranceMs,
      String affected) {}

  /** A lag that is a smaller share of a median does not affect it. */
  public static final double PART = 0.2;

  public static final double HALF = 0.5;

  /** Share of stolen CPU from which it is named as the cause of a lag. */
  public static final double STOLEN = 0.05;

  /** Lag that any machine has occasionally, tolerated in the tail. */
  private static final double TAIL_MS = 10;

  private static final double MEDIAN_MS = 2;

  /** Minimum total lag, since in a short window a few late heartbeats already are 1 %. */
  private static final double NOW_AND_THEN_S = 0.05;

  /** A single lag above this is visible in figures, whatever its share. */
  private static final double SINGLE_MS = 100;

  /** Share of the window out of CPU that warns. */
  public static final double SOME = 0.1;

  /** Judges by the figures of the level: TTFT and ITL of streams, E2E of answers in one body. */
  public Verdict verdict(Figures figures) {
    List<String> tails = new ArrayList<>();
    double late = 0;
    double mostlyLate = 0;
    double tailMs = SINGLE_MS;
    boolean isStreamed = !figures.metric(Metric.TTFT_MS).isEmpty();
    for (Metric metric :
        isStreamed ? List.of(Metric.TTFT_MS, Metric.ITL_MS) : List.of(Metric.E2E_MS)) {
      Double p50 = figures.metric(metric).p50();
      double median = p50 == null ? 0 : p50;
      double toleranceMs = Math.max(TAIL_MS, PART * median);
      double share = lateShare(toleranceMs);
      late = Math.max(late, share);
      mostlyLate = Math.max(mostlyLate, lateShare(Math.max(MEDIAN_MS, PART * median)));
      if (share > 0.01 && share * lengthS() > NOW_AND_THEN_S) {
        tails.add(metric.title() + " p99");
        tailMs = Math.min(tailMs, toleranceMs);
      }
    }
    double full = sum(Second::outOfCpuS) / lengthS();
    boolean isMostlyLate = mostlyLate > HALF;
    if (full > SOME) {
      boolean isInvalid = full > HALF || isMostlyLate;
      return new Verdict(
          isInvalid ? Figures.CheckLevel.INVALID : Figures.CheckLevel.WARNING, full, true, 0, "");
    }
    if (isMostlyLate) {
      return new Verdict(Figures.CheckLevel.INVALID, mostlyLate, false, MEDIAN_MS, "all times");
    }
    return tails.isEmpty() && lagMaxMs() <= SINGLE_MS
        ? new Verdict(Figures.CheckLevel.OK, late, false, tailMs, "")
        : new Verdict(
            Figures.CheckLevel.WARNING,
            late,
            false,
            tailMs,
            tails.isEmpty() ? "the longest times" : String.join(" and ", tails));
  }

  /** Share of the window in which the machine had no idle CPU. */
  public double fullShare() {
    return sum(Second::fullS) / lengthS();
  }

  private double lateShare(double toleranceMs) {
    return sum(second -> second.lateS(toleranceMs)) / lengthS();
  }

  public double sum(ToDoubleFunction<Second> amount) {
    return seconds.stream().mapToDouble(amount).sum();
  }

  public double lengthS() {
    return sum(Second::lengthS);
  }

  /** Of the event loop and the second where it was largest. */
  public double lagP99Ms() {
    return seconds.stream().mapToDouble(Second::lagP99Ms).max().orElse(0);
  }

  public double lagMaxMs() {
    return seconds.stream().mapToDouble(Second::lagMaxMs).max().orElse(0);
  }

  public @Nullable Double own() {
    return mean(Second::own);
  }

  public @Nullable Double stolen() {
    return mean(Second::stolen);
  }

  public @Nullable Double idle() {
    return mean(Second::idle);
  }

  /** Share of the machine's CPU that all programs used. */
  public @Nullable Double busy() {
    Double idle = idle();
    return idle == null ? null : (Double) (1 - idle);
  }

  /** Weighted by length; a second without a value counts as 0. */
  private @Nullable Double mean(Function<Second, @Nullable Double> share) {
    return seconds.stream().map(share).allMatch(Objects::isNull)
        ? null
        : (Double)
            (sum(each -> Objects.requireNonNullElse(share.apply(each), 0.0) * each.lengthS())
                / lengthS());
  }
}
