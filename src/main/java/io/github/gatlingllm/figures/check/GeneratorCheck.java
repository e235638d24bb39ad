package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.counted;
import static io.github.gatlingllm.figures.metric.NumberText.ms;
import static io.github.gatlingllm.figures.metric.NumberText.number;
import static io.github.gatlingllm.figures.metric.NumberText.percent;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.metric.Check.Level;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth.Interval;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.GeneratorSecond;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The check of the load generator. Data that arrives while an event loop lags is stamped late by
 * that lag. So the lag affects a percentile if a loop lags for a larger share of the window than is
 * beyond the percentile. And on a machine that is out of CPU, the generator takes CPU from a server
 * on the same machine.
 */
final class GeneratorCheck {

  /** A lag that is a smaller share of a median does not affect it. */
  private static final double PART = 0.2;

  /** Lag that any machine has occasionally, tolerated in the tail. */
  private static final double TAIL_MS = 10;

  private static final double MEDIAN_MS = 2;

  /** Least total lag, since in a short window a few late heartbeats already are 1 %. */
  private static final double NOW_AND_THEN_S = 0.05;

  /** A single lag above this is visible in figures, whatever its share. */
  private static final double SINGLE_MS = 100;

  /** Share of the window out of CPU that warns. */
  private static final double SOME = 0.1;

  private static final double HALF = 0.5;

  /** A machine with a smaller idle share is out of CPU. */
  private static final double FULL = 0.05;

  /** Share of CPU up to which the generator is not the cause of a machine out of CPU. */
  private static final double LIGHT = 0.1;

  private final LevelFigures level;
  private final GeneratorHealth health;
  private final boolean isServerHere;

  private GeneratorCheck(LevelFigures level, GeneratorHealth health, boolean isServerHere) {
    this.level = level;
    this.health = health;
    this.isServerHere = isServerHere;
  }

  /** The worst verdict on one injector at these levels; null if its health is unknown. */
  static @Nullable Level level(List<LevelFigures> levels, String injector, boolean isServerHere) {
    return levels.stream()
        .flatMap(
            level ->
                level.generators().stream()
                    .filter(of -> of.injector().equals(injector))
                    .map(of -> new GeneratorCheck(level, of, isServerHere).finding().level()))
        .filter(Objects::nonNull)
        .max(Comparator.naturalOrder())
        .orElse(null);
  }

  /** The worst injector at the worst level. */
  static @Nullable Finding judge(CheckInput in) {
    List<Finding> found = new ArrayList<>();
    Double idle = null;
    double lag = 0;
    for (LevelFigures level : in.levels()) {
      for (GeneratorHealth health : level.generators()) {
        found.add(new GeneratorCheck(level, health, in.isServerHere()).finding());
        Double own = health.idle();
        idle = own == null ? idle : (Double) Math.min(idle == null ? 1 : idle, own);
        lag = Math.max(lag, health.lagMaxMs());
      }
    }
    Finding worst =
        found.stream()
            .max(
                Comparator.<Finding, Level>comparing(finding -> requireNonNull(finding.level()))
                    .thenComparing(finding -> requireNonNull(finding.value())))
            .orElse(null);
    if (worst == null) {
      return null;
    }
    long others = found.stream().filter(other -> other.level() != Level.OK).count() - 1;
    if (others == 0) {
      return worst;
    }
    if (others < 0) {
      return Finding.of(
              worst.value(),
              "Event loops lagged by at most %s in the measure windows%s."
                  .formatted(
                      ms(lag),
                      idle == null
                          ? ""
                          : ", and %s of the machine's CPU was idle on average at the busiest load"
                              .formatted(percent(idle))))
          .level(Level.OK);
    }
    boolean several = in.levels().stream().anyMatch(level -> level.generators().size() > 1);
    return worst.adding(
        several
            ? " Less severe in " + counted(others, "other case") + " of an injector at a level."
            : " Less severe at " + counted(others, "other level") + ".");
  }

  private Finding finding() {
    List<String> tails = new ArrayList<>();
    double late = 0;
    double mostlyLate = 0;
    double tailMs = SINGLE_MS;
    for (Metric metric : metrics()) {
      Double p50 = level.figures().metric(metric).p50();
      double median = p50 == null ? 0 : p50;
      double toleranceMs = Math.max(TAIL_MS, PART * median);
      double share = lateShare(toleranceMs);
      late = Math.max(late, share);
      mostlyLate = Math.max(mostlyLate, lateShare(Math.max(MEDIAN_MS, PART * median)));
      if (share > 0.01 && share * health.lengthS() > NOW_AND_THEN_S) {
        tails.add(metric.title() + " p99");
        tailMs = Math.min(tailMs, toleranceMs);
      }
    }
    double full = sum(health, GeneratorCheck::outOfCpuS) / health.lengthS();
    Level byLag =
        mostlyLate > HALF
            ? Level.INVALID
            : !tails.isEmpty() || health.lagMaxMs() > SINGLE_MS ? Level.WARNING : Level.OK;
    if (full > SOME) {
      boolean isMost = full > HALF;
      return Finding.of(full, outOfCpu())
          .level(isMost || byLag == Level.INVALID ? Level.INVALID : Level.WARNING)
          .remedy(
              "Run the generator on another machine, or pin server and generator to separate CPUs"
                  + " (taskset), before you blame the server.");
    }
    return switch (byLag) {
      case OK, NOTE -> Finding.of(late, "").level(Level.OK);
      case WARNING ->
          Finding.of(
                  late,
                  late(tailMs, tails.isEmpty() ? "the longest times" : String.join(" and ", tails)))
              .level(Level.WARNING);
      case INVALID -> Finding.of(mostlyLate, late(MEDIAN_MS, "all times")).level(Level.INVALID);
    };
  }

