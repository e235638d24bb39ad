package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.metric.NumberText.capital;
import static java.util.Map.entry;

import io.github.gatlingllm.figures.level.LoadCurve.Choice;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a run in sentences, e.g. {@code 16 concurrent is the knee: 1,583 tok/s, TTFT p99
 * 71 ms. Doubling the load adds 23 % throughput at 22 × the TTFT p99.}
 */
final class VerdictSentence {

  private static final int MAX_NAMED = 3;

  private static final String SEARCH = "search";

  /** A smaller share of failed or rate-limited requests is reported by the checks only. */
  private static final double MIN_FAILED = 0.01;

  private static final Map<String, Function<Quote, String>> FIELDS =
      Map.ofEntries(
          entry("load", quote -> quote.level.load()),
          entry("short", quote -> quote.level.shortLoad()),
          entry("tokens", quote -> tokens(quote.level)),
          entry("times", Quote::quotedTimes),
          entry("figures", Quote::figures),
          entry("at", Quote::at),
          entry("slo", quote -> quote.slo(List.of()).outcome()),
          entry("met", quote -> quote.slo(quote.missedBelow()).isMet()),
          entry("few", quote -> prefixed("; ", quote.slo(quote.missedBelow()).tooFew())),
          entry(
              "missed",
              quote -> prefixed(", but within noise not at ", loads(quote.missedBelow()))),
          entry("certain", Quote::certain),
          entry("undecided", quote -> prefixed("; undecided ", span(quote.curve.undecided()))),
          entry("missing", Quote::missing),
          entry("metAt", quote -> loads(quote.metAbove())),
          entry("growth", quote -> Growth.sentence(quote.curve, quote.level)));

  /** The result of a curve; the level is the one that headlines quote. */
  private static final Sentences<Quote> RESULT =
      new Sentences<>(FIELDS)
          .row("level", quote -> quote.isSingle() && !quote.isJudged(), "{At}: {figures}")
          .row("judged_level", Quote::isSingle, "{At}: {tokens}; {slo}")
          .row("knee", as(Choice.KNEE), "{short} is the knee: {tokens}, {times}{growth}")
          .row(
              "saturated",
              as(Choice.SATURATED),
              "{short}, the lightest load, saturates the server: {tokens}, {times}{growth}")
          .row(
              "no_knee",
              as(Choice.HIGHEST),
              "No knee up to the highest load tried, {load}: {figures}")
          .row("keeps_up", as(Choice.KEEPS_UP), "The server keeps up with {load}: {figures}")
          .row(
              "accepts",
              as(Choice.ACCEPTED),
              "{load} is the highest load of which at most 5 % were refused or failed: {figures}")
          .row("chosen", quote -> !quote.hasSlo(), "{At}: {figures}")
          .row(
              "judged_lowest",
              quote -> quote.curve.lastHolding() < 0 && quote.curve.isMet(quote.level),
              "{At}: {tokens}; {slo}")
          .row(
              "slo_missed_at_lightest",
              quote -> quote.curve.lastHolding() < 0 && !quote.metAbove().isEmpty(),
              "{At}, the lightest load: {tokens}; {slo}; met at {metAt}")
          .row(
              "slo_unknown",
              quote -> quote.curve.lastHolding() < 0 && !quote.isDecided(),
              "No load level is known to meet the SLO; at the lowest, {load}, {slo}")
          .row(
              "slo_missed",
              quote -> quote.curve.lastHolding() < 0,
              "No load level meets the SLO; at the lowest, {load}, {slo}")
          .row(
              "slo_met_at_highest",
              quote -> quote.curve.lastHolding() == quote.levels().size() - 1,
              "{met} up to {load} ({tokens}{few}), the highest load tried{missed}{certain}")
          .otherwise(
              "slo_met",
              "{met} up to {load} ({tokens}{few}){missed}{certain}{undecided}{missing}{growth}");

  private VerdictSentence() {}

  private static Predicate<Quote> as(Choice choice) {
    return quote -> !quote.hasSlo() && quote.curve.chosen().by() == choice;
  }

  private record Quote(LoadCurve curve, LevelFigures level) {

    static Quote of(LoadCurve curve) {
      return new Quote(
          curve,
          curve.slo().isEmpty()
              ? curve.chosen().level()
              : curve.levels().get(Math.max(0, curve.lastHolding())));
    }

    List<LevelFigures> levels() {
      return curve.levels();
    }

    boolean isSingle() {
      return levels().size() == 1;
    }

    boolean hasSlo() {
      return !curve.slo().isEmpty();
    }

    boolean hasFailed() {
      return levels().stream().allMatch(each -> each.figures().counts().ok() == 0);
    }

