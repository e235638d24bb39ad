package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.counted;
import static io.github.gatlingllm.figures.metric.NumberText.ms;
import static io.github.gatlingllm.figures.metric.NumberText.number;
import static io.github.gatlingllm.figures.metric.NumberText.percent;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth.Second;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth.Verdict;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The check of the load generator. Data that arrives while an event loop lags is stamped late by
 * that lag. So the lag affects a percentile if a loop lags for a larger share of the window than is
 * beyond the percentile. And on a machine that is out of CPU, the generator takes CPU from a server
 * on the same machine.
 */
record GeneratorCheck(LevelFigures level, GeneratorHealth health, boolean isServerHere) {

  private static final String SHARED_MACHINE =
      "Run the generator on another machine, or on a separate CPU: taskset -c 0 before the"
          + " server's command, taskset -c 1 before the generator's. On shared CPUs start both in"
          + " one shell (nohup vllm serve … & first), as Linux divides CPUs between sessions, or let"
          + " the generator go first: sudo chrt -r 10 before its command.";

  /** The worst injector at the worst level. */
  static @Nullable Finding judge(CheckInput in) {
    Finding late = lag(in);
    Finding limited = limited(in);
    return limited == null
        ? late
        : late == null || late.level() == Level.OK ? limited : limited.adding(" " + late.message());
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
            "%s failed at a limit of the load generator, not of the server: %s.",
            counted(failed, "request"),
            counts.keySet().stream().map(GeneratorLimit::what).collect(Collectors.joining(", ")))
        .level(Level.INVALID)
        .remedy(NumberText.capital(max.remedy()) + ".");
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
              "Event loops lagged by at most %s in the measure windows%s.",
              ms(lag),
              idle == null
                  ? ""
                  : ", and %s of the machine's CPU was idle on average at the busiest load"
                      .formatted(percent(idle)))
          .level(Level.OK);
    }
    return worst.adding(" Less severe in " + counted(others, "other case") + ".");
  }

  /** Whether the generator did not keep up: a note is of a server that may lack CPU. */
  static boolean isDoubtful(Finding finding) {
    return finding.level() == Level.WARNING || finding.level() == Level.INVALID;
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
    String sentence =
        verdict.isOutOfCpu()
            ? full(Second::outOfCpuS, "affects all times")
            : late(verdict.toleranceMs(), verdict.affected());
    Finding found = Finding.at(level, verdict.share(), sentence).level(verdict.level());
    boolean isShared = isServerHere && health.fullShare() > GeneratorHealth.SOME;
    if (verdict.level() == Level.OK && isShared) {
      found =
          Finding.at(level, health.fullShare(), full(Second::fullS, "may slow the server"))
              .level(Level.NOTE);
    }
    if (found.level() == Level.OK) {
      return found;
    }
    return orZero(health.stolen()) >= GeneratorHealth.STOLEN
        ? found.remedy(
            "The host of this virtual machine gave its CPU to others: use a machine with CPUs of its"
                + " own, or repeat the run at another time.")
        : verdict.isOutOfCpu() || isServerHere ? found.remedy(SHARED_MACHINE) : found;
  }

  private String late(double toleranceMs, String figures) {
    List<GeneratorHealth> spans = spans(second -> second.lateS(toleranceMs));
    GeneratorHealth worst = spans.isEmpty() ? health : spans.get(0);
    return "event loops%s lagged by up to %s %s%s%s, which affects %s."
        .formatted(
            of(),
            ms(health.lagMaxMs()),
            place(worst),
            spans.size() < 2 ? "" : " and at " + counted(spans.size() - 1L, "other time"),
            cause(worst),
            figures);
  }

  /** Who used the CPU in the longest span that is full by that measure. */
  private String full(ToDoubleFunction<Second> amount, String effect) {
    GeneratorHealth worst = spans(amount).get(0);
    double own = orZero(worst.own());
    double stolen = orZero(worst.stolen());
    return "%s was out of CPU %s, which %s: the generator%s used %s of it%s, other programs %s%s."
        .formatted(
            isServerHere ? "the machine of both generator and server" : "the generator's machine",
            place(worst),
            effect,
            of(),
            percent(own),
            compiler(worst, " (", ")"),
            percent(Math.max(0, 1 - own - stolen - orZero(worst.idle()))),
            stolen < GeneratorHealth.STOLEN ? "" : ", " + taken(stolen));
  }

  private String of() {
    return level.generators().size() > 1 ? " of " + health.injector() : "";
  }

  private static String cause(GeneratorHealth span) {
    double pause = span.seconds().stream().mapToDouble(Second::gcMaxMs).max().orElse(0);
    if (pause > GeneratorHealth.HALF * span.lagMaxMs()) {
      return " (garbage collection paused the JVM for up to " + ms(pause) + ")";
    }
    double stolen = orZero(span.stolen());
    if (stolen >= GeneratorHealth.STOLEN) {
      return " (" + taken(stolen) + ")";
    }
    double idle = orZero(span.idle());
    if (orZero(span.own()) + idle > 0 && idle < GeneratorHealth.PART) {
      return " (%s of the machine's CPU was idle%s)"
          .formatted(percent(idle), compiler(span, "; ", ""));
    }
    return "";
  }

  private static String taken(double stolen) {
    return "the hypervisor took " + percent(stolen) + " of the machine's CPU";
  }

  /** How long the JIT compiler ran per second, if long. */
  private static String compiler(GeneratorHealth span, String before, String after) {
    double share = span.sum(Second::compilerS) / span.lengthS();
    return share > GeneratorHealth.PART
        ? before + "its JIT compiler ran " + number(share) + " s per second" + after
        : "";
  }

  private static String place(GeneratorHealth span) {
    List<Second> seconds = span.seconds();
    return "from %s s to %s s of the load"
        .formatted(
            (long) Math.floor(seconds.get(0).fromS()),
            (long) Math.ceil(seconds.get(seconds.size() - 1).untilS()));
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
