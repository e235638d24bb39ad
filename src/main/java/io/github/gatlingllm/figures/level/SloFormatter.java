package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The SLO of a load level and how it was met, in the words of the rule that it is judged by. */
final class SloFormatter {

  private static final int MINUTE_S = 60;

  private final LoadCurve curve;
  private final LevelFigures level;
  private final Goodput goodput;
  private final boolean isMet;
  private final List<Term> terms;
  private final boolean isByRequests;
  private final double percent;

  /** An objective with its owner: a target or a request name. */
  private record Term(SloTally.OwnedSlo of, Slo.Objective objective) {

    Figures.@Nullable ObjectiveCount in(LevelFigures level) {
      Goodput goodput = level.figures().goodput();
      return goodput == null
          ? null
          : goodput.objectives().stream()
              .filter(o -> o.objective().equals(of.owner + objective))
              .filter(o -> o.attempted() + o.excluded() > 0)
              .findFirst()
              .orElse(null);
    }

    boolean isIn(LevelFigures level) {
      return in(level) != null;
    }

    TooFew tooFew(LevelFigures level) {
      Figures.ObjectiveCount own = Objects.requireNonNull(in(level));
      Goodput goodput = Objects.requireNonNull(level.figures().goodput());
      Long needed = goodput.toShow(own, of.slo.percentile());
      return TooFew.of(level, own.attempted(), needed, of.request, of.slo);
    }

    boolean isMissedIn(LevelFigures level) {
      Figures.ObjectiveCount counts = in(level);
      Double share = counts == null ? null : counts.share();
      return share != null && share * 100 < of.slo.percentile() - 1e-9;
    }
  }

  /**
   * Requests that are too few to show that an SLO is met.
   *
   * @param times how often that number is needed
   * @param request the name of those it is about; null for all
   * @param remark of {@link Interval#tooFew}, with the time that takes; null where they are enough
   */
  private record TooFew(
      double times, long requests, @Nullable String request, @Nullable Sentence remark) {

    /** A growing queue shows nothing of how many are needed: at least as for independent ones. */
    static TooFew of(
        LevelFigures level, long count, @Nullable Long toShow, @Nullable String request, Slo slo) {
      boolean isGrowing = level.fallsBehind();
      Long needed = isGrowing ? (Long) Interval.minToShow(slo.percentile()) : toShow;
      double times = needed == null ? 0 : (double) needed / count;
      Double windowS = isGrowing ? null : level.figures().windowS();
      Sentence few = times <= 1 ? null : Interval.tooFew(count, slo.percentile(), needed);
      return new TooFew(
          times,
          count,
          request,
          few == null || windowS == null || !level.hasDuration()
              ? few
              : measuring(few, windowS * times));
    }

    private static Sentence measuring(Sentence few, double seconds) {
      boolean isShort = seconds < 2 * MINUTE_S;
      return Sentence.of(
          "slo.measuring",
          few,
          isShort ? (Long) (long) Math.ceil(seconds) : null,
          isShort ? null : (Long) (long) Math.ceil(seconds / MINUTE_S));
    }
  }

  /**
   * @param curve has an SLO
   * @param level the one of its levels that the sentence quotes; where none of its requests was
   *     judged, the entire SLO is quoted
   * @param missing other levels that the sentence states miss the SLO: it quotes their objectives
   *     too
   */
  SloFormatter(LoadCurve curve, LevelFigures level, List<LevelFigures> missing) {
    this.curve = curve;
    this.level = level;
    goodput = Objects.requireNonNull(level.figures().goodput());
    isMet = Boolean.TRUE.equals(goodput.holds());
    List<LevelFigures> judged = Stream.concat(Stream.of(level), missing.stream()).toList();
    List<SloTally.OwnedSlo> used =
        curve.slo().stream()
            .filter(of -> terms(of).anyMatch(term -> judged.stream().anyMatch(term::isIn)))
            .toList();
    terms = (used.isEmpty() ? curve.slo() : used).stream().flatMap(SloFormatter::terms).toList();
    Slo first = terms.get(0).of.slo;
    isByRequests =
        first.rule() == Slo.Rule.REQUESTS
            && terms.stream().allMatch(term -> term.of.slo.hasSameRule(first));
    percent = first.percentile();
  }

  private static Stream<Term> terms(SloTally.OwnedSlo of) {
    return of.slo.objectives().stream().map(objective -> new Term(of, objective));
  }

