package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.count;
import static io.github.gatlingllm.figures.metric.NumberText.counted;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.level.Summary.Curve;
import io.github.gatlingllm.figures.level.Summary.Knee;
import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks of the load plan: its windows, its levels, what it sent, how it ended. */
final class PlanChecks {

  /** Values that a p99 needs, so that 10 are beyond it. */
  private static final int ENOUGH_VALUES = 1_000;

  private static final String INJECTION =
      "Gatling's injection, each to the end of the last request of its scenario";

  private PlanChecks() {}

  static Finding windows(CheckInput in) {
    long unplanned = in.levels().stream().filter(level -> !level.isPlanned()).count();
    long injected = in.levels().stream().filter(LevelFigures::isInjected).count();
    String plans =
        injected == 0
            ? "the load plan"
            : (injected < in.levels().size() ? "the load plan and of " : "") + INJECTION;
    return unplanned == 0
        ? Finding.of(0.0, "Measure windows are those of %s.", plans).level(Level.OK)
        : Finding.of(
                (double) unplanned,
                "%s load levels of the records are in no plan, so they have no rates.",
                unplanned)
            .level(Level.WARNING);
  }

  /** The level that headlines quote; if there are several, the one with the fewest values. */
  static @Nullable Finding lowN(CheckInput in) {
    LevelFigures level =
        in.summary().curves().stream()
            .map(in.summary()::operatingLevel)
            .min(Comparator.comparingLong(PlanChecks::quotedValues))
            .orElse(null);
    if (level == null || in.figures().metric(Metric.E2E_MS).isEmpty()) {
      return null;
    }
    long values = quotedValues(level);
    Finding found =
        Finding.at(level, (double) values, "p99 is based on %s.", counted(values, "request"));
    int repeats = Math.max(1, level.figures().repeats().size());
    Double windowS = level.figures().windowS();
    return windowS == null || values == 0 || !level.hasDuration()
        ? found
        : found.remedy(
            "For a p99, measure %s s or longer (duration=%1$ss); else quote a p95 (200 values) or p90 (100).%s"
                .formatted(
                    NumberText.plain(Math.ceil(windowS / repeats * ENOUGH_VALUES / values)),
                    in.summary().slo() == null
                        ? ""
                        : " What proves the SLO is another number, see the verdict."));
  }

  private static long quotedValues(LevelFigures level) {
    return level.figures().metric(level.latency().fromSchedule()).count();
  }

  static @Nullable Finding knee(CheckInput in) {
    List<Curve> curves = in.summary().curves();
    if (curves.stream().allMatch(curve -> curve.stages().size() < 3)) {
      return null;
    }
    long open = curves.stream().map(Curve::knee).filter(k -> k == null || !k.reached()).count();
    if (curves.stream().anyMatch(c -> c.knee() != null && c.knee().saturatedFromFirst())) {
      return Finding.of(
              (double) open, "Output is flat from the first load level on: the knee is below it.")
          .remedy("Add lower load levels.");
    }
    if (open > 0 && in.levels().stream().anyMatch(LevelFigures::sheds)) {
      return Finding.of(
              (double) open,
              "The knee was not reached: more than 5 % of the requests of a load level were refused"
                  + " or failed.")
          .remedy("Raise the limits of the server, or quote the highest load that it accepts.");
    }
    return open == 0
        ? Finding.of(0.0, "The knee is within the loads tried.")
        : Finding.of((double) open, "The knee was not reached: %s.", whyOpen(in));
  }

  /** Of the first curve without a knee, by the levels in the order of their load. */
  private static String whyOpen(CheckInput in) {
    Curve curve =
        in.summary().curves().stream()
            .filter(of -> of.knee() == null || !of.knee().reached())
            .findFirst()
            .orElseThrow();
    List<String> labels = curve.stages();
    String highest = labels.get(labels.size() - 1);
    Knee knee = curve.knee();
    return knee == null || knee.stage().equals(highest)
        ? "the highest load, " + highest + ", still adds 10 % of output or more"
        : "output hardly grows above " + knee.stage() + ", but no load of twice that was tried";
  }

  static Stream<Finding> conclusions(CheckInput in, String topic, String title) {
    List<Conclusion> conclusions = in.info().outcome().conclusions();
    boolean several =
        conclusions.stream().map(c -> List.of(c.target(), "" + c.scenario())).distinct().count()
            > 1;
    return conclusions.stream()
        .filter(found -> found.topic().equals(topic))
        .map(
            found ->
                Finding.of(
                        found.value(),
                        "%s%s%s.",
                        title,
                        several ? found.target() + ", " + found.scenario() + ": " : "",
                        found.text())
                    .threshold(found.threshold())
                    .level(level(found)));
  }