  /** TTFT and ITL of streams; E2E of answers in one body. */
  private List<Metric> metrics() {
    return level.figures().metric(Metric.TTFT_MS).isEmpty()
        ? List.of(Metric.E2E_MS)
        : List.of(Metric.TTFT_MS, Metric.ITL_MS);
  }

  private String late(double toleranceMs, String figures) {
    List<GeneratorHealth> spans = spans(second -> lateS(second, toleranceMs));
    GeneratorHealth worst = spans.isEmpty() ? health : spans.get(0);
    return "%s: %s%s event loops%s lagged by up to %s%s, which affects %s of %s."
        .formatted(
            level.place(),
            place(worst),
            switch (spans.size()) {
              case 0, 1 -> "";
              case 2 -> ", and at another time,";
              default -> ", and at " + (spans.size() - 1) + " other times,";
            },
            of(),
            ms(health.lagMaxMs()),
            cause(worst),
            figures,
            level.place());
  }

  private String outOfCpu() {
    GeneratorHealth worst = spans(GeneratorCheck::outOfCpuS).get(0);
    double own = orZero(worst.own());
    return "%s: %s, %s, the generator%s used %s of the CPU%s and other programs %s, which affects all times of %s."
        .formatted(
            isServerHere
                ? "The generator and the server share a machine that is out of CPU"
                : "The generator's machine is out of CPU",
            level.place(),
            place(worst),
            of(),
            percent(own),
            compiler(worst, " (", ")"),
            percent(Math.max(0, 1 - own - orZero(worst.idle()))),
            level.place());
  }

  private String of() {
    return level.generators().size() > 1 ? " of " + health.injector() : "";
  }

  private static String cause(GeneratorHealth span) {
    double pause = span.seconds().stream().mapToDouble(Interval::gcMaxMs).max().orElse(0);
    if (pause > HALF * span.lagMaxMs()) {
      return " (garbage collection paused the JVM for up to " + ms(pause) + ")";
    }
    double idle = orZero(span.idle());
    if (orZero(span.own()) + idle > 0 && idle < PART) {
      return " (the machine had %s of its CPU idle%s)"
          .formatted(percent(idle), compiler(span, "; ", ""));
    }
    return "";
  }

  /** How long the JIT compiler ran per second, if long. */
  private static String compiler(GeneratorHealth span, String before, String after) {
    double share = sum(span, Interval::compilerS) / span.lengthS();
    return share > PART
        ? before + "its JIT compiler ran " + number(share) + " s per second" + after
        : "";
  }

  private static double sum(GeneratorHealth span, ToDoubleFunction<Interval> amount) {
    return span.seconds().stream().mapToDouble(amount).sum();
  }

  private static String place(GeneratorHealth span) {
    List<Interval> seconds = span.seconds();
    return "from %s s to %s s of the run"
        .formatted(
            (long) Math.floor(seconds.get(0).fromS()),
            (long) Math.ceil(seconds.get(seconds.size() - 1).untilS()));
  }

  private static double orZero(@Nullable Double share) {
    return share == null ? 0 : share;
  }

  private static double lateS(Interval second, double toleranceMs) {
    int[] lateMicros = second.lateMicros();
    for (int i = 0; i < Math.min(lateMicros.length, GeneratorSecond.LATE_MS.size()); i++) {
      if (GeneratorSecond.LATE_MS.get(i) >= toleranceMs) {
        return Math.min(second.lengthS(), lateMicros[i] / 1e6);
      }
    }
    return second.lagMaxMs() > toleranceMs ? second.lengthS() : 0;
  }

  /** How long the machine was out of CPU because of the generator, in seconds. */
  private static double outOfCpuS(Interval second) {
    Double idle = second.idle();
    Double own = second.own();
    return idle != null && own != null && idle < FULL && own > LIGHT ? second.lengthS() : 0;
  }

  private double lateShare(double toleranceMs) {
    return sum(health, second -> lateS(second, toleranceMs)) / health.lengthS();
  }

  /** Spans of consecutive seconds with a positive amount, the largest total first. */
  private List<GeneratorHealth> spans(ToDoubleFunction<Interval> amount) {
    List<GeneratorHealth> spans = new ArrayList<>();
    List<Interval> current = List.of();
    for (Interval second : health.seconds()) {
      if (amount.applyAsDouble(second) <= 0) {
        current = List.of();
      } else if (current.isEmpty()) {
        current = new ArrayList<>(List.of(second));
        spans.add(new GeneratorHealth(health.injector(), current));
      } else {
        current.add(second);
      }
    }
    spans.sort(Comparator.comparingDouble(span -> -sum(span, amount)));
    return spans;
  }
}
