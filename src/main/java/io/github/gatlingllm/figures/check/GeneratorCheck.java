package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.counted;
import static io.github.gatlingllm.figures.metric.NumberText.ms;
import static io.github.gatlingllm.figures.metric.NumberText.number;
import static io.github.gatlingllm.figures.metric.NumberText.percent;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.metric.Check.Level;
import io.github.gatlingllm.figures.metric.GeneratorHealth;
import io.github.gatlingllm.figures.metric.GeneratorHealth.Interval;
import io.github.gatlingllm.figures.metric.GeneratorHealth.Span;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
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

  private final LevelFigures level;
  private final GeneratorHealth health;
  private final boolean isServerHere;

  private GeneratorCheck(LevelFigures level, GeneratorHealth health, boolean isServerHere) {
    this.level = level;
    this.health = health;
    this.isServerHere = isServerHere;
  }

  static boolean applies(CheckInput in) {
    return in.levels().stream().anyMatch(level -> !level.generators().isEmpty());
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
  static Finding judge(CheckInput in) {
    List<Finding> found = new ArrayList<>();
    Double idle = null;
    double lag = 0;
    for (LevelFigures level : in.levels()) {
      for (GeneratorHealth health : level.generators()) {
        found.add(new GeneratorCheck(level, health, in.isServerHere()).finding());
        if (health.seconds().stream().anyMatch(second -> second.idle() != null)) {
          idle = Math.min(idle == null ? 1 : idle, health.all().idle());
        }
        lag = Math.max(lag, health.all().lagMaxMs());
      }
    }
    Finding worst =
        found.stream()
            .max(
                Comparator.<Finding, Level>comparing(finding -> requireNonNull(finding.level()))
                    .thenComparing(finding -> requireNonNull(finding.value())))
            .orElseThrow();
    long others = found.stream().filter(other -> other.level() != Level.OK).count() - 1;
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
    return others == 0
        ? worst
        : new Finding(
            worst.value(),
            worst.threshold(),
            worst.level(),
            "%s Less severe %s."
                .formatted(
                    worst.message(),
                    several
                        ? "in " + counted(others, "other case") + " of an injector at a level"
                        : "at " + counted(others, "other level")),
            worst.remedy());
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
      double share = health.lateShare(toleranceMs);
      late = Math.max(late, share);
      mostlyLate = Math.max(mostlyLate, health.lateShare(Math.max(MEDIAN_MS, PART * median)));
      if (share > 0.01 && share * health.all().lengthS() > NOW_AND_THEN_S) {
        tails.add(metric.title() + " p99");
        tailMs = Math.min(tailMs, toleranceMs);
      }
    }
    double full =
        health.seconds().stream().mapToDouble(Interval::outOfCpuS).sum() / health.all().lengthS();
    Level byLag =
        mostlyLate > HALF
            ? Level.INVALID
            : !tails.isEmpty() || health.all().lagMaxMs() > SINGLE_MS ? Level.WARNING : Level.OK;
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
          Finding.of(late, late(tailMs, tails.isEmpty() ? "the longest times" : join(tails)))
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
    List<Span> spans = health.spans(second -> second.lateS(toleranceMs));
    Span worst = spans.isEmpty() ? health.all() : spans.get(0);
    return "%s: %s%s event loops%s lagged by up to %s%s, which affects %s of %s."
        .formatted(
            level.place(),
            worst.place(),
            switch (spans.size()) {
              case 0, 1 -> "";
              case 2 -> ", and at another time,";
              default -> ", and at " + (spans.size() - 1) + " other times,";
            },
            of(),
            ms(health.all().lagMaxMs()),
            cause(worst),
            figures,
            level.place());
  }

  private String outOfCpu() {
    Span worst = health.spans(Interval::outOfCpuS).get(0);
    double others = Math.max(0, 1 - worst.own() - worst.idle());
    return "%s: %s, %s, the generator%s used %s of the CPU%s and other programs %s, which affects all times of %s."
        .formatted(
            isServerHere
                ? "The generator and the server share a machine that is out of CPU"
                : "The generator's machine is out of CPU",
            level.place(),
            worst.place(),
            of(),
            percent(worst.own()),
            worst.compiler() > PART ? " (" + compiler(worst) + ")" : "",
            percent(others),
            level.place());
  }

  /** Names the injector, if there are several. */
  private String of() {
    return level.generators().size() > 1 ? " of " + health.injector() : "";
  }

  private static String cause(Span span) {
    if (span.gcMaxMs() > HALF * span.lagMaxMs()) {
      return " (garbage collection paused the JVM for up to " + ms(span.gcMaxMs()) + ")";
    }
    if (span.own() + span.idle() > 0 && span.idle() < PART) {
      return " (the machine had %s of its CPU idle%s)"
          .formatted(percent(span.idle()), span.compiler() > PART ? "; " + compiler(span) : "");
    }
    return "";
  }

  private static String compiler(Span span) {
    return "its JIT compiler ran " + number(span.compiler()) + " s per second";
  }

  private static String join(List<String> figures) {
    return String.join(" and ", figures);
  }
}
