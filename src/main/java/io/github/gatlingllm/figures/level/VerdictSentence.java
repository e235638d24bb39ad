package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.LoadCurve.Choice;
import io.github.gatlingllm.figures.level.LoadCurve.Chosen;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo.Conclusion;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a run in sentences, e.g. {@code 16 concurrent is the knee: 1,583 tok/s, TTFT p99
 * 71 ms. Doubling the load adds 23 % throughput at 22 × the TTFT p99.}
 */
final class VerdictSentence {

  private static final int NAMED = 3;
  private static final String SEARCH = "search";

  /** A smaller share of failed or rate-limited requests is reported by the checks only. */
  private static final double MIN_FAILED = 0.01;

  private final LoadCurve curve;

  private VerdictSentence(LoadCurve curve) {
    this.curve = curve;
  }

  /** The outcome of all curves, then the conclusions of their load plans. */
  static String of(
      boolean complete, Figures run, List<LoadCurve> curves, List<Conclusion> conclusions) {
    List<String> parts = new ArrayList<>(complete ? List.of() : List.of("Interrupted:"));
    LevelFigures found = curves.size() == 1 ? found(curves.get(0), conclusions) : null;
    parts.add(found == null ? outcome(run, curves) : failures(found, ".").strip());
    for (Conclusion each : conclusions.subList(0, Math.min(NAMED, conclusions.size()))) {
      parts.add(
          (curves.size() > 1 ? each.target() + ": " : "")
              + (each.topic().equals(SEARCH) ? "" : capital(each.topic()) + ": ")
              + each.text()
              + ".");
    }
    if (found != null) {
      parts.add(capital(new VerdictSentence(curves.get(0)).plain(found)) + ".");
    }
    double limited = (double) run.counts().rateLimited() / Math.max(1, run.counts().ended());
    if (run.counts().ok() > 0 && limited >= MIN_FAILED) {
      parts.add(
          "The server's rate limits turned "
              + NumberText.percent(limited)
              + " of the requests away.");
    }
    return parts.stream().filter(part -> !part.isEmpty()).collect(Collectors.joining(" "));
  }

  /** The level at the rate that a search found; null without a search, or where it found none. */
  private static @Nullable LevelFigures found(LoadCurve curve, List<Conclusion> conclusions) {
    return conclusions.stream()
        .filter(each -> each.topic().equals(SEARCH) && each.holdsAt() != null)
        .flatMap(
            each ->
                curve.levels().stream()
                    .filter(s -> s.offered() != null && s.figures().counts().ok() > 0)
                    .filter(s -> Objects.equals(s.offered(), each.holdsAt())))
        .findFirst()
        .orElse(null);
  }

  private static String outcome(Figures run, List<LoadCurve> curves) {
    long started = run.counts().started();
    if (started == 0) {
      return "No request was measured.";
    }
    if (run.counts().ok() == 0) {
      return (started == 1
              ? "The only request failed"
              : "None of " + NumberText.count(started) + " requests succeeded")
          + firstError(run)
          + ".";
    }
    if (curves.size() == 1) {
      return new VerdictSentence(curves.get(0)).sentence() + ".";
    }
    List<String> parts = new ArrayList<>(TargetRanking.sentences(curves));
    int rankings = parts.size();
    long targets = curves.stream().map(LoadCurve::target).distinct().count();
    for (LoadCurve curve : curves.subList(0, Math.min(NAMED, curves.size()))) {
      String scenario = curve.scenario();
      String name =
          scenario == null || targets == curves.size()
              ? curve.target()
              : targets == 1 ? scenario : scenario + " at " + curve.target();
      parts.add(name + ": " + new VerdictSentence(curve).inShort() + ".");
    }
    int more = curves.size() - (parts.size() - rankings);
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
        + first.message()
        + (first.count() == 1 ? "" : " (" + NumberText.count(first.count()) + " times)");
  }

  /** One of several curves in short; tables have the details. */
  private String inShort() {
    List<LevelFigures> levels = curve.levels();
    Chosen chosen = curve.chosen();
    LevelFigures level = chosen.level();
    if (levels.size() == 1 || levels.stream().allMatch(s -> s.figures().counts().ok() == 0)) {
      return sentence();
    }
    String few =
        chosen.by() == Choice.IN_SLO ? new SloFormatter(curve, level, List.of()).tooFew() : "";
    String figures =
        failures(level, ";")
            + tokens(level)
            + " at "
            + level.label()
            + ", "
            + curve.operatingPoint().why()
            + (few.isEmpty() ? "" : " (" + few + ")");
    return levels.stream()
        .filter(LevelFigures::fallsBehind)
        .findFirst()
        .map(s -> queued(s).replaceFirst("^it ", "") + "; " + figures)
        .orElse(figures);
  }

