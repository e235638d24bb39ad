package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.count;
import static io.github.gatlingllm.figures.metric.NumberText.counted;
import static io.github.gatlingllm.figures.metric.NumberText.ms;
import static io.github.gatlingllm.figures.metric.NumberText.number;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.level.Summary.Target;
import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.figures.metric.Figures.Check.Level;
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
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.record.SelfTest.Machine;
import java.util.Arrays;
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
    long damaged = in.facts().file().badLines();
    return Finding.of(
        (double) (dropped + damaged),
        dropped + damaged == 0
            ? "No record was dropped."
            : "%s dropped, %s left out%s."
                .formatted(
                    counted(dropped, "record"),
                    counted(damaged, "damaged line"),
                    in.facts().file().firstBadLines().stream()
                        .findFirst()
                        .map(line -> ", the first is line " + line.number() + ": " + line.reason())
                        .orElse("")));
  }

  static @Nullable Finding cutTail(CheckInput in) {
    long bytes = in.facts().file().cutTailBytes();
    return bytes == 0
        ? null
        : Finding.of(
            (double) bytes,
            "The last line of the records is cut off (" + count(bytes) + " bytes).");
  }

  static @Nullable Finding complete(CheckInput in) {
    return in.info().state() == RunInfo.State.COMPLETE
        ? null
        : Finding.of(null, "The run was interrupted: figures cover the time before.")
            .level(Level.WARNING);
  }

  static @Nullable Finding littlesLaw(CheckInput in) {
    return in.atWorst(
        level -> level.law() == null ? null : (Double) level.law().excess(),
        (level, excess) -> {
          LittlesLaw law = requireNonNull(level.law());
          return Finding.at(
                  level,
                  law.residual(),
                  "%s requests in flight on average, as counted during the run; %s by the records"
                      + " (rate × time in the system).",
                  number(law.mean()),
                  number(law.rateTimesStay()))
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
    Finding found = worst == null ? steady(judged.isEmpty(), unknown.isEmpty()) : drifting(worst);
    if (unknown.isEmpty()) {
      return found;
    }
    Finding named = found.adding((found.message().isEmpty() ? "" : " ") + unjudged(unknown));
    return CheckCatalogue.STEADY_STATE.threshold.level(found.value()) != Level.OK
        ? named
        : named
            .level(Level.NOTE)
            .remedy("Measure each load level for 20 s or longer, and 40 requests or more.");
  }

  private static Finding steady(boolean isNoneJudged, boolean areAllJudged) {
    return Finding.of(
        null,
        isNoneJudged
            ? ""
            : "TTFT, E2E and output tok/s were steady over every %smeasure window."
                .formatted(areAllJudged ? "" : "judged "));
  }

  private static Finding drifting(LevelFigures worst) {
    Drift drift = drift(worst);
    Double from = drift.steadyFromS();
    return Finding.at(
        worst,
        drift.change(),
        from == null
            ? "%s %s from %s to %s over the measure window."
                .formatted(drift.what(), drift.up() ? "grew" : "fell", drift.from(), drift.to())
            : "%s was %s in the first %s s of the measure window (a transient), then %s."
                .formatted(drift.what(), drift.from(), number(from), drift.to()));
  }

  private static String unjudged(List<LevelFigures> levels) {
    String where = NumberText.some(levels.stream().map(LevelFigures::place).toList());
    return "Drift was not judged: less than 20 s or 40 ok requests were measured%s."
        .formatted(where.isEmpty() ? "" : " at " + where);
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
      return Finding.at(
              empty,
              1,
              "no request was scheduled in the measure window; those in flight began before it.")
          .level(Level.WARNING);
    }
    return in.atWorst(
        LevelFigures::shareOfWindow,
        (level, share) -> {
          double e2eMs = requireNonNull(level.figures().metric(Metric.E2E_MS).p90());
          String sentence =
              "E2E p90 is %s, %s of the measure window of %s."
                  .formatted(ms(e2eMs), NumberText.percent(share), ms(e2eMs / share));
          return Finding.at(level, share, sentence);
        });
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
        "Planned %s, realised %s%s.",
        NumberText.with(planned, arrivals.unit()),
        NumberText.with(realised, arrivals.unit()),
        arrivals.plannedDispersion() == null
            ? ""
            : "; burstiness (1 = Poisson) %s planned, %s realised"
                .formatted(
                    number(arrivals.plannedDispersion()), number(arrivals.realisedDispersion())));
  }

  static @Nullable Finding startLag(CheckInput in) {
    ArrivalFigures lag = in.summary().arrivals();
    return lag == null
        ? null
        : Finding.of(
            lag.lagP99Ms(),
            "Requests started late by p50 %s, p99 %s, at most %s.",
            ms(lag.lagP50Ms()),
            ms(lag.lagP99Ms()),
            ms(lag.lagMaxMs()));
  }

  static @Nullable Finding paced(CheckInput in) {
    RateLimits limits = in.figures().rateLimits();
    Pacing pacing = limits == null ? null : limits.pacing();
    if (pacing == null) {
      return null;
    }
    String settings =
        PACING.stream()
            .filter(in.info().config()::containsKey)
            .map(name -> name + "=" + in.info().config().get(name))
            .collect(Collectors.joining(" and "));
    return Finding.of(
        (double) pacing.heldBack() / pacing.requests(),
        "%s %s.",
        settings.isEmpty() ? "A limit per minute" : settings,
        pacing.words());
  }

  /** Elsewhere the optimizing compiler has a processor to itself until it is done. */
  static @Nullable Finding jvmOptions(CheckInput in) {
    List<String> jvms =
        Arrays.stream(in.config(JvmOptions.CONFIG_NAME).split(",", -1))
            .filter(options -> !options.isBlank())
            .toList();
    int processors =
        in.info().machines().values().stream().mapToInt(Machine::processors).min().orElse(0);
    boolean isDoubtful =
        processors <= SMALL_MACHINE
            && in.isServerHere()
            && GeneratorCheck.isOutOfCpu(in)
            && jvms.stream().anyMatch(one -> !one.contains(JvmOptions.NO_OPTIMISING_COMPILER));
    return jvms.isEmpty() || processors == 0
        ? null
        : Finding.of(
                (double) processors,
                isDoubtful
                    ? "The JVM's optimizing compiler took CPU from a server on the same machine,"
                        + " which has only "
                        + counted(processors, "processor")
                        + " and was out of CPU."
                    : "The JVM's compilers had no server beside them that was short of CPU.")
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
    Double windowS = level.figures().windowS();
    String longest = number(silence.longestS());
    String others =
        "; such silences take %s of %s s".formatted(number(silence.allS()), number(windowS));
    String sentence =
        silence.spans() == 0
            ? "at most %s s without a byte for any request in flight.".formatted(longest)
            : "from %s s of the measure window none of %s in flight received a byte for %s s%s."
                .formatted(
                    number(silence.fromS()),
                    counted(silence.inFlight(), "request"),
                    longest,
                    silence.spans() == 1 ? "" : others);
    Finding found =
        Finding.at(level, silence.longestS(), sentence)
            .threshold(silence.boundS())
            .warnsIf(silence.spans() > 0);
    Double perS = level.figures().number(Metric.REQUESTS_PER_S);
    return level.isClosedLoop() && perS != null && perS > 0
        ? found.remedy(
            "Look in the server's log for a stall or a long prefill. A closed loop sends nothing"
                + " while it waits, so its percentiles hide the stall (coordinated omission):"
                + " measure an open loop of "
                + NumberText.of(NumberText.threeDigits(perS), "requests/s")
                + ", and read times from schedule.")
        : found;
  }

  static @Nullable Finding failingSpans(CheckInput in) {
    List<Target> targets =
        in.summary().targets().stream().filter(target -> target.failures() != null).toList();
    if (targets.stream().allMatch(target -> requireNonNull(target.failures()).failed() == 0)) {
      return null;
    }
    Target worst =
        Collections.max(
            targets,
            Comparator.comparing(
                target -> requireNonNull(target.failures()),
                Comparator.comparingDouble(Failures::awayS)
                    .thenComparingDouble(LoadChecks::longestS)));
    Failures of = requireNonNull(worst.failures());
    FailingSpan span = of.longestSpan();
    if (span == null) {
      return Finding.of(longestS(of), "Other requests succeeded while failed ones were in flight.");
    }
    if (of.outages() == 0) {
      return Finding.of(
          span.seconds(),
          "No outage: requests failed and none succeeded for at most %s s.",
          number(span.seconds()));
    }
    Double back = span.backAtS();
    String others = of.outages() == 1 ? "" : " the longest of " + count(of.outages()) + " outages,";
    return Finding.of(
            span.seconds(),
            "%s was unavailable from %s to %s:%s in %s s %s requests failed and none succeeded;"
                + " %s.",
            targets.size() == 1 ? "The endpoint" : worst.label(),
            NumberText.clock(span.fromS()),
            NumberText.clock(span.toS()),
            others,
            number(span.seconds()),
            count(span.requests()),
            back == null
                ? "no later request succeeded"
                : "the next successful request was sent at " + NumberText.clock(back))
        .warnsIf(true);
  }

  private static double longestS(Failures failures) {
    FailingSpan span = failures.longestSpan();
    return span == null ? 0 : span.seconds();
  }
}
