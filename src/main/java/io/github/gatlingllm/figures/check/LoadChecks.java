package io.github.gatlingllm.figures.check;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.level.Summary.TargetSummary;
import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Figures.FailingSpan;
import io.github.gatlingllm.figures.metric.Figures.Failures;
import io.github.gatlingllm.figures.metric.Figures.Pacing;
import io.github.gatlingllm.figures.metric.Figures.RateLimits;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.Drift;
import io.github.gatlingllm.figures.metric.LevelFigures.LittlesLaw;
import io.github.gatlingllm.figures.metric.LevelFigures.Silence;
import io.github.gatlingllm.figures.metric.LevelFigures.Steadiness;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest.Machine;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Checks of the load: records, arrivals, Little's law, steadiness, outages. */
final class LoadChecks {

  private static final int SMALL_MACHINE = 4;

  private static final List<String> PACING = List.of("maxRequestsPerMinute", "maxTokensPerMinute");

  private LoadChecks() {}

  static Finding recordsDropped(CheckInput in) {
    long dropped = in.info().outcome().dropped();
    long damaged = in.run().file().badLines();
    var first = in.run().file().firstBadLines().entrySet().stream().findFirst().orElse(null);
    return Finding.of(
        (double) (dropped + damaged),
        "records_dropped.found",
        dropped,
        damaged,
        first == null ? null : String.valueOf(first.getKey()),
        first == null ? null : first.getValue());
  }

  static @Nullable Finding cutTail(CheckInput in) {
    long bytes = in.run().file().cutTailBytes();
    return bytes == 0 ? null : Finding.of((double) bytes, "cut_tail.found", bytes);
  }

  static @Nullable Finding complete(CheckInput in) {
    return in.info().state() == RunInfo.State.COMPLETE
        ? null
        : Finding.of(null, "complete.found").level(CheckLevel.WARNING);
  }

  static @Nullable Finding littlesLaw(CheckInput in) {
    return in.atWorst(
        level -> level.law() == null ? null : (Double) level.law().excess(),
        (level, excess) -> {
          LittlesLaw law = requireNonNull(level.law());
          return Finding.at(
                  level, law.residual(), "littles_law.found", law.mean(), law.rateTimesStay())
              .threshold(law.tolerance())
              .warnsIf(excess > 0);
        });
  }

  static @Nullable Finding steadyState(CheckInput in) {
    Map<Boolean, List<LevelFigures>> levels =
        in.levels().stream()
            .filter(level -> level.steadiness() != null)
            .collect(Collectors.partitioningBy(level -> steadiness(level).isJudged()));
    List<LevelFigures> judged = levels.getOrDefault(true, List.of());
    List<LevelFigures> unknown = levels.getOrDefault(false, List.of());
    if (judged.isEmpty() && unknown.isEmpty()) {
      return null;
    }
    LevelFigures worst =
        unsteady(judged).stream()
            .max(Comparator.comparingDouble(level -> drift(level).change()))
            .orElse(null);
    Finding found =
        worst == null
            ? Finding.of(null, "steady_state.steady", unknown.isEmpty())
            : drifting(worst);
    if (unknown.isEmpty()) {
      return found;
    }
    List<String> places =
        unknown.stream().map(LevelFigures::place).filter(place -> !place.isEmpty()).toList();
    Finding named =
        judged.isEmpty()
            ? Finding.of(null, "steady_state.unjudged", places)
            : found.adding("steady_state.unjudged", places);
    return CheckCatalogue.STEADY_STATE.level(found.value()) != CheckLevel.OK
        ? named
        : named.level(CheckLevel.NOTE).remedy("steady_state.unjudged.remedy");
  }

  private static Finding drifting(LevelFigures worst) {
    Drift drift = drift(worst);
    return Finding.at(
        worst,
        drift.change(),
        "steady_state.drift",
        drift.what(),
        drift.up(),
        drift.from(),
        drift.to(),
        drift.steadyFromS());
  }

  /**
   * The levels with a significant change, by Holm's method: of runs whose levels are all steady, 5
   * % have one, however many levels they have.
   *
   * @see <a href="https://www.jstor.org/stable/4615733">Holm 1979</a>
   */
  private static List<LevelFigures> unsteady(List<LevelFigures> levels) {
    List<LevelFigures> likeliest =
        levels.stream()
            .filter(level -> steadiness(level).likeliest() != null)
            .sorted(Comparator.comparingDouble(level -> drift(level).chance()))
            .toList();
    int found = 0;
    while (found < likeliest.size()
        && drift(likeliest.get(found)).chance() * (levels.size() - found) < Drift.SIGNIFICANT) {
      found++;
    }
    return likeliest.subList(0, found);
  }

  private static Drift drift(LevelFigures level) {
    return requireNonNull(steadiness(level).likeliest());
  }

  private static Steadiness steadiness(LevelFigures level) {
    return requireNonNull(level.steadiness());
  }

  static @Nullable Finding windowLength(CheckInput in) {
    LevelFigures empty =
        in.levels().stream()
            .filter(level -> level.wasTried() && level.figures().counts().started() == 0)
            .findFirst()
            .orElse(null);
    if (empty != null) {
      return Finding.at(empty, 1, "window_length.empty").level(CheckLevel.WARNING);
    }
    return in.atWorst(
        LevelFigures::shareOfWindow,
        (level, share) -> {
          double e2eMs = requireNonNull(level.figures().metric(Metric.E2E_MS).p90());
          return Finding.at(level, share, "window_length.found", e2eMs, share, e2eMs / share);
        });
  }