    boolean isJudged() {
      Goodput goodput = level.figures().goodput();
      return hasSlo() && goodput != null && goodput.attempted() + goodput.excluded() > 0;
    }

    boolean isDecided() {
      return Objects.requireNonNull(level.figures().goodput()).holds() != null;
    }

    String at() {
      return level.isWholeRun() ? "over the whole run" : "at " + level.load();
    }

    String figures() {
      return "%s, %s completed, %s"
          .formatted(
              tokens(level),
              NumberText.with(level.figures().number(Metric.REQUESTS_PER_S), "requests/s"),
              quotedTimes());
    }

    /** {@code TTFT p50 53.4 ms and p95 88.4 ms}. */
    String quotedTimes() {
      boolean isTailKnown = !times().tail().equals("p50");
      return "%s %s%s"
          .formatted(
              curve.clock().name(level.latency()),
              isTailKnown ? "p50 " + NumberText.ms(times().p50()) + " and " : "",
              tail(times()));
    }

    Distribution times() {
      return level.figures().metric(curve.clock().metric(level.latency()));
    }

    SloFormatter slo(List<LevelFigures> missing) {
      return new SloFormatter(curve, level, missing);
    }

    List<LevelFigures> missedBelow() {
      return levels().subList(0, Math.max(0, curve.lastHolding())).stream()
          .filter(each -> !curve.holds(each))
          .toList();
    }

    /** Heavier loads that meet the SLO though this one misses it, as after a cold start. */
    List<LevelFigures> metAbove() {
      return levels().stream().filter(curve::holds).toList();
    }

    /** Up to which load the SLO is surely met, if lighter. */
    String certain() {
      int proven = curve.lastProven();
      if (proven == curve.lastHolding()) {
        return "";
      }
      return proven >= 0
          ? "; certain up to " + levels().get(proven).load()
          : slo(List.of()).tooFew().isEmpty() ? "; within noise" : "";
    }

    /** The lightest heavier load that misses the SLO: the bracket's other end. */
    String missing() {
      LevelFigures missing = curve.missing();
      Goodput goodput = missing == null ? null : missing.figures().goodput();
      return missing == null
          ? ""
          : "; missed at %s%s"
              .formatted(
                  missing.load(),
                  goodput == null || goodput.share() == null || !missing.isServed()
                      ? ""
                      : " (" + NumberText.percent(goodput.share()) + " in SLO)");
    }
  }

  /** The outcome of all curves, then the conclusions of their load plans. */
  static String of(
      boolean complete, Figures run, List<LoadCurve> curves, List<Conclusion> conclusions) {
    List<String> parts = new ArrayList<>(complete ? List.of() : List.of("Interrupted:"));
    Quote found = curves.size() == 1 ? found(curves.get(0), conclusions) : null;
    if (found == null) {
      parts.addAll(outcome(run, curves));
    } else {
      parts.add(failures(found.level, ".").strip());
    }
    for (Conclusion each : conclusions.subList(0, Math.min(MAX_NAMED, conclusions.size()))) {
      parts.add(
          (curves.size() > 1 ? each.target() + ": " : "")
              + (each.topic().equals(SEARCH) ? "" : capital(each.topic()) + ": ")
              + each.text()
              + ".");
    }
    if (found != null) {
      parts.add(capital(found.at()) + ": " + found.figures() + ".");
    }
    double limited = (double) run.counts().rateLimited() / Math.max(1, run.counts().ended());
    if (run.counts().ok() > 0 && limited >= MIN_FAILED) {
      parts.add(
          "The server's rate limits turned %s of the requests away."
              .formatted(NumberText.percent(limited)));
    }
    return parts.stream().filter(part -> !part.isEmpty()).collect(Collectors.joining(" "));
  }

  /** The level at the rate that a search found; null without a search, or where it found none. */
  private static @Nullable Quote found(LoadCurve curve, List<Conclusion> conclusions) {
    return conclusions.stream()
        .filter(each -> each.topic().equals(SEARCH) && each.holdsAt() != null)
        .flatMap(
            each ->
                curve.levels().stream()
                    .filter(s -> s.figures().counts().ok() > 0)
                    .filter(s -> Objects.equals(s.offered(), each.holdsAt())))
        .map(level -> new Quote(curve, level))
        .findFirst()
        .orElse(null);
  }

