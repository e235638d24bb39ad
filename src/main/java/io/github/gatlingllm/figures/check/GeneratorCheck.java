package io.github.gatlingllm.figures.check;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.GeneratorHealth;
import io.github.gatlingllm.figures.metric.GeneratorHealth.Second;
import io.github.gatlingllm.figures.metric.GeneratorHealth.Verdict;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The check of the load generator. Data that arrives while an event loop lags is stamped late by
 * that lag. So the lag affects a percentile if a loop lags for a larger share of the window than is
 * beyond the percentile. And on a machine that is out of CPU, the generator takes CPU from a server
 * on the same machine.
 */
record GeneratorCheck(LevelFigures level, GeneratorHealth health, boolean isServerHere) {

  /** The worst injector at the worst level. */
  static @Nullable Finding judge(CheckInput in) {
    Finding late = lag(in);
    Finding limited = limited(in);
    return limited == null
        ? late
        : late == null || late.level() == CheckLevel.OK
            ? limited
            : limited.adding(late.sentences());
  }

  /** Requests that a limit of the generator ended, and the one that ended most. */
  private static @Nullable Finding limited(CheckInput in) {
    Map<GeneratorLimit, Long> counts = new EnumMap<>(GeneratorLimit.class);
    for (ErrorCount error : in.figures().errors()) {
      GeneratorLimit limit = GeneratorLimit.of(error.message());
      if (limit != null) {
        counts.merge(limit, error.count(), Long::sum);
      }
    }
    long failed = counts.values().stream().mapToLong(Long::longValue).sum();
    if (failed == 0) {
      return null;
    }
    GeneratorLimit max = Collections.max(counts.keySet(), Comparator.comparing(counts::get));
    return Finding.of(
            (double) failed / in.figures().counts().ended(),
            "generator.limit",
            failed,
            counts.keySet().stream().map(GeneratorLimit::what).toList())
        .level(CheckLevel.INVALID)
        .remedy("generator.limit.remedy", max.remedy());
  }

  private static @Nullable Finding lag(CheckInput in) {
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
                Comparator.<Finding, CheckLevel>comparing(
                        finding -> requireNonNull(finding.level()))
                    .thenComparing(finding -> requireNonNull(finding.value())))
            .orElse(null);
    if (worst == null) {
      return null;
    }
    long others = found.stream().filter(other -> other.level() != CheckLevel.OK).count() - 1;
    if (others == 0) {
      return worst;
    }
    if (others < 0) {
      return Finding.of(worst.value(), "generator.ok", lag, idle).level(CheckLevel.OK);
    }
    return worst.adding("generator.more", others);
  }

  /** Whether the generator did not keep up: a note is of a server that may lack CPU. */
  static boolean isDoubtful(Finding finding) {
    return finding.level() == CheckLevel.WARNING || finding.level() == CheckLevel.INVALID;
  }

  static boolean isOutOfCpu(CheckInput in) {
    return in.levels().stream()
        .anyMatch(
            level ->
                level.generators().stream()
                    .anyMatch(health -> health.verdict(level.figures()).isOutOfCpu()));
  }

  private Finding finding() {
    Verdict verdict = health.verdict(level.figures());
    boolean isLight =
        verdict.level() == CheckLevel.OK
            && isServerHere
            && health.fullShare() > GeneratorHealth.SOME;
    if (verdict.level() == CheckLevel.OK && !isLight) {
      return late(verdict).level(CheckLevel.OK);
    }
    Finding found =
        isLight
            ? full(health.fullShare(), Second::fullS, true).level(CheckLevel.NOTE)
            : (verdict.isOutOfCpu()
                    ? full(verdict.share(), Second::outOfCpuS, false)
                    : late(verdict))
                .level(verdict.level());
    return found.remedy(
        "generator.remedy",
        orZero(health.stolen()) >= GeneratorHealth.STOLEN,
        verdict.isOutOfCpu() || isServerHere);
  }

  private Finding late(Verdict verdict) {
    List<GeneratorHealth> spans = spans(second -> second.lateS(verdict.toleranceMs()));
    GeneratorHealth worst = spans.isEmpty() ? health : spans.get(0);
    return Finding.at(
        level,
        verdict.share(),
        "generator.late",
        injector(),
        health.lagMaxMs(),
        fromS(worst),
        untilS(worst),
        Math.max(0, spans.size() - 1),
        cause(worst),
        verdict.affected());
  }

  /** Who used the CPU in the longest span that is full by that measure. */
  private Finding full(double share, ToDoubleFunction<Second> amount, boolean isLight) {
    GeneratorHealth worst = spans(amount).get(0);
    double own = orZero(worst.own());
    double stolen = orZero(worst.stolen());
    return Finding.at(
        level,
        share,
        "generator.full",
        isServerHere,
        isLight,
        fromS(worst),
        untilS(worst),
        injector(),
        own,
        compilerS(worst),
        Math.max(0, 1 - own - stolen - orZero(worst.idle())),
        stolen < GeneratorHealth.STOLEN ? null : (Double) stolen);
  }

  private String injector() {
    return level.generators().size() > 1 ? health.injector() : "";
  }

  private static @Nullable Sentence cause(GeneratorHealth span) {
    double pause = span.seconds().stream().mapToDouble(Second::gcMaxMs).max().orElse(0);
    if (pause > GeneratorHealth.HALF * span.lagMaxMs()) {
      return Sentence.of("generator.paused", pause);
    }
    double stolen = orZero(span.stolen());
    if (stolen >= GeneratorHealth.STOLEN) {
      return Sentence.of("generator.stolen", stolen);
    }
    double idle = orZero(span.idle());
    return orZero(span.own()) + idle > 0 && idle < GeneratorHealth.PART
        ? Sentence.of("generator.busy", idle, compilerS(span))
        : null;
  }

  /** How long the JIT compiler ran per second, if long. */
  private static @Nullable Double compilerS(GeneratorHealth span) {
    double share = span.sum(Second::compilerS) / span.lengthS();
    return share > GeneratorHealth.PART ? (Double) share : null;
  }

  private static double fromS(GeneratorHealth span) {
    return Math.floor(span.seconds().get(0).fromS());
  }

  private static double untilS(GeneratorHealth span) {
    return Math.ceil(span.seconds().get(span.seconds().size() - 1).untilS());
  }

  private static double orZero(@Nullable Double share) {
    return share == null ? 0 : share;
  }

  /** Spans of consecutive seconds with a positive amount, the largest total first. */
  private List<GeneratorHealth> spans(ToDoubleFunction<Second> amount) {
    List<GeneratorHealth> spans = new ArrayList<>();
    List<Second> current = List.of();
    for (Second second : health.seconds()) {
      if (amount.applyAsDouble(second) <= 0) {
        current = List.of();
      } else if (current.isEmpty()) {
        current = new ArrayList<>(List.of(second));
        spans.add(new GeneratorHealth(health.injector(), current));
      } else {
        current.add(second);
      }
    }
    spans.sort(Comparator.comparingDouble(span -> -span.sum(amount)));
    return spans;
  }
}
