package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Figures.ErrorCount;
import io.github.gatlingllm.metric.Figures.Goodput;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo.Conclusion;
import io.github.gatlingllm.stats.LoadCurve.Choice;
import io.github.gatlingllm.stats.LoadCurve.Chosen;
import io.github.gatlingllm.stats.Summary.Queue;
import io.github.gatlingllm.stats.Summary.Stage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a run in one sentence made from its numbers, e.g. {@code TTFT p99 ≤ 200 ms and
 * TPOT p99 ≤ 50 ms are met up to 24 concurrent requests (1,600 tok/s); beyond that, throughput
 * grows 14 % and TTFT p99 grows 5×.}
 */
final class VerdictSentence {

  private static final int NAMED = 3;

  private final LoadCurve curve;

  private VerdictSentence(LoadCurve curve) {
    this.curve = curve;
  }

  /** The sentence for all curves, then what their load plans found. */
  static String of(
      boolean complete, Figures run, List<LoadCurve> curves, List<Conclusion> conclusions) {
    StringBuilder text =
        new StringBuilder((complete ? "" : "Interrupted: ") + outcome(run, curves));
    for (Conclusion found : conclusions.subList(0, Math.min(NAMED, conclusions.size()))) {
      String where = curves.size() > 1 ? found.target() + ": " : "";
      text.append(' ').append(where).append(capital(found.topic())).append(": ");
      text.append(found.text()).append('.');
    }
    return text.toString();
  }

  private static String outcome(Figures run, List<LoadCurve> curves) {
    long started = run.counts().started();
    if (started == 0) {
      return "No request was measured.";
    }
    if (run.counts().ok() == 0) {
      return "No request of " + NumberText.count(started) + " succeeded" + firstError(run) + ".";
    }
    if (curves.size() == 1) {
      return new VerdictSentence(curves.get(0)).sentence() + ".";
    }
    List<String> parts = new ArrayList<>(TargetRanking.sentences(curves));
    int said = parts.size();
    long targets = curves.stream().map(LoadCurve::target).distinct().count();
    for (LoadCurve curve : curves.subList(0, Math.min(NAMED, curves.size()))) {
      String scenario = curve.scenario();
      String name =
          scenario == null || targets == curves.size()
              ? curve.target()
              : targets == 1 ? scenario : scenario + " at " + curve.target();
      parts.add(name + ": " + new VerdictSentence(curve).inShort() + ".");
    }
    int more = curves.size() - (parts.size() - said);
    if (more > 0) {
      parts.add((more == 1 ? "One more curve is" : more + " more curves are") + " in the report.");
    }
    return String.join(" ", parts);
  }

  private static String firstError(Figures run) {
    if (run.errors().isEmpty()) {
      return "";
    }
    ErrorCount first = run.errors().get(0);
    return ": "
        + first.verdict()
        + ", "
        + first.message()
        + " ("
        + NumberText.count(first.count())
        + ")";
  }

  /** What is said of one of several curves; tables say the rest. */
  private String inShort() {
    List<Stage> levels = curve.levels();
    Stage level = curve.chosen().level();
    if (levels.size() == 1 || levels.stream().allMatch(s -> s.figures().counts().ok() == 0)) {
      return sentence();
    }
    String figures = tokens(level) + " at " + level.label() + ", " + curve.operatingPoint().why();
    return levels.stream()
        .filter(Stage::fallsBehind)
        .findFirst()
        .map(s -> "does not keep up with " + queued(s) + "; " + figures)
        .orElse(figures);
  }

  private String sentence() {
    List<Stage> levels = curve.levels();
    if (levels.stream().allMatch(s -> s.figures().counts().ok() == 0)) {
      return "No request succeeded";
    }
    String outcome =
        levels.size() > 1
            ? curve.slo().isEmpty() ? knee() : limit()
            : capital(curve.slo().isEmpty() ? plain(levels.get(0)) : judged(levels.get(0)));
    Stage headline = headline();
    if (headline.fallsBehind()) {
      return "Does not keep up with " + queued(headline) + ". " + outcome;
    }
    return levels.stream()
        .filter(Stage::fallsBehind)
        .findFirst()
        .map(s -> outcome + "; it does not keep up with " + queued(s))
        .orElse(outcome);
  }

  /** The level that the sentence is about. */
  private Stage headline() {
    List<Stage> levels = curve.levels();
    int at = curve.lastHolding();
    return curve.slo().isEmpty() ? curve.chosen().level() : levels.get(Math.max(0, at));
  }

  private static String queued(Stage level) {
    Queue queue = level.queue();
    return load(level) + ": the queue grew to " + NumberText.count(queue == null ? 0 : queue.end());
  }

  private String plain(Stage level) {
    return at(level) + figures(level);
  }

  private static String at(Stage level) {
    return isWholeRun(level) ? "over the whole run: " : "at " + load(level) + ": ";
  }