  /** Only consecutive errors give a stopped level a figure; they make it invalid. */
  private static Level level(Conclusion found) {
    boolean isGone = found.topic().equals("stopped early") && found.value() != null;
    return found.sound() ? Level.OK : isGone ? Level.INVALID : Level.WARNING;
  }

  /** planned = sent, and started = ended + cancelled. */
  static @Nullable Finding allAccounted(CheckInput in) {
    List<InjectorRun> injectors = in.info().injectors();
    boolean hasLimit = in.info().config().containsKey(RunInfo.MAX_DURATION);
    boolean isStopped = in.info().state() != RunInfo.State.COMPLETE;
    boolean isInterrupted = hasLimit || isStopped;
    boolean isPlanKnown = in.levels().stream().anyMatch(level -> level.info().planned() != null);
    long planned = sum(in, level -> Objects.requireNonNullElse(level.info().planned(), 0L));
    long missing = sum(in, level -> Math.max(0, level.missing()));
    // A search that measures a level for longer counts the plan of that time when it has ended.
    long extra = isInterrupted ? 0 : sum(in, level -> Math.max(0, -level.missing()));
    long cut = isInterrupted ? missing : sum(in, l -> l.isCutShort() ? l.missing() : 0);
    if (!isPlanKnown) {
      // The merged windows have no plan; each injector's own windows have one.
      for (InjectorRun injector : injectors) {
        Long lost = injector.missing();
        isPlanKnown |= lost != null;
        planned += lost == null ? 0 : requireNonNull(injector.planned());
        missing += lost == null ? 0 : lost;
      }
    }
    Long started = in.info().outcome().started();
    if (!isPlanKnown && started == null) {
      return null;
    }
    Map<String, Long> unfinished = new LinkedHashMap<>();
    Map<String, Long> known = new LinkedHashMap<>();
    if (missing > 0) {
      for (InjectorRun injector : injectors) {
        if (!injector.isComplete() && injector.missing() != null) {
          unfinished.put(injector.name() + " did not finish", injector.missing());
        }
      }
      known.put(
          isStopped
              ? "the run was interrupted"
              : hasLimit ? "maxDuration was over" : "the level was stopped early",
          injectors.isEmpty() ? cut : 0);
      known.put("lost records", in.lost());
      known.putAll(in.info().outcome().notSent());
    }
    String reasons =
        Stream.of(unfinished, known)
            .flatMap(some -> some.entrySet().stream())
            .filter(reason -> reason.getValue() > 0)
            .map(reason -> reason.getKey() + ": " + count(reason.getValue()))
            .collect(Collectors.joining(", "));
    long named =
        known.entrySet().stream()
            .filter(reason -> !reason.getKey().endsWith(RunInfo.NOT_BUILT))
            .mapToLong(reason -> Math.max(0, reason.getValue()))
            .sum();
    long records = in.facts().file().records();
    long unrecorded =
        started == null ? 0 : Math.max(records - started, started - records - in.lost());
    String sentence =
        isPlanKnown
            ? sent(in, planned, missing, extra) + (reasons.isEmpty() ? "" : " (" + reasons + ")")
            : "";
    String recorded =
        started == null
            ? ""
            : "%s requests started, %s ended or cancelled"
                .formatted(count(started), count(records));
    return Finding.of(
        (double) (Math.max(0, missing - named) + extra + Math.max(0, unrecorded)),
        sentence + (sentence.isEmpty() || recorded.isEmpty() ? "" : "; ") + recorded + ".");
  }

  private static long sum(CheckInput in, ToLongFunction<LevelFigures> requests) {
    return in.levels().stream().mapToLong(requests).sum();
  }

  private static String sent(CheckInput in, long planned, long missing, long extra) {
    String requests = in.figures().counts().planned() == null ? "first requests" : "requests";
    long notBuilt = in.figures().counts().of(RequestStatus.NOT_BUILT);
    return missing + extra == 0
        ? "All %s %s planned for measure windows were sent%s"
            .formatted(
                count(planned),
                requests,
                notBuilt == 0 ? "" : " or could not be built (" + count(notBuilt) + ")")
        : "Of %s %s planned for measure windows %s were sent"
                .formatted(count(planned), requests, count(planned - missing))
            + (extra == 0 ? "" : ", and " + count(extra) + " more");
  }

  static @Nullable Finding sameModel(CheckInput in) {
    var models = in.facts().models();
    if (models.size() < 2) {
      return null;
    }
    boolean hasOneTokenizer = in.info().hasOneTokenizer();
    boolean isSame =
        models.stream().distinct().count() == 1 && !models.get(0).contains("") && hasOneTokenizer;
    return isSame
        ? Finding.of(null, "All targets were asked for the same model.").level(Level.OK)
        : Finding.of(
                null,
                "The targets %s: a token may not be the same amount of text.",
                hasOneTokenizer
                    ? "were not asked for the same model name"
                    : "have different tokenizers")
            .level(Level.WARNING);
  }
}