  private boolean isOne() {
    return terms.size() == 1;
  }

  /** E.g. {@code TTFT p99 < 200 ms and TPOT p99 < 50 ms are met}. */
  Sentence met() {
    return Sentence.of("slo.met", isByRequests ? (Double) percent : null, limits(), isOne());
  }

  /** E.g. {@code only 17 requests, too few to prove 99 %: needs 381 requests}; null for enough. */
  @Nullable Sentence tooFew() {
    return fewest()
        .map(few -> Sentence.of("slo.few", few.requests, few.request, few.remark))
        .orElse(null);
  }

  /** Of the objectives with too few requests, the one that needs most more; empty without any. */
  private Optional<TooFew> fewest() {
    Slo slo = terms.get(0).of.slo;
    Stream<TooFew> counts =
        isByRequests
            ? Stream.of(
                TooFew.of(level, goodput.attempted(), goodput.toShow(slo.percentile()), null, slo))
            : terms.stream().filter(term -> term.isIn(level)).map(term -> term.tooFew(level));
    return counts.filter(few -> few.remark != null).max(Comparator.comparingDouble(TooFew::times));
  }

  /** E.g. {@code TTFT p99 < 200 ms is not met: TTFT by 98.0 % of 50 requests}. */
  Sentence outcome() {
    if (level.sheds()) {
      Counts counts = level.figures().counts();
      double share = (double) (counts.ended() - counts.ok()) / counts.ended();
      return Sentence.of("slo.shed", share, counts.ended());
    }
    if (goodput.holds() == null) {
      return Sentence.of("slo.unknown", met(), whyUnknown());
    }
    return isByRequests
        ? Sentence.of(
            "slo.requests",
            goodput.share(),
            goodput.attempted(),
            isMet ? fewest().map(TooFew::remark).orElse(null) : null,
            limits(),
            isMet,
            percent,
            noise())
        : Sentence.of("slo.objectives", limits(), isOne(), isMet, byShares(), noise());
  }

  /** Null where the requests can decide, and where they are remarked as too few to show it. */
  private @Nullable Sentence noise() {
    Interval interval = isMet && fewest().isPresent() ? null : curve.noise(level);
    boolean isKnown = interval != null && goodput.worth() != null;
    return interval == null
        ? null
        : Sentence.of(
            "slo.noise",
            isKnown ? (Double) interval.low() : null,
            isKnown ? (Double) interval.high() : null,
            ConfidenceIntervals.MIN_COVERAGE);
  }

  private Sentence limits() {
    return Sentence.of(
        "slo.limits", terms.stream().map(this::limit).toList(), isByRequests && !isOne());
  }

  private Sentence limit(Term term) {
    Slo slo = term.of.slo;
    Slo.Objective objective = term.objective;
    boolean isByPercentile = slo.rule() == Slo.Rule.PERCENTILES;
    return Sentence.of(
        "slo.limit",
        objective.measure().name(),
        objective.measure().isFromSchedule() && curve.isClockNamed(),
        isByPercentile ? (Double) slo.percentile() : null,
        objective.limitNanos() / 1e6,
        term.of.request,
        isByPercentile || isByRequests ? null : (Double) slo.percentile());
  }

  /**
   * {@code TTFT by 98.0 % of 50 requests, TPOT by 100 % of 48}: of the missed objectives if any.
   */
  private List<Sentence> byShares() {
    List<Term> missed = terms.stream().filter(term -> term.isMissedIn(level)).toList();
    List<Sentence> shares = new ArrayList<>();
    String latest = "";
    for (Term term : missed.isEmpty() ? terms : missed) {
      Figures.ObjectiveCount own = term.in(level);
      if (own != null) {
        Sentence remark = isMet ? term.tooFew(level).remark() : null;
        boolean isNew = remark != null && !remark.text().equals(latest);
        shares.add(
            Sentence.of(
                "slo.share",
                term.objective.measure().name(),
                term.of.request,
                own.share(),
                own.attempted(),
                shares.isEmpty(),
                isNew ? remark : null));
        latest = isNew ? remark.text() : latest;
      }
    }
    return shares;
  }

  private String whyUnknown() {
    return Stream.concat(
            Stream.ofNullable(goodput.undefined()),
            goodput.objectives().stream()
                .map(Figures.ObjectiveCount::undefined)
                .filter(Objects::nonNull))
        .findFirst()
        .orElseGet(() -> Sentence.text("slo.unjudged"));
  }
}
