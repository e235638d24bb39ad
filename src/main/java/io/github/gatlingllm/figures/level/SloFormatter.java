package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.Slo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The SLO of a load level and how it was met, in the words of the rule that it is judged by. */
final class SloFormatter {

  private static final int MINUTE_S = 60;

  private final LoadCurve curve;
  private final LevelFigures level;
  private final Goodput goodput;
  private final boolean holds;
  private final List<Term> terms;
  private final LatencyOrigin clock;
  private final boolean byRequests;
  private final String percent;

  /** An objective with its owner: a target or a request name. */
  private record Term(SloTally.Objectives of, Slo.Objective objective) {

    String of(String text) {
      return of.request == null ? text : text + " of " + of.request;
    }

    Goodput.@Nullable Objective in(LevelFigures level) {
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
      Goodput.Objective own = Objects.requireNonNull(in(level));
      Goodput goodput = Objects.requireNonNull(level.figures().goodput());
      Long needed = goodput.toShow(own, of.slo.percentile());
      return TooFew.of(level, own.attempted(), needed, of(""), of.slo);
    }

    boolean isMissedIn(LevelFigures level) {
      Goodput.Objective counts = in(level);
      Double share = counts == null ? null : counts.share();
      return share != null && share * 100 < of.slo.percentile() - 1e-9;
    }
  }

  /**
   * Requests that are too few to show that an SLO is met.
   *
   * @param requests e.g. {@code 17 requests of chat}
   * @param times how often as many are needed
   * @param remark of {@link Interval#tooFew}, with the time that takes; empty where they are enough
   */
  private record TooFew(double times, String requests, String remark) {

    /**
     * A queue that grows tells nothing of how many are needed: at least as for independent ones.
     */
    static TooFew of(LevelFigures level, long count, @Nullable Long toShow, String name, Slo slo) {
      boolean grows = level.fallsBehind();
      Long needed = grows ? (Long) Interval.fewestToShow(slo.percentile()) : toShow;
      double times = needed == null ? 0 : (double) needed / count;
      Double windowS = grows ? null : level.figures().windowS();
      return new TooFew(
          times,
          NumberText.counted(count, "request") + name,
          times <= 1
              ? ""
              : Interval.tooFew(count, slo.percentile(), needed)
                  + (windowS == null || !level.hasDuration() ? "" : measuring(windowS * times)));
    }

    private static String measuring(double seconds) {
      boolean isShort = seconds < 2 * MINUTE_S;
      return ", about %s %s of measuring"
          .formatted(
              NumberText.count((long) Math.ceil(isShort ? seconds : seconds / MINUTE_S)),
              isShort ? "s" : "min");
    }
  }

  /**
   * @param curve has an SLO
   * @param level the one of its levels that the sentence quotes; where none of its requests was
   *     judged, the whole SLO is quoted
   * @param missing other levels that the sentence says miss the SLO: it quotes their objectives too
   */
  SloFormatter(LoadCurve curve, LevelFigures level, List<LevelFigures> missing) {
    this.curve = curve;
    this.level = level;
    goodput = Objects.requireNonNull(level.figures().goodput());
    holds = Boolean.TRUE.equals(goodput.holds());
    List<LevelFigures> judged = Stream.concat(Stream.of(level), missing.stream()).toList();
    List<SloTally.Objectives> used =
        curve.slo().stream()
            .filter(of -> terms(of).anyMatch(term -> judged.stream().anyMatch(term::isIn)))
            .toList();
    terms = (used.isEmpty() ? curve.slo() : used).stream().flatMap(SloFormatter::terms).toList();
    clock = curve.clock();
    Slo first = terms.get(0).of.slo;
    byRequests =
        first.rule() == Slo.Rule.REQUESTS
            && terms.stream().allMatch(term -> term.of.slo.hasSameRule(first));
    percent = NumberText.plain(first.percentile());
  }

  private static Stream<Term> terms(SloTally.Objectives of) {
    return of.slo.objectives().stream().map(objective -> new Term(of, objective));
  }

  private boolean isOne() {
    return terms.size() == 1;
  }

  /** E.g. {@code TTFT p99 < 200 ms and TPOT p99 < 50 ms are met}. */
  String isMet() {
    return byRequests
        ? percent + " % of the requests meet " + limits()
        : limits() + (isOne() ? " is met" : " are met");
  }

  /** E.g. {@code only 17 requests, too few to prove 99 %: needs 381 requests}; empty for enough. */
  String tooFew() {
    return fewest().map(few -> "only " + few.requests() + ", " + few.remark()).orElse("");
  }

