package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.LoadCurve.Choice;
import io.github.gatlingllm.figures.level.Summary.Knee;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.ConfigKey;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a run in sentences, e.g. {@code 16 concurrent is the knee: 1,583 tok/s, TTFT p99
 * 71 ms. Doubling the load adds 23 % throughput, with 22 × the TTFT p99.}
 */
final class VerdictSentence {

  private static final int MAX_NAMED = 3;

  private static final String SEARCH = "search";

  /** A smaller share of failed or rate-limited requests is reported by the checks only. */
  private static final double MIN_FAILED = 0.01;

  private VerdictSentence() {}

  private record Quote(LoadCurve curve, LevelFigures level) {

    static Quote of(LoadCurve curve) {
      return new Quote(
          curve,
          curve.slo().isEmpty()
              ? curve.operatingLevel()
              : curve.levels().get(Math.max(0, curve.lastHolding())));
    }

    List<LevelFigures> levels() {
      return curve.levels();
    }

    boolean isSingle() {
      return levels().size() == 1;
    }

    boolean hasFailed() {
      return levels().stream().allMatch(each -> each.figures().counts().ok() == 0);
    }

    boolean isJudged() {
      Goodput goodput = level.figures().goodput();
      return !curve.slo().isEmpty()
          && goodput != null
          && goodput.attempted() + goodput.excluded() > 0;
    }

    boolean isDecided() {
      return Objects.requireNonNull(level.figures().goodput()).holds() != null;
    }

    String load() {
      return level.load();
    }

    Sentence at() {
      return Sentence.of("verdict.at", level.isEntireRun() ? null : load());
    }

    String tokens() {
      return NumberText.number(level.figures().delivered()) + " " + level.figures().deliveredUnit();
    }

    Sentence figures() {
      Double perS = level.figures().number(Metric.REQUESTS_PER_S);
      return Sentence.of(
          "verdict.figures", tokens(), NumberText.with(perS, "requests/s"), quotedTimes());
    }

    /**
     * {@code TTFT p50 53.4 ms and p95 88.4 ms}; of few requests {@code p50 71 ms of 16 requests}.
     */
    Sentence quotedTimes() {
      Distribution times = level.figures().metric(curve.headline(level.latency()));
      String tail = times.tail();
      boolean isMedian = tail.equals("p50");
      return Sentence.of(
          "verdict.times",
          curve.headline(level.latency()).title(),
          isMedian ? null : times.p50(),
          Sentence.of(
              "verdict.tail",
              tail,
              times.percentile(tail),
              isMedian ? (Long) times.count() : null));
    }

    SloFormatter slo(List<LevelFigures> missing) {
      return new SloFormatter(curve, level, missing);
    }

    Sentence outcome() {
      return slo(List.of()).outcome();
    }

    /** The result of the curve; the level is the one that headlines quote. */
    Sentence result() {
      if (isSingle()) {
        return isJudged() ? judged() : Sentence.of("verdict.level", at(), figures());
      }
      if (curve.slo().isEmpty()) {
        return switch (curve.choice()) {
          case KNEE -> Sentence.of("verdict.knee", level.shortLoad(), tokens(), quotedTimes());
          case SATURATED ->
              Sentence.of("verdict.saturated", level.shortLoad(), tokens(), quotedTimes());
          case HIGHEST -> Sentence.of("verdict.highest", load(), figures());
          case KEEPS_UP -> Sentence.of("verdict.keeps_up", load(), figures());
          case ACCEPTED -> Sentence.of("verdict.accepted", load(), figures());
          default -> Sentence.of("verdict.level", at(), figures());
        };
      }
      if (curve.lastHolding() >= 0) {
        return met();
      }
      if (curve.isMet(level)) {
        return judged();
      }
      List<LevelFigures> heavier = levels().stream().filter(curve::holds).toList();
      if (!heavier.isEmpty()) { // as after a cold start
        return Sentence.of(
            "verdict.slo_missed_at_lightest", at(), tokens(), outcome(), loads(heavier));
      }
      return Sentence.of(
          isDecided() ? "verdict.slo_missed" : "verdict.slo_unknown", load(), outcome());
    }