  static @Nullable Finding coldStart(CheckInput in) {
    return in.atWorst(
        LevelFigures::coldStartS,
        (level, seconds) ->
            Finding.at(level, seconds, "cold_start.found", seconds, level.heldLaterS())
                .level(CheckLevel.NOTE));
  }

  static @Nullable Finding arrivals(CheckInput in) {
    ArrivalFigures arrivals = in.summary().arrivals();
    if (arrivals == null || arrivals.plannedPerS() == null) {
      return null;
    }
    double planned = arrivals.plannedPerS();
    double realised = requireNonNull(arrivals.realisedPerS());
    return Finding.of(
        planned == 0 ? 0 : Math.abs(realised - planned) / planned,
        "arrivals.found",
        NumberText.with(planned, arrivals.unit()),
        NumberText.with(realised, arrivals.unit()),
        arrivals.plannedDispersion(),
        arrivals.realisedDispersion());
  }

  static @Nullable Finding startLag(CheckInput in) {
    ArrivalFigures lag = in.summary().arrivals();
    return lag == null
        ? null
        : Finding.of(
            lag.lagP99Ms(), "start_lag.found", lag.lagP50Ms(), lag.lagP99Ms(), lag.lagMaxMs());
  }

  static @Nullable Finding paced(CheckInput in) {
    RateLimits limits = in.figures().rateLimits();
    Pacing pacing = limits == null ? null : limits.pacing();
    if (pacing == null) {
      return null;
    }
    List<String> settings =
        PACING.stream()
            .filter(in.info().config()::containsKey)
            .map(name -> name + "=" + in.info().config().get(name))
            .toList();
    return Finding.of(
        (double) pacing.heldBack() / pacing.requests(), "paced.found", settings, pacing.effect());
  }

  /** Elsewhere the optimizing compiler has a processor to itself until it is done. */
  static @Nullable Finding jvmOptions(CheckInput in) {
    List<Machine> known =
        in.info().machines().values().stream()
            .filter(machine -> machine.optimizingCompiler() != null)
            .toList();
    int processors = known.stream().mapToInt(Machine::processors).min().orElse(0);
    boolean isDoubtful =
        processors <= SMALL_MACHINE
            && in.isServerHere()
            && GeneratorCheck.isOutOfCpu(in)
            && known.stream()
                .anyMatch(machine -> Boolean.TRUE.equals(machine.optimizingCompiler()));
    return processors == 0
        ? null
        : Finding.of((double) processors, "jvm_options.found", isDoubtful, processors)
            .warnsIf(isDoubtful);
  }

  static @Nullable Finding silentSpans(CheckInput in) {
    LevelFigures level =
        in.levels().stream()
            .filter(l -> l.silence() != null)
            .max(
                Comparator.comparing((LevelFigures l) -> requireNonNull(l.silence()).spans() > 0)
                    .thenComparing(l -> requireNonNull(l.silence()).longestS()))
            .orElse(null);
    if (level == null) {
      return null;
    }
    Silence silence = requireNonNull(level.silence());
    Finding found =
        Finding.at(
                level,
                silence.longestS(),
                "silent_spans.found",
                silence.spans(),
                silence.longestS(),
                silence.fromS(),
                silence.inFlight(),
                silence.spans() > 1,
                silence.allS(),
                level.figures().windowS())
            .threshold(silence.boundS())
            .warnsIf(silence.spans() > 0);
    Double perS = level.figures().number(Metric.REQUESTS_PER_S);
    return level.isClosedLoop() && perS != null && perS > 0
        ? found.remedy(
            "silent_spans.remedy", NumberText.of(NumberText.threeDigits(perS), "requests/s"))
        : found;
  }

  static @Nullable Finding failingSpans(CheckInput in) {
    List<TargetSummary> targets =
        in.summary().targets().stream().filter(target -> target.failures() != null).toList();
    if (targets.stream().allMatch(target -> requireNonNull(target.failures()).failed() == 0)) {
      return null;
    }
    TargetSummary worst =
        Collections.max(
            targets,
            Comparator.comparing(
                target -> requireNonNull(target.failures()),
                Comparator.comparingDouble(Failures::awayS)
                    .thenComparingDouble(LoadChecks::longestS)));
    Failures of = requireNonNull(worst.failures());
    FailingSpan span = of.longestSpan();
    Finding found =
        Finding.of(
            longestS(of),
            "failing_spans.found",
            targets.size() == 1 ? "" : worst.label(),
            of.outages(),
            of.outages() != 1,
            span == null ? null : span.fromS(),
            span == null ? null : span.toS(),
            span == null ? null : span.seconds(),
            span == null ? null : span.requests(),
            span == null ? null : span.backAtS());
    return span == null || of.outages() == 0 ? found : found.warnsIf(true);
  }

  private static double longestS(Failures failures) {
    FailingSpan span = failures.longestSpan();
    return span == null ? 0 : span.seconds();
  }
}
