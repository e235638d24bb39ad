package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.count;
import static io.github.gatlingllm.figures.metric.NumberText.counted;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.level.Summary.Curve;
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
    return Finding.of((double) unplanned, windows(in, unplanned)).warnsIf(unplanned > 0);
  }

  private static String windows(CheckInput in, long unplanned) {
    if (unplanned > 0) {
      return unplanned + " load levels of the records are in no plan, so they have no rates.";
    }
    long injected = in.levels().stream().filter(LevelFigures::isInjected).count();
    String plan = injected < in.levels().size() || injected == 0 ? "the load plan" : "";
    return "Measure windows are those of "
        + plan
        + (injected == 0 ? "" : (plan.isEmpty() ? "" : " and of ") + INJECTION)
        + ".";
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
        Finding.of(
            (double) values,
            level.says("p99 is based on %s.".formatted(counted(values, "request"))));
    int repeats = Math.max(1, level.figures().repeats().size());
    Double windowS = level.figures().windowS();
    return windowS == null || values == 0 || !level.hasDuration()
        ? found
        : found.remedy(
            "For a p99, measure %s s or longer (duration=%1$s); else quote a p95 (200 values) or p90 (100)."
                .formatted(
                    NumberText.plain(Math.ceil(windowS / repeats * ENOUGH_VALUES / values))));
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
    return Finding.of(
        (double) open,
        open == 0
            ? "The knee is within the loads tried."
            : "The knee was not reached: the last load level still adds 10 % of output or more.");
  }

  /** One finding per conclusion of a load plan on that topic. */
  static Stream<Finding> conclusions(CheckInput in, String topic, String title) {
    List<Conclusion> conclusions = in.info().outcome().conclusions();
    boolean several =
        conclusions.stream().map(c -> List.of(c.target(), "" + c.scenario())).distinct().count()
            > 1;
    return conclusions.stream()
        .filter(found -> found.topic().equals(topic))
        .map(
            found ->
                Finding.of(found.value(), title(title, several, found) + found.text() + ".")
                    .threshold(found.threshold())
                    .level(level(found)));
  }

  private static String title(String title, boolean several, Conclusion found) {
    String whose = several ? found.target() + ", " + found.scenario() : "";
    return title.isEmpty()
        ? several ? whose + ": " : ""
        : title + (several ? " (" + whose + ")" : "") + ": ";
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
    boolean isInterrupted = hasLimit || in.info().state() != RunInfo.State.COMPLETE;
    boolean isPlanKnown = in.levels().stream().anyMatch(level -> level.info().planned() != null);
    long planned = sum(in, level -> Objects.requireNonNullElse(level.info().planned(), 0L));
    long missing = sum(in, level -> Math.max(0, level.missing()));
    long extra = sum(in, level -> Math.max(0, -level.missing()));
    long cut = sum(in, level -> level.isCutShort() || isInterrupted ? level.missing() : 0);
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
    Map<String, Long> reasons = new LinkedHashMap<>();
    long unnamed = 0;
    if (missing > 0) {
      for (InjectorRun injector : injectors) {
        Long lost = injector.isComplete() ? null : injector.missing();
        put(reasons, injector.name() + " did not finish", lost == null ? 0 : lost);
        unnamed += lost == null ? 0 : lost;
      }
      put(
          reasons,
          hasLimit ? "maxDuration was over" : "the level was stopped early",
          injectors.isEmpty() ? cut : 0);
      put(reasons, "lost records", in.lost());
      in.info().outcome().notSent().forEach((reason, count) -> put(reasons, reason, count));
    }
    long named =
        reasons.entrySet().stream()
                .filter(reason -> !reason.getKey().endsWith(RunInfo.NOT_BUILT))
                .mapToLong(Map.Entry::getValue)
                .sum()
            - unnamed;
    long records = in.facts().file().records();
    long unrecorded =
        started == null ? 0 : Math.max(records - started, started - records - in.lost());
    String sentence =
        isPlanKnown
            ? sent(in, planned, missing, extra)
                + (reasons.isEmpty()
                    ? ""
                    : reasons.entrySet().stream()
                        .map(reason -> reason.getKey() + ": " + count(reason.getValue()))
                        .collect(Collectors.joining(", ", " (", ")")))
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

  private static void put(Map<String, Long> reasons, String reason, long count) {
    if (count > 0) {
      reasons.put(reason, count);
    }
  }

  private static String sent(CheckInput in, long planned, long missing, long extra) {
    String requests = in.figures().counts().planned() == null ? "first requests" : "requests";
    return missing + extra == 0
        ? "All %s %s planned for measure windows were sent%s"
            .formatted(count(planned), requests, orNotBuilt(in))
        : "Of %s %s planned for measure windows %s were sent"
                .formatted(count(planned), requests, count(planned - missing))
            + (extra == 0 ? "" : ", and " + count(extra) + " more");
  }

  private static String orNotBuilt(CheckInput in) {
    long notBuilt = in.figures().counts().of(RequestStatus.NOT_BUILT);
    return notBuilt == 0 ? "" : " or could not be built (" + count(notBuilt) + ")";
  }

  static @Nullable Finding sameModel(CheckInput in) {
    var models = in.facts().models();
    if (models.size() < 2) {
      return null;
    }
    boolean sameModel = models.stream().distinct().count() == 1 && !models.get(0).contains("");
    String different =
        in.info().hasOneTokenizer()
            ? "The targets were not asked for the same model name"
            : "The targets have different tokenizers";
    boolean isSame = sameModel && in.info().hasOneTokenizer();
    return Finding.of(
            null,
            isSame
                ? "All targets were asked for the same model."
                : different + ": a token may not be the same amount of text.")
        .warnsIf(!isSame);
  }
}