  private String sentence() {
    List<LevelFigures> levels = curve.levels();
    if (levels.stream().allMatch(s -> s.figures().counts().ok() == 0)) {
      return "No request succeeded";
    }
    String outcome =
        levels.size() > 1
            ? curve.slo().isEmpty() ? knee() : limit()
            : capital(curve.slo().isEmpty() ? plain(levels.get(0)) : judged(levels.get(0)));
    // A growing queue comes first: that of the level quoted, or of the lightest level with one.
    return Stream.concat(Stream.of(headline()), levels.stream())
            .filter(LevelFigures::fallsBehind)
            .findFirst()
            .map(s -> capital(queued(s).replaceFirst("^it ", "")) + ". ")
            .orElse("")
        + failures(headline(), ".")
        + outcome;
  }

  /** The share of failed requests, before the latencies of the others; empty below 1 %. */
  private static String failures(LevelFigures level, String end) {
    Figures.Counts counts = level.figures().counts();
    double failed = (double) counts.failed() / Math.max(1, counts.ended());
    return failed < MIN_FAILED
        ? ""
        : "%s of %s failed%s%s "
            .formatted(
                NumberText.percent(failed),
                NumberText.counted(counts.ended(), "request"),
                isWholeRun(level) ? "" : " at " + load(level),
                end);
  }

  /** The level that the sentence is about. */
  private LevelFigures headline() {
    List<LevelFigures> levels = curve.levels();
    int at = curve.lastHolding();
    return curve.slo().isEmpty() ? curve.chosen().level() : levels.get(Math.max(0, at));
  }

  private static String queued(LevelFigures level) {
    return Objects.requireNonNull(level.queue()).words(load(level));
  }

  private String plain(LevelFigures level) {
    return at(level) + figures(level);
  }

  private static String at(LevelFigures level) {
    return isWholeRun(level) ? "over the whole run: " : "at " + load(level) + ": ";
  }

  private String figures(LevelFigures level) {
    Metric metric = latency(level);
    Distribution shown = level.figures().metric(metric.fromSchedule());
    return "%s, %s completed, %s p50 %s and p99 %s"
        .formatted(
            tokens(level),
            NumberText.with(level.figures().number(Metric.REQUESTS_PER_S), "requests/s"),
            curve.clock().name(metric),
            NumberText.ms(shown.p50()),
            NumberText.ms(shown.p99()));
  }

  private String judged(LevelFigures level) {
    Goodput goodput = level.figures().goodput();
    if (goodput == null || goodput.attempted() + goodput.excluded() == 0) {
      return plain(level);
    }
    return at(level) + tokens(level) + "; " + new SloFormatter(curve, level, List.of()).outcome();
  }

  private String limit() {
    List<LevelFigures> levels = curve.levels();
    int at = curve.lastHolding();
    if (at < 0) {
      LevelFigures lowest = levels.get(0);
      return curve.isMet(lowest)
          ? capital(judged(lowest))
          : new SloFormatter(curve, lowest, levels).noneMeets(load(lowest));
    }
    LevelFigures holding = levels.get(at);
    List<LevelFigures> missedBelow =
        levels.subList(0, at).stream().filter(s -> !curve.holds(s)).toList();
    SloFormatter words = new SloFormatter(curve, holding, missedBelow);
    String few = words.tooFew();
    boolean isHighest = at == levels.size() - 1;
    return "%s up to %s (%s%s)%s%s%s"
        .formatted(
            words.isMet(),
            load(holding),
            tokens(holding),
            few.isEmpty() ? "" : "; " + few,
            isHighest ? ", the highest load tried" : "",
            missedBelow(missedBelow),
            isHighest ? "" : growth(holding));
  }

  /**
   * Lighter loads that miss the SLO though a heavier one meets it: few samples, or a cold start.
   */
  private static String missedBelow(List<LevelFigures> lighter) {
    return lighter.isEmpty()
        ? ""
        : ", but not at "
            + lighter.stream().map(VerdictSentence::load).collect(Collectors.joining(", "));
  }