  /** Of the objectives with too few requests, the one that needs most more; empty without any. */
  private Optional<TooFew> fewest() {
    Slo slo = terms.get(0).of.slo;
    Stream<TooFew> counts =
        byRequests
            ? Stream.of(
                TooFew.of(level, goodput.attempted(), goodput.toShow(slo.percentile()), "", slo))
            : terms.stream().filter(term -> term.isIn(level)).map(term -> term.tooFew(level));
    return counts
        .filter(few -> !few.remark.isEmpty())
        .max(Comparator.comparingDouble(TooFew::times));
  }

  /** E.g. {@code TTFT p99 < 200 ms is not met: TTFT by 98.0 % of 50 requests}. */
  String outcome() {
    if (level.sheds()) {
      Counts counts = level.figures().counts();
      return "%s of %s were refused or failed"
          .formatted(
              NumberText.percent((double) (counts.ended() - counts.ok()) / counts.ended()),
              NumberText.counted(counts.ended(), "request"));
    }
    if (goodput.holds() == null) {
      return "it is not known whether " + isMet() + ": " + whyUnknown();
    }
    if (byRequests) {
      String few = holds ? fewest().map(each -> " (" + each.remark() + ")").orElse("") : "";
      return "%s of %s%s met %s, %s the required %s %%%s"
          .formatted(
              NumberText.percent(goodput.share()),
              NumberText.counted(goodput.attempted(), "request"),
              few,
              limits(),
              holds ? "at least" : "less than",
              percent,
              noise());
    }
    String verb = isOne() ? holds ? "is met" : "is not met" : holds ? "are met" : "are not all met";
    return limits() + " " + verb + ": " + byShares() + noise();
  }

  /** Empty where the requests can decide, and where they are remarked as too few to show it. */
  private String noise() {
    Interval interval =
        LoadCurve.SloProof.of(level, curve.slo()) == LoadCurve.SloProof.UNDECIDED
                && !(holds && fewest().isPresent())
            ? LoadCurve.SloProof.worst(level, curve.slo())
            : null;
    if (interval == null) {
      return "";
    }
    return goodput.worth() == null
        ? " (within noise)"
        : " (within noise: %s to %s holds the true share in at least %s %% of simulated runs)"
            .formatted(
                NumberText.percent(interval.low()),
                NumberText.percent(interval.high()),
                ConfidenceIntervals.MIN_COVERAGE);
  }

  private String limits() {
    String all = terms.stream().map(this::limit).collect(Collectors.joining(" and "));
    return byRequests && !isOne() ? all + " at once" : all;
  }

  private String limit(Term term) {
    Slo slo = term.of.slo;
    Slo.Objective objective = term.objective;
    boolean named = objective.measure().isFromSchedule() && clock.isNamed();
    boolean byPercentile = slo.rule() == Slo.Rule.PERCENTILES;
    String share = NumberText.plain(slo.percentile());
    return term.of(
            objective.measure().name()
                + (named ? " from schedule" : "")
                + (byPercentile ? " p" + share : "")
                + " < "
                + NumberText.plainMs(objective.limitNanos() / 1e6))
        + (byPercentile || byRequests ? "" : " with " + share + " % of the requests");
  }

  /**
   * {@code TTFT by 98.0 % of 50 requests, TPOT by 100 % of 48}: of the missed objectives if any.
   */
  private String byShares() {
    List<Term> missed = terms.stream().filter(term -> term.isMissedIn(level)).toList();
    List<String> shares = new ArrayList<>();
    String latestRemark = "";
    for (Term term : missed.isEmpty() ? terms : missed) {
      Goodput.Objective own = term.in(level);
      if (own != null) {
        String remark = holds ? term.tooFew(level).remark() : "";
        shares.add(
            "%s by %s of %s%s"
                .formatted(
                    term.of(term.objective.measure().name()),
                    NumberText.percent(own.share()),
                    shares.isEmpty()
                        ? NumberText.counted(own.attempted(), "request")
                        : NumberText.count(own.attempted()),
                    remark.isEmpty() || remark.equals(latestRemark) ? "" : " (" + remark + ")"));
        latestRemark = remark.isEmpty() ? latestRemark : remark;
      }
    }
    return String.join(", ", shares);
  }

  private String whyUnknown() {
    return Stream.concat(
            Stream.ofNullable(goodput.undefined()),
            goodput.objectives().stream()
                .map(Goodput.Objective::undefined)
                .filter(Objects::nonNull))
        .findFirst()
        .orElse("nothing was judged");
  }
}
