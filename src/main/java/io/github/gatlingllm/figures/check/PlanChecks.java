package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.counted;

import io.github.gatlingllm.figures.level.Summary.Curve;
import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks of the load plan: its windows, its levels, how it ended. */
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
    Double windowS = level.figures().windowS();
    return windowS == null || values == 0 || !level.hasDuration()
        ? found
        : found.remedy(
            "For a p99, measure %s s or longer (duration=%1$s); else quote a p95 (200 values) or p90 (100)."
                .formatted(NumberText.plain(Math.ceil(windowS * ENOUGH_VALUES / values))));
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