    private Sentence judged() {
      return Sentence.of("verdict.judged_level", at(), tokens(), outcome());
    }

    private Sentence met() {
      int holding = curve.lastHolding();
      int proven = curve.lastProven();
      List<LevelFigures> missedBelow =
          levels().subList(0, holding).stream().filter(each -> !curve.holds(each)).toList();
      boolean isHighest = holding == levels().size() - 1;
      SloFormatter slo = slo(missedBelow);
      return Sentence.of(
          "verdict.slo_met",
          slo.met(),
          load(),
          tokens(),
          slo.tooFew(),
          isHighest,
          loads(missedBelow),
          proven == holding || proven < 0 ? null : levels().get(proven).load(),
          proven != holding && proven < 0 && slo(List.of()).tooFew() == null,
          isHighest ? null : span(curve.undecided()),
          isHighest ? null : missing());
    }

    /** The lightest heavier load that misses the SLO: the bracket's other end. */
    private @Nullable Sentence missing() {
      LevelFigures missing = curve.missing();
      Goodput goodput = missing == null ? null : missing.figures().goodput();
      boolean isServed = missing != null && missing.isServed();
      return missing == null
          ? null
          : Sentence.of(
              "verdict.missing",
              missing.load(),
              goodput == null || !isServed ? null : goodput.share());
    }

    /** Whether the result has a sentence about what more load would bring. */
    boolean isBelowHeavier() {
      Choice by = curve.choice();
      return !isSingle()
          && (curve.slo().isEmpty()
              ? by == Choice.KNEE || by == Choice.SATURATED
              : curve.lastHolding() >= 0 && curve.lastHolding() < levels().size() - 1);
    }
  }

  /** The outcome of all curves, then the conclusions of their load plans. */
  static List<Sentence> of(boolean isComplete, Figures run, List<LoadCurve> curves, RunInfo info) {
    List<Conclusion> conclusions = info.outcome().conclusions();
    List<Sentence> all = new ArrayList<>();
    if (!isComplete) {
      all.add(Sentence.of("verdict.interrupted"));
    }
    Quote found = curves.size() == 1 ? found(curves.get(0), conclusions) : null;
    if (found == null) {
      all.addAll(outcome(run, curves));
    } else {
      all.addAll(clause(failures(found.level)));
    }
    int more = MAX_NAMED;
    for (Conclusion each : conclusions) {
      Sentence stated =
          Sentence.of(
              "verdict.conclusion",
              curves.size() > 1 ? each.target() : null,
              each.topic().equals(SEARCH) ? null : each.topic(),
              each.text());
      if (each.tier() != null && curves.size() == 1) {
        all.add(stated.at(each.tier()));
      } else if (more-- > 0) {
        all.add(stated);
      }
    }
    if (found != null) {
      all.add(Sentence.of("verdict.level", found.at(), found.figures()));
    }
    double limited = (double) run.counts().rateLimited() / Math.max(1, run.counts().ended());
    if (run.counts().ok() > 0 && limited >= MIN_FAILED) {
      all.add(Sentence.of("verdict.limited", limited));
    }
    all.addAll(replay(info.config(), curves));
    return all;
  }