  private String knee() {
    Chosen chosen = curve.chosen();
    LevelFigures level = chosen.level();
    Metric metric = latency(level);
    return switch (chosen.by()) {
      case KNEE, SATURATED ->
          "%s: %s, %s p99 %s%s"
              .formatted(
                  chosen.by() == Choice.KNEE
                      ? shortLoad(level) + " is the knee"
                      : shortLoad(level) + ", the lightest load, saturates the server",
                  tokens(level),
                  curve.clock().name(metric),
                  NumberText.ms(level.figures().metric(metric.fromSchedule()).p99()),
                  growth(level));
      case HIGHEST ->
          "No knee up to the highest load tried, " + load(level) + ": " + figures(level);
      case KEEPS_UP -> "The server keeps up with " + load(level) + ": " + figures(level);
      case ONLY, IN_SLO, NONE_KEEPS_UP -> capital(plain(level));
    };
  }

  /** The latency in headlines about a level: TTFT, or E2E without streams. */
  static Metric latency(LevelFigures level) {
    return level.figures().metric(Metric.TTFT_MS).isEmpty() ? Metric.E2E_MS : Metric.TTFT_MS;
  }

  /**
   * The effect of more load on throughput and on the p99 of the latency, as a sentence: of double
   * the load where that was tried, else of the heaviest.
   */
  private String growth(LevelFigures from) {
    List<LevelFigures> levels = curve.levels();
    Double load = from.offered();
    LevelFigures to =
        levels.stream()
            .filter(s -> load != null && Objects.equals(s.offered(), 2 * load))
            .findFirst()
            .orElse(levels.get(levels.size() - 1));
    Metric metric = latency(from);
    return ". %s %s at %s the %s p99"
        .formatted(
            load == null || to.offered() == null || load == 0
                ? "The heaviest load"
                : Objects.equals(to.offered(), 2 * load)
                    ? "Doubling the load"
                    : times(to.offered() / load) + " the load",
            added(from.figures().delivered(), to.figures().delivered()),
            times(
                ratio(
                    from.figures().metric(metric.fromSchedule()).p99(),
                    to.figures().metric(metric.fromSchedule()).p99())),
            curve.clock().name(metric));
  }

  private static @Nullable Double ratio(@Nullable Double before, @Nullable Double after) {
    return before == null || after == null || before <= 0 ? null : (Double) (after / before);
  }

  /** {@code 1.4 ×}, {@code 22 ×}. */
  private static String times(@Nullable Double ratio) {
    if (ratio == null) {
      return NumberText.ABSENT + " ×";
    }
    double rounded = ratio < 10 ? Math.round(ratio * 10) / 10.0 : Math.rint(ratio);
    return NumberText.number(rounded).replaceFirst("(\\.\\d)0$", "$1") + " ×";
  }

  private static String added(@Nullable Double before, @Nullable Double after) {
    Double ratio = ratio(before, after);
    if (ratio == null) {
      return "gives an unknown throughput";
    }
    if (ratio >= 2) {
      return "gives " + times(ratio) + " the throughput";
    }
    long percent = Math.round((ratio - 1) * 100);
    if (percent == 0) {
      return "adds no throughput";
    }
    return percent > 0
        ? "adds " + percent + " % throughput"
        : "costs " + -percent + " % of the throughput";
  }

  private static boolean isWholeRun(LevelFigures level) {
    return level.offered() == null && level.label().equals(LevelInfo.WHOLE_RUN);
  }

  /**
   * The load of a level in words: {@code 8 concurrent requests}, {@code 16 requests/s}; its label
   * where it has no single number.
   */
  private static String load(LevelFigures level) {
    Double offered = level.offered();
    if (offered == null) {
      return isWholeRun(level) ? "the whole run" : "load level " + level.label();
    }
    boolean isConcurrency = isConcurrency(level);
    return NumberText.of(
        offered(offered),
        !isConcurrency
            ? String.valueOf(level.unit())
            : offered == 1 ? "concurrent request" : "concurrent requests");
  }

  /** The load of a level in short: {@code 8 concurrent}. */
  private static String shortLoad(LevelFigures level) {
    Double offered = level.offered();
    return offered != null && isConcurrency(level)
        ? offered(offered) + " concurrent"
        : capital(load(level));
  }

  private static boolean isConcurrency(LevelFigures level) {
    String unit = level.unit();
    return unit == null || List.of("", "users", "concurrent").contains(unit);
  }

  private static String offered(double offered) {
    return offered == Math.rint(offered)
        ? NumberText.number(offered)
        : NumberText.threeDigits(offered);
  }

  private static String tokens(LevelFigures level) {
    return NumberText.number(level.figures().delivered()) + " " + level.figures().deliveredUnit();
  }

  private static String capital(String text) {
    return text.isEmpty() ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