  private String figures(Stage level) {
    Metric metric = latency(level);
    Distribution shown = level.figures().metric(metric.fromSchedule());
    return "%s, %s requests/s completed, %s p50 %s and p99 %s"
        .formatted(
            tokens(level),
            NumberText.number(level.figures().throughput().requestsPerS()),
            curve.clock().name(metric),
            NumberText.ms(shown.p50()),
            NumberText.ms(shown.p99()));
  }

  private String judged(Stage level) {
    Goodput goodput = level.figures().goodput();
    if (goodput == null || goodput.attempted() + goodput.excluded() == 0) {
      return plain(level);
    }
    return at(level) + tokens(level) + "; " + new SloWords(curve).outcome(level);
  }

  private String limit() {
    List<Stage> levels = curve.levels();
    int at = curve.lastHolding();
    SloWords words = new SloWords(curve);
    if (at < 0) {
      Stage lowest = levels.get(0);
      return curve.isMet(lowest) ? capital(judged(lowest)) : words.noneMeets(load(lowest), lowest);
    }
    Stage holding = levels.get(at);
    boolean isHighest = at == levels.size() - 1;
    return "%s up to %s (%s)%s%s%s"
        .formatted(
            words.isMet(),
            load(holding),
            tokens(holding),
            isHighest ? ", the highest load tried" : "",
            missedBelow(levels.subList(0, at)),
            isHighest ? "" : growth(holding, levels.get(levels.size() - 1)));
  }

  /** Lighter loads that do not hold though a heavier one does: few samples, or a cold start. */
  private String missedBelow(List<Stage> lighter) {
    List<String> missed =
        lighter.stream().filter(s -> !curve.holds(s)).map(VerdictSentence::load).toList();
    return missed.isEmpty() ? "" : ", but not at " + String.join(", ", missed);
  }

  private String knee() {
    List<Stage> levels = curve.levels();
    Stage last = levels.get(levels.size() - 1);
    Chosen chosen = curve.chosen();
    Stage level = chosen.level();
    Metric metric = latency(level);
    return switch (chosen.by()) {
      case KNEE, SATURATED ->
          "%s %s (%s, %s p99 %s)%s"
              .formatted(
                  chosen.by() == Choice.KNEE
                      ? "The knee is at"
                      : "The server is saturated from the first level,",
                  load(level),
                  tokens(level),
                  curve.clock().name(metric),
                  NumberText.ms(level.figures().metric(metric.fromSchedule()).p99()),
                  growth(level, last));
      case HIGHEST ->
          "No knee up to the highest load tried, " + load(level) + ": " + figures(level);
      case KEEPS_UP -> "The server keeps up with " + load(level) + ": " + figures(level);
      case ONLY, IN_SLO, NONE_KEEPS_UP -> capital(plain(level));
    };
  }

  /** What a headline says of a level: TTFT, or E2E without streams. */
  private static Metric latency(Stage level) {
    return level.figures().metric(Metric.TTFT_MS).isEmpty() ? Metric.E2E_MS : Metric.TTFT_MS;
  }

  /** What more load brought: throughput against the tail of the latency. */
  private String growth(Stage from, Stage to) {
    Double before = from.figures().throughput().delivered();
    Double after = to.figures().throughput().delivered();
    Metric metric = latency(from);
    Double tailBefore = from.figures().metric(metric.fromSchedule()).p99();
    Double tailAfter = to.figures().metric(metric.fromSchedule()).p99();
    return "; beyond that, throughput %s and %s p99 %s"
        .formatted(
            change(before, after), curve.clock().name(metric), change(tailBefore, tailAfter));
  }

  private static String change(@Nullable Double before, @Nullable Double after) {
    if (before == null || after == null || before <= 0) {
      return "is unknown";
    }
    double ratio = after / before;
    if (ratio >= 2) {
      return "grows "
          + (ratio < 100
              ? NumberText.plain(Math.round(ratio * 10) / 10.0)
              : NumberText.number(ratio))
          + "×";
    }
    long percent = Math.round((ratio - 1) * 100);
    if (percent == 0) {
      return "stays the same";
    }
    return (percent > 0 ? "grows " : "falls ") + Math.abs(percent) + " %";
  }

  private static boolean isWholeRun(Stage level) {
    return level.offered() == null && level.label().equals(LevelInfo.WHOLE_RUN);
  }

  /**
   * The load of a level as people say it: {@code 8 concurrent requests}, {@code 16 requests/s}; its
   * label where it has no single number.
   */
  private static String load(Stage level) {
    Double offered = level.offered();
    if (offered == null) {
      return isWholeRun(level) ? "the whole run" : "load level " + level.label();
    }
    String unit = level.unit();
    boolean isConcurrency = unit == null || List.of("", "users", "concurrent").contains(unit);
    String number =
        offered == Math.rint(offered)
            ? NumberText.number(offered)
            : NumberText.threeDigits(offered);
    return number
        + (!isConcurrency
            ? " " + unit
            : offered == 1 ? " concurrent request" : " concurrent requests");
  }

  private static String tokens(Stage level) {
    Figures.Throughput throughput = level.figures().throughput();
    return NumberText.number(throughput.delivered()) + " " + throughput.deliveredUnit();
  }

  private static String capital(String text) {
    return text.isEmpty() ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