  /** What a reader has to know of replayed sessions. */
  private static List<Sentence> replay(Map<String, String> config, List<LoadCurve> curves) {
    List<Sentence> all = new ArrayList<>();
    String repeated = config.get(ConfigKey.REPEATED_SESSIONS.name);
    if (repeated != null) {
      all.add(Sentence.of("verdict.repeated_sessions", repeated));
    }
    String deviations = config.get(ConfigKey.AGENTX_DEVIATIONS.name);
    if (deviations != null) {
      double measured =
          curves.stream()
              .flatMap(curve -> curve.levels().stream())
              .mapToDouble(level -> Objects.requireNonNullElse(level.durationS(), 0.0))
              .min()
              .orElse(0);
      List<Object> different = new ArrayList<>();
      if (!deviations.equals("none")) {
        different.add(deviations);
      }
      if (!List.of("true", "").contains(config.getOrDefault("ignoreEos", "true"))) {
        different.add(Sentence.of("agentx.rejected"));
      }
      if (measured < RunInfo.AGENTX_SECONDS) {
        different.add(
            Sentence.of("agentx.measured", NumberText.number(measured), RunInfo.AGENTX_SECONDS));
      }
      all.add(Sentence.of("verdict.agentx", different));
    }
    return all;
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

  /** How a curve holds the SLO of its tier. */
  static Sentence ofTier(LoadCurve curve) {
    Quote quote = Quote.of(curve);
    return quote.hasFailed() ? Sentence.of("verdict.no_success") : quote.result();
  }

  /** What the sentence of a tier begins with: the tier, and the curve if there are several. */
  static String place(LoadCurve curve, List<LoadCurve> curves) {
    return curve.tier() + (curves.size() == 1 ? "" : ", " + name(curve, curves));
  }

  private static List<Sentence> outcome(Figures run, List<LoadCurve> curves) {
    if (run.counts().ok() == 0) {
      return List.of(noSuccess(run));
    }
    if (curves.size() == 1) {
      LoadCurve curve = curves.get(0);
      return curve.hasMostlyFailed()
          ? joined(List.of(mostlyFailed(curve)), sentences(curve))
          : joined(sentences(curve), curve.gainOfOneStream());
    }
    List<LoadCurve> failed =
        curves.stream().filter(LoadCurve::hasMostlyFailed).limit(MAX_NAMED).toList();
    List<LoadCurve> shown =
        curves.stream().filter(curve -> !curve.hasMostlyFailed()).limit(MAX_NAMED).toList();
    List<Sentence> all = new ArrayList<>();
    for (LoadCurve curve : failed) {
      all.add(mostlyFailed(curve).at(name(curve, curves)));
    }
    all.addAll(TargetRanking.sentences(curves));
    for (LoadCurve curve : shown) {
      List<Sentence> inShort = inShort(curve);
      all.add(inShort.get(0).at(name(curve, curves)));
      all.addAll(inShort.subList(1, inShort.size()));
      all.addAll(curve.gainOfOneStream());
    }
    int more = curves.size() - failed.size() - shown.size();
    if (more > 0) {
      all.add(Sentence.of("verdict.more", more));
    }
    return all;
  }

  private static List<Sentence> joined(List<Sentence> first, List<Sentence> then) {
    return Stream.concat(first.stream(), then.stream()).toList();
  }

  private static String name(LoadCurve curve, List<LoadCurve> curves) {
    long targets = curves.stream().map(LoadCurve::target).distinct().count();
    return Summary.named(curve.target(), curve.scenario(), (int) targets, curves.size());
  }

  private static Sentence mostlyFailed(LoadCurve curve) {
    return Sentence.of(
        "verdict.mostly_failed", (double) curve.failed() / curve.ended(), curve.ended());
  }

  private static Sentence noSuccess(Figures run) {
    if (run.counts().started() == 0) {
      return Sentence.of("verdict.nothing");
    }
    ErrorCount first = run.errors().isEmpty() ? null : run.errors().get(0);
    return Sentence.of(
        "verdict.none_ok",
        run.counts().started(),
        first == null ? null : first.message(),
        first == null ? null : (Long) first.count());
  }

  /** One of several curves in short; tables have the details. */
  private static List<Sentence> inShort(LoadCurve curve) {
    Quote quote = new Quote(curve, curve.operatingLevel());
    if (quote.isSingle() || quote.hasFailed()) {
      return sentences(curve);
    }
    boolean isMaybeInSlo = curve.choice() == Choice.MAYBE_IN_SLO;
    return List.of(
        Sentence.of(
            "verdict.curve",
            queued(quote.levels().stream()),
            failures(quote.level),
            quote.tokens(),
            quote.level.label(),
            curve.operatingPoint().why(),
            isMaybeInSlo ? quote.slo(List.of()).tooFew() : null));
  }

  private static List<Sentence> sentences(LoadCurve curve) {
    Quote quote = Quote.of(curve);
    if (quote.hasFailed()) {
      return List.of(Sentence.of("verdict.no_success"));
    }
    // A growing queue comes first: that of the level quoted, or of the lightest level with one.
    List<Sentence> all = new ArrayList<>();
    all.addAll(clause(queued(Stream.concat(Stream.of(quote.level), quote.levels().stream()))));
    if (!curve.hasMostlyFailed()) {
      all.addAll(clause(failures(quote.level)));
    }
    all.add(curve.tier() == null ? quote.result() : quote.result().at(curve.tier()));
    if (quote.isBelowHeavier()) {
      all.addAll(growth(curve, quote.level));
    }
    return all;
  }

  private static List<Sentence> clause(@Nullable Sentence clause) {
    return clause == null ? List.of() : List.of(Sentence.of("verdict.clause", clause));
  }

  private static @Nullable Sentence queued(Stream<LevelFigures> levels) {
    return levels
        .filter(LevelFigures::fallsBehind)
        .findFirst()
        .map(level -> Objects.requireNonNull(level.queue()).clause(level.load()))
        .orElse(null);
  }

  /** The share of failed requests, before the latencies of the others; null below 1 %. */
  private static @Nullable Sentence failures(LevelFigures level) {
    Figures.Counts counts = level.figures().counts();
    double failed = (double) counts.failed() / Math.max(1, counts.ended());
    return failed < MIN_FAILED
        ? null
        : Sentence.of(
            "verdict.failed", failed, counts.ended(), level.isEntireRun() ? null : level.load());
  }

  /** Neighbouring levels: {@code at 4 requests/s}, {@code from 4 to 32 requests/s}. */
  private static @Nullable Sentence span(List<LevelFigures> levels) {
    if (levels.isEmpty()) {
      return null;
    }
    LevelFigures first = levels.get(0);
    String from = first.offered() == null ? first.load() : NumberText.load(first.offered());
    return Sentence.of(
        "verdict.span", levels.size() == 1 ? null : from, levels.get(levels.size() - 1).load());
  }

  private static List<String> loads(List<LevelFigures> levels) {
    return levels.stream().map(LevelFigures::load).toList();
  }

  /**
   * What more load would bring: from a level to that with double its load, else to the heaviest.
   * None for an open loop below its knee, which delivers what is offered.
   */
  private static List<Sentence> growth(LoadCurve curve, LevelFigures from) {
    Knee knee = curve.knee();
    Double load = from.offered();
    boolean isBelowKnee =
        knee == null || knee.offered() == null || load == null || load < knee.offered();
    if (from.kind().equals(LevelInfo.OPEN_LOOP) && isBelowKnee) {
      return List.of();
    }
    List<LevelFigures> levels = curve.levels();
    LevelFigures to =
        levels.stream()
            .filter(each -> load != null && Objects.equals(each.offered(), 2 * load))
            .findFirst()
            .orElse(levels.get(levels.size() - 1));
    Metric latency = curve.headline(from.latency());
    Distribution lighter = from.figures().metric(latency);
    Distribution heavier = to.figures().metric(latency);
    boolean isP90Known = !lighter.isLowN("p90") && !heavier.isLowN("p90");
    Double throughput = ratio(from.figures().delivered(), to.figures().delivered());
    return List.of(
        Sentence.of(
            "verdict.growth",
            ratio(load, to.offered()),
            Sentence.of(
                "verdict.adds",
                throughput,
                throughput == null ? null : (Long) Math.round((throughput - 1) * 100)),
            isP90Known ? ratio(lighter.p90(), heavier.p90()) : ratio(lighter.p50(), heavier.p50()),
            latency.title() + (isP90Known ? " p90" : " p50")));
  }

  private static @Nullable Double ratio(@Nullable Double before, @Nullable Double after) {
    return before == null || after == null || before <= 0 ? null : (Double) (after / before);
  }
}