  private static List<String> outcome(Figures run, List<LoadCurve> curves) {
    if (run.counts().ok() == 0) {
      return List.of(noSuccess(run));
    }
    if (curves.size() == 1) {
      LoadCurve curve = curves.get(0);
      return curve.hasMostlyFailed()
          ? List.of(mostlyFailed(curve), sentence(curve) + ".")
          : List.of(sentence(curve) + ".", curve.gainOfOneStream());
    }
    List<LoadCurve> failed =
        curves.stream().filter(LoadCurve::hasMostlyFailed).limit(MAX_NAMED).toList();
    List<LoadCurve> shown =
        curves.stream().filter(curve -> !curve.hasMostlyFailed()).limit(MAX_NAMED).toList();
    List<String> parts = new ArrayList<>();
    for (LoadCurve curve : failed) {
      parts.add(name(curve, curves) + ": " + mostlyFailed(curve));
    }
    parts.addAll(TargetRanking.sentences(curves));
    for (LoadCurve curve : shown) {
      parts.add(name(curve, curves) + ": " + inShort(curve) + ".");
      parts.add(curve.gainOfOneStream());
    }
    int more = curves.size() - failed.size() - shown.size();
    if (more > 0) {
      parts.add((more == 1 ? "One more curve is" : more + " more curves are") + " in the report.");
    }
    return parts;
  }

  private static String name(LoadCurve curve, List<LoadCurve> curves) {
    long targets = curves.stream().map(LoadCurve::target).distinct().count();
    return Summary.named(curve.target(), curve.scenario(), (int) targets, curves.size());
  }

  private static String mostlyFailed(LoadCurve curve) {
    return "%s of %s failed."
        .formatted(
            NumberText.percent((double) curve.failed() / curve.ended()),
            NumberText.counted(curve.ended(), "request"));
  }

  private static String noSuccess(Figures run) {
    long started = run.counts().started();
    if (started == 0) {
      return "No request was measured.";
    }
    String what =
        started == 1
            ? "The only request failed"
            : "None of " + NumberText.count(started) + " requests succeeded";
    if (run.errors().isEmpty()) {
      return what + ".";
    }
    ErrorCount first = run.errors().get(0);
    String times = first.count() == 1 ? "" : " (" + NumberText.count(first.count()) + " times)";
    return what + ": " + first.message() + times + ".";
  }

  /** One of several curves in short; tables have the details. */
  private static String inShort(LoadCurve curve) {
    Quote quote = new Quote(curve, curve.chosen().level());
    if (quote.isSingle() || quote.hasFailed()) {
      return sentence(curve);
    }
    String few = curve.chosen().by() == Choice.MAYBE_IN_SLO ? quote.slo(List.of()).tooFew() : "";
    String figures =
        "%s%s at %s, %s%s"
            .formatted(
                failures(quote.level, ";"),
                tokens(quote.level),
                quote.level.label(),
                curve.operatingPoint().why(),
                few.isEmpty() ? "" : " (" + few + ")");
    return queued(quote.levels().stream()).map(queue -> queue + "; ").orElse("") + figures;
  }

  private static String sentence(LoadCurve curve) {
    Quote quote = Quote.of(curve);
    if (quote.hasFailed()) {
      return "No request succeeded";
    }
    // A growing queue comes first: that of the level quoted, or of the lightest level with one.
    return queued(Stream.concat(Stream.of(quote.level), quote.levels().stream()))
            .map(queue -> capital(queue) + ". ")
            .orElse("")
        + (curve.hasMostlyFailed() ? "" : failures(quote.level, "."))
        + RESULT.of(quote);
  }

  private static Optional<String> queued(Stream<LevelFigures> levels) {
    return levels
        .filter(LevelFigures::fallsBehind)
        .findFirst()
        .map(level -> Objects.requireNonNull(level.queue()).words(level.load()))
        .map(words -> words.replaceFirst("^it ", ""));
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
                level.isWholeRun() ? "" : " at " + level.load(),
                end);
  }

  /** {@code p95 71 ms}; {@code p50 71 ms of 16 requests} where no higher percentile is certain. */
  static String tail(Distribution times) {
    String tail = times.tail();
    return tail
        + " "
        + NumberText.ms(times.percentile(tail))
        + (tail.equals("p50") ? " of " + NumberText.counted(times.count(), "request") : "");
  }

  /** Neighbouring levels: {@code at 4 requests/s}, {@code from 4 to 32 requests/s}. */
  private static String span(List<LevelFigures> levels) {
    return switch (levels.size()) {
      case 0 -> "";
      case 1 -> "at " + levels.get(0).load();
      default -> {
        Double from = levels.get(0).offered();
        yield "from %s to %s"
            .formatted(
                from == null ? levels.get(0).load() : NumberText.load(from),
                levels.get(levels.size() - 1).load());
      }
    };
  }

  private static String loads(List<LevelFigures> levels) {
    return levels.stream().map(LevelFigures::load).collect(Collectors.joining(", "));
  }

  private static String prefixed(String prefix, String text) {
    return text.isEmpty() ? "" : prefix + text;
  }

  private static String tokens(LevelFigures level) {
    return NumberText.number(level.figures().delivered()) + " " + level.figures().deliveredUnit();
  }
}
