package io.github.gatlingllm.figures.level;

import static java.util.stream.Collectors.collectingAndThen;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.github.gatlingllm.figures.level.Summary.Knee;
import io.github.gatlingllm.figures.level.Summary.OperatingPoint;
import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.level.Summary.TierSummary;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.Figures.GoodputResult;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.Slo;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The load levels of one target and scenario in order of offered load, else of time; without those
 * in which other classes of traffic had no load.
 *
 * @param tier the tier whose SLO it is; null without tiers
 */
@JsonPropertyOrder({"target", "scenario", "stages", "knee", "max_goodput", "operating_point"})
public record LoadCurve(
    @JsonIgnore @Nullable String tier,
    @JsonIgnore List<SloTally.OwnedSlo> slo,
    @JsonIgnore @Nullable SingleStream alone,
    @JsonIgnore List<LevelFigures> levels) {

  private static final double NEARLY_MAX = 0.9;

  /** Times from schedule ÷ from admission up to which they count as the same. */
  private static final double SAME_CLOCK = 1.01;

  /** Largest load of the knee ÷ highest load: a curve is flat from the knee on. */
  private static final double FLAT_FROM = 0.5;

  /** Where more load brings hardly more output. */
  private static final Set<Choice> FLAT = Set.of(Choice.KNEE, Choice.SATURATED);

  /** With two levels the heavier one delivers less than this much more, by its interval. */
  private static final double MAX_GAIN = 1.1;

  public LoadCurve {
    List<LevelFigures> all = levels;
    List<LevelFigures> used =
        all.stream()
            .filter(s -> s.wasTried() && !isReplaced(s, all) && !LevelInfo.isAlone(s.label()))
            .toList();
    levels = inOrder(used.isEmpty() ? List.copyOf(all) : used);
  }

  /** In order of load if each level has one, else as they are. */
  static List<LevelFigures> inOrder(List<LevelFigures> levels) {
    return levels.stream().anyMatch(s -> s.offered() == null)
        ? levels
        : levels.stream().sorted(Comparator.comparingDouble(LoadCurve::offered)).toList();
  }

  /** Those of each target and scenario {@link #inOrder}: a search tries them in another one. */
  static List<LevelFigures> byLoad(List<LevelFigures> levels) {
    Map<LevelInfo.Key, Iterator<LevelFigures>> curves =
        levels.stream()
            .collect(
                groupingBy(
                    level -> Windows.track(level.info()),
                    collectingAndThen(toList(), all -> inOrder(all).iterator())));
    return levels.stream().map(level -> curves.get(Windows.track(level.info())).next()).toList();
  }

  private static boolean isReplaced(LevelFigures stage, List<LevelFigures> stages) {
    String again = stage.label() + LevelInfo.AGAIN;
    return stages.stream()
        .anyMatch(s -> s.label().equals(again) && s.figures().counts().started() > 0);
  }

  private static double offered(LevelFigures stage) {
    return Objects.requireNonNullElse(stage.offered(), 0.0);
  }

  @JsonProperty
  public String target() {
    return levels.get(0).target();
  }

  /** The scenario of all its levels; null where scenarios have no separate levels. */
  @JsonProperty
  public @Nullable String scenario() {
    return levels.get(0).scenario();
  }

  /** The labels of its levels. */
  @JsonProperty
  public List<String> stages() {
    return levels.stream().map(LevelFigures::label).toList();
  }

  /**
   * The single-stream peak of a sweep without a level of one request; none for others, and where
   * less is offered than one stream takes.
   */
  List<Sentence> gainOfOneStream() {
    LevelFigures quoted = operatingLevel();
    Double gain = quoted.figures().number(Metric.BATCHING_GAIN);
    boolean isSweepOfMany =
        levels.size() > 1 && levels.stream().noneMatch(LevelFigures::isOneRequest);
    boolean isAtKnee = quoted.isClosedLoop() && FLAT.contains(choice());
    return alone == null || gain == null || !isSweepOfMany || !(gain > 1 || isAtKnee)
        ? List.of()
        : List.of(
            Sentence.of(
                "verdict.gain", NumberText.with(alone.tokensPerS(), "tok/s"), gain, quoted.load()));
  }

  /**
   * Whether the clock of headlines and of the knee starts at the planned arrival, and is named: so
   * where that can differ from admission. Elsewhere it starts at admission, so that a figure is the
   * same under its name everywhere. The clock of the SLO always starts at the planned arrival.
   */
  boolean isClockNamed() {
    return isClockNamed(levels);
  }

  static boolean isClockNamed(List<LevelFigures> levels) {
    return levels.stream()
        .anyMatch(s -> s.arrivals() != null || differsFromSchedule(s.figures()::metric));
  }

  /** The variant of a metric in a headline: from schedule where headlines name the clock. */
  Metric headline(Metric metric) {
    return isClockNamed() ? metric.fromSchedule() : metric;
  }

  /** Whether the two clocks differ by more than 1 %, at the median or at p99. */
  static boolean differsFromSchedule(Function<Metric, Distribution> figures) {
    return Stream.of(Metric.TTFT_MS, Metric.E2E_MS)
        .anyMatch(
            metric -> {
              Distribution admitted = figures.apply(metric);
              Distribution scheduled = figures.apply(metric.fromSchedule());
              return isLater(admitted.p50(), scheduled.p50())
                  || isLater(admitted.p99(), scheduled.p99());
            });
  }

  static boolean isLater(@Nullable Double admitted, @Nullable Double scheduled) {
    return admitted != null && scheduled != null && scheduled > admitted * SAME_CLOCK;
  }

  /** The levels that do not shed their load: only these can be a knee. */
  private List<LevelFigures> accepted() {
    return levels.stream().filter(level -> !level.sheds()).toList();
  }

  /** The lightest level with nearly the highest output tok/s; null when none delivered any. */
  @JsonProperty
  public @Nullable Knee knee() {
    List<LevelFigures> accepted = accepted();
    double max = accepted.stream().mapToDouble(LoadCurve::delivered).max().orElse(0);
    LevelFigures knee =
        accepted.stream().filter(s -> delivered(s) >= NEARLY_MAX * max).findFirst().orElse(null);
    if (knee == null || max == 0) {
      return null;
    }
    double highest = load(accepted.get(accepted.size() - 1));
    boolean isFlat = highest > 0 && load(knee) <= FLAT_FROM * highest;
    boolean isFirst = knee.equals(accepted.get(0));
    return new Knee(
        isFlat && !isFirst,
        knee.label(),
        knee.target(),
        knee.scenario(),
        knee.offered(),
        knee.figures().number(Metric.OUTPUT_TOKENS_PER_S),
        knee.figures().metric(headline(Metric.E2E_MS)).p50(),
        isFlat && isFirst && (accepted.size() > 2 || isGainSmall(accepted)));
  }

  static double delivered(LevelFigures stage) {
    return Objects.requireNonNullElse(stage.figures().delivered(), 0.0);
  }

  /** Whether the heavier of two levels adds little with confidence, by the numbers of requests. */
  private static boolean isGainSmall(List<LevelFigures> of) {
    LevelFigures first = of.get(0);
    LevelFigures last = of.get(of.size() - 1);
    double half =
        Interval.halfOfLogRatio(first.figures().counts().ok(), last.figures().counts().ok());
    return delivered(last) / delivered(first) * Math.exp(half) < MAX_GAIN;
  }

  /** The realised load: by chance two rates may get the same number of arrivals. */
  private static double load(LevelFigures stage) {
    Double arrived = stage.arrivedPerS();
    return stage.kind().equals(LevelInfo.OPEN_LOOP) && arrived != null ? arrived : offered(stage);
  }

  private enum SloProof {
    MET,
    UNDECIDED,
    MISSED
  }

  /** The 95 % confidence interval of a share that met, and what is required of it. */
  private record RequiredShare(Interval interval, double required) {

    private static final double ROUNDING = 1e-9;

    SloProof proof() {
      return interval.low() >= required - ROUNDING
          ? SloProof.MET
          : interval.high() < required - ROUNDING ? SloProof.MISSED : SloProof.UNDECIDED;
    }
  }

  private SloProof proof(LevelFigures level) {
    Goodput goodput = level.figures().goodput();
    if (!level.isServed()) {
      return SloProof.MISSED;
    }
    return goodput == null || goodput.holds() == null
        ? SloProof.UNDECIDED
        : shares(goodput)
            .map(RequiredShare::proof)
            .max(Comparator.naturalOrder())
            .orElse(SloProof.UNDECIDED);
  }

  private Stream<RequiredShare> shares(Goodput goodput) {
    return slo.stream()
        .flatMap(
            of -> {
              double required = of.slo.percentile() / 100;
              Stream<Interval> intervals =
                  of.slo.rule() == Slo.Rule.REQUESTS
                      ? Stream.ofNullable(goodput.interval())
                      : of.slo.objectives().stream()
                          .map(objective -> goodput.interval(of.owner + objective))
                          .filter(Objects::nonNull);
              return intervals.map(interval -> new RequiredShare(interval, required));
            });
  }

  /** The reasons for which headlines quote a level, in order of preference. */
  enum Choice {
    ONLY,
    IN_SLO,
    MAYBE_IN_SLO,
    KNEE,
    SATURATED,
    KEEPS_UP,
    ACCEPTED,
    HIGHEST,
    NONE_ACCEPTED,
    NONE_KEEPS_UP;

    String why(boolean isCertain, @Nullable Sentence outside) {
      return Sentence.text("chosen", name().toLowerCase(Locale.ROOT), isCertain, outside);
    }
  }

  private record Chosen(LevelFigures level, Choice by) {}

  /** The level that headlines quote. */
  public LevelFigures operatingLevel() {
    return chosen().level;
  }

  /** The level that headlines quote, with the reason: {@code c=16, the knee}. */
  public String quoted() {
    OperatingPoint point = operatingPoint();
    return levels.size() == 1 ? point.stage() : point.stage() + ", " + point.why();
  }

  Choice choice() {
    return chosen().by;
  }

  private Chosen chosen() {
    int proven = lastProven();
    int holding = lastHolding();
    Knee knee = knee();
    if (levels.size() == 1) {
      return new Chosen(levels.get(0), Choice.ONLY);
    }
    if (proven >= 0) {
      return new Chosen(levels.get(proven), Choice.IN_SLO);
    }
    if (holding >= 0) {
      return new Chosen(levels.get(holding), Choice.MAYBE_IN_SLO);
    }
    if (knee != null && (knee.reached() || knee.saturatedFromFirst())) {
      LevelFigures level =
          levels.stream().filter(s -> s.label().equals(knee.stage())).findFirst().orElseThrow();
      if (level.isServed()) {
        return new Chosen(level, knee.reached() ? Choice.KNEE : Choice.SATURATED);
      }
    }
    List<LevelFigures> served = levels.stream().filter(LevelFigures::isServed).toList();
    boolean isShed = levels.stream().anyMatch(LevelFigures::sheds);
    if (served.isEmpty()) {
      return new Chosen(levels.get(0), isShed ? Choice.NONE_ACCEPTED : Choice.NONE_KEEPS_UP);
    }
    boolean isAll = served.size() == levels.size();
    return new Chosen(
        served.get(served.size() - 1),
        isAll ? Choice.HIGHEST : isShed ? Choice.ACCEPTED : Choice.KEEPS_UP);
  }

  long failed() {
    return levels.stream().mapToLong(level -> level.figures().counts().failed()).sum();
  }

  long ended() {
    return levels.stream().mapToLong(level -> level.figures().counts().ended()).sum();
  }

  /** Whether most requests failed: what the others show shows little of the target. */
  boolean hasMostlyFailed() {
    return 2 * failed() > ended();
  }

  @JsonProperty
  public OperatingPoint operatingPoint() {
    Chosen chosen = chosen();
    boolean isOutside = !slo.isEmpty() && chosen.by.compareTo(Choice.MAYBE_IN_SLO) > 0;
    boolean isMetAbove = levels.stream().anyMatch(this::holds);
    Sentence outside =
        isOutside
            ? Sentence.of(isMetAbove ? "chosen.lightest_misses" : "chosen.none_in_slo")
            : null;
    LevelFigures level = chosen.level;
    return new OperatingPoint(
        level.label(),
        level.target(),
        level.scenario(),
        chosen.by.why(lastHolding() > lastProven(), outside));
  }

  /** Whether a level meets the SLO and would continue to: a growing queue exceeds it in time. */
  boolean holds(LevelFigures stage) {
    return isMet(stage) && stage.isServed();
  }

  boolean isMet(LevelFigures stage) {
    Goodput goodput = stage.figures().goodput();
    return goodput != null && Boolean.TRUE.equals(goodput.holds());
  }

  /** Position of the highest level that meets the SLO, within noise; −1 for none. */
  int lastHolding() {
    int last = lastProven();
    while (last + 1 < levels.size() && holds(levels.get(last + 1))) {
      last++;
    }
    return last;
  }

  /**
   * The highest level up to which the SLO is met with confidence, or missed within noise; −1 for
   * none.
   */
  int lastProven() {
    int last = -1;
    for (int i = 0; i < levels.size() && proof(i) != SloProof.MISSED; i++) {
      last = proof(i) == SloProof.MET ? i : last;
    }
    return last;
  }

  LevelFigures proven() {
    return levels.get(lastProven());
  }

  /** The levels above {@link #lastHolding} and below {@link #missing} that miss within noise. */
  List<LevelFigures> undecided() {
    LevelFigures missing = missing();
    return above()
        .takeWhile(i -> proof(i) == SloProof.UNDECIDED && !levels.get(i).equals(missing))
        .mapToObj(levels::get)
        .toList();
  }

  /** The lightest level above {@link #lastHolding} that misses by the rule of a search, if any. */
  @Nullable LevelFigures missing() {
    return above()
        .mapToObj(levels::get)
        .filter(level -> missesWithConfidence(level) || missesIfIndependent(level))
        .findFirst()
        .orElse(null);
  }

  private IntStream above() {
    return IntStream.range(lastHolding() + 1, levels.size());
  }

  private SloProof proof(int level) {
    return proof(levels.get(level));
  }

  /** Whether a level misses the SLO with confidence. */
  boolean missesWithConfidence(LevelFigures level) {
    return proof(level) == SloProof.MISSED;
  }

  /** Whether it misses by the rule of a search, which takes requests as independent. */
  private boolean missesIfIndependent(LevelFigures level) {
    Goodput goodput = level.figures().goodput();
    return goodput != null
        && goodput.holds() != null
        && shares(goodput.asIndependent()).anyMatch(share -> share.proof() == SloProof.MISSED);
  }

  /**
   * The interval of the share furthest below what is required of it, where that leaves open whether
   * a level meets the SLO; else null.
   */
  @Nullable Interval noise(LevelFigures level) {
    Goodput goodput = level.figures().goodput();
    return goodput == null || proof(level) != SloProof.UNDECIDED
        ? null
        : shares(goodput)
            .min(Comparator.comparingDouble(share -> share.interval.high() - share.required))
            .map(RequiredShare::interval)
            .orElse(null);
  }

  @JsonProperty
  public @Nullable GoodputResult maxGoodput() {
    int at = lastHolding();
    if (at < 0) {
      return null;
    }
    LevelFigures stage = levels.get(at);
    return new GoodputResult(
        stage.label(),
        stage.target(),
        stage.scenario(),
        stage.offered(),
        Objects.requireNonNull(stage.figures().goodput()).requestsPerS(),
        stage.figures().number(Metric.OUTPUT_TOKENS_PER_S));
  }

  /** How this curve holds its SLO, which is that of a tier. */
  TierSummary ofTier(SloTable table, String place) {
    int holding = lastHolding();
    LevelFigures missing = missing();
    Map<String, Goodput> goodput = new LinkedHashMap<>();
    levels.forEach(level -> goodput.put(level.label(), level.figures().goodput()));
    SloProof outcome = proof(Math.max(0, holding));
    return new TierSummary(
        Objects.requireNonNull(tier),
        target(),
        scenario(),
        table,
        maxGoodput(),
        outcome.name().toLowerCase(Locale.ROOT),
        missing == null ? null : missing.label(),
        VerdictSentence.ofTier(this).at(place),
        operatingPoint(),
        goodput);
  }

  /** The highest load that meets the SLO, of the curve with most requests/s within the SLO. */
  static @Nullable GoodputResult bestGoodput(List<LoadCurve> curves) {
    return curves.stream()
        .map(LoadCurve::maxGoodput)
        .filter(Objects::nonNull)
        .max(Comparator.comparingDouble(max -> Objects.requireNonNullElse(max.requestsPerS(), 0.0)))
        .orElse(null);
  }

  static @Nullable Knee bestKnee(List<LoadCurve> curves) {
    return curves.stream()
        .map(LoadCurve::knee)
        .filter(Objects::nonNull)
        .max(
            Comparator.comparingDouble(
                knee -> Objects.requireNonNullElse(knee.outputTokensPerS(), 0.0)))
        .orElse(null);
  }
}
