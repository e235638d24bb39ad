package io.github.gatlingllm.figures.check;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.Summary.Knee;
import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.Slo;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.apache.commons.statistics.distribution.BinomialDistribution;
import org.jspecify.annotations.Nullable;

/** Checks of the load plan: its windows, its levels, what it sent, how it ended. */
final class PlanChecks {

  /** Values that a p99 needs, so that 10 are beyond it. */
  private static final int ENOUGH_VALUES = 1_000;

  private PlanChecks() {}

  static Finding windows(CheckInput in) {
    long unplanned = in.levels().stream().filter(level -> !level.isPlanned()).count();
    long injected = in.levels().stream().filter(LevelFigures::isInjected).count();
    boolean isPlanned = injected == 0 || injected < in.levels().size();
    return Finding.of((double) unplanned, "windows.found", unplanned, injected, isPlanned)
        .warnsIf(unplanned > 0);
  }

  /** The level that headlines quote; if there are several, the one with the fewest values. */
  static @Nullable Finding lowN(CheckInput in) {
    LevelFigures level =
        in.summary().curves().stream()
            .map(LoadCurve::operatingLevel)
            .min(Comparator.comparingLong(PlanChecks::quotedValues))
            .orElse(null);
    if (level == null || in.figures().metric(Metric.E2E_MS).isEmpty()) {
      return null;
    }
    long values = quotedValues(level);
    Finding found = Finding.at(level, (double) values, "low_n.found", values);
    int repeats = Math.max(1, level.figures().repeats().size());
    Double windowS = level.figures().windowS();
    return windowS == null || values == 0 || !level.hasDuration()
        ? found
        : found.remedy(
            "low_n.remedy",
            Math.ceil(windowS / repeats * ENOUGH_VALUES / values),
            in.summary().slo() != null);
  }

  private static long quotedValues(LevelFigures level) {
    return level.figures().metric(level.latency().fromSchedule()).count();
  }

  /** At the load levels that headlines quote; of several, where most requests are missing. */
  static @Nullable Finding earlyStopping(CheckInput in) {
    SloTable slo = in.summary().slo();
    if (slo == null || !slo.hasOnePercentile() || slo.percentile() >= 100) {
      return null;
    }
    return in.summary().curves().stream()
        .map(LoadCurve::operatingLevel)
        .flatMap(level -> EarlyStopping.all(level, slo))
        .filter(each -> each.judged > 0)
        .max(Comparator.comparing(EarlyStopping::ratio))
        .map(each -> each.finding(slo.percentile()))
        .orElse(null);
  }

  /**
   * How many requests the verdict on an SLO needs, by the early stopping of MLPerf's LoadGen with a
   * tolerance of 0: with fewer, so few misses would be no surprise if the SLO were just missed. The
   * requests are taken as independent.
   *
   * @param judged requests that met or missed
   * @param share of all requests that have to meet, above 0 and below 1
   * @see <a href="https://github.com/mlcommons/inference/blob/master/loadgen/early_stopping.cc">
   *     early_stopping.cc</a>
   */
  private record EarlyStopping(String level, long judged, long missed, double share) {

    private static final double DOUBT = 0.01;

    private static final int MAX_REQUESTS = 1 << 30;

    static Stream<EarlyStopping> all(LevelFigures level, SloTable slo) {
      Goodput goodput = level.figures().goodput();
      double share = slo.percentile() / 100;
      if (goodput == null || goodput.share() == null) {
        return Stream.of();
      }
      return slo.rule() == Slo.Rule.REQUESTS
          ? Stream.of(of(level, goodput.attempted(), goodput.met(), share))
          : goodput.objectives().stream().map(of -> of(level, of.attempted(), of.met(), share));
    }

    private static EarlyStopping of(LevelFigures level, long judged, long met, double share) {
      return new EarlyStopping(level.place(), judged, judged - met, share);
    }

    private Finding finding(double percent) {
      long needed = needed();
      boolean isMissed = isMissProven();
      return Finding.of(
              ratio(),
              "early_stopping.found",
              isMissed,
              needed <= judged,
              missed,
              judged,
              percent,
              needed,
              needed - judged)
          .at(level);
    }

    private double ratio() {
      return isMissProven() ? 1 : (double) needed() / judged;
    }

    /** The fewest requests among which so few misses prove that the SLO is met. */
    private long needed() {
      int low = (int) Math.min(missed, MAX_REQUESTS);
      int high = Math.max(1, low);
      while (high < MAX_REQUESTS && !isEnough(high)) {
        low = high;
        high *= 2;
      }
      while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (isEnough(middle)) {
          high = middle;
        } else {
          low = middle;
        }
      }
      return high;
    }

    private boolean isEnough(int requests) {
      return chance(requests, missed) <= DOUBT;
    }

    /** Whether this number of misses, or more, would be as unlikely if the SLO were just met. */
    private boolean isMissProven() {
      return missed > 0 && 1 - chance(judged, missed - 1) <= DOUBT;
    }

    /**
     * The chance of at most this number of misses if the SLO were just met: I(share; n − t, t + 1).
     */
    private double chance(long requests, long misses) {
      return BinomialDistribution.of((int) Math.min(requests, MAX_REQUESTS), 1 - share)
          .cumulativeProbability((int) Math.min(misses, MAX_REQUESTS));
    }
  }

  static @Nullable Finding knee(CheckInput in) {
    List<LoadCurve> curves = in.summary().curves();
    if (curves.stream().allMatch(curve -> curve.stages().size() < 3)) {
      return null;
    }
    long open = curves.stream().map(LoadCurve::knee).filter(k -> k == null || !k.reached()).count();
    if (curves.stream().anyMatch(c -> c.knee() != null && c.knee().saturatedFromFirst())) {
      return Finding.of((double) open, "knee.flat").remedy("knee.flat.remedy");
    }
    if (open > 0 && in.levels().stream().anyMatch(LevelFigures::sheds)) {
      return Finding.of((double) open, "knee.sheds").remedy("knee.sheds.remedy");
    }
    return open == 0 ? Finding.of(0.0, "knee.found") : open(in, (double) open);
  }

  /** Of the first curve without a knee, by the levels in the order of their load. */
  private static Finding open(CheckInput in, double open) {
    LoadCurve curve =
        in.summary().curves().stream()
            .filter(of -> of.knee() == null || !of.knee().reached())
            .findFirst()
            .orElseThrow();
    List<String> labels = curve.stages();
    String highest = labels.get(labels.size() - 1);
    Knee knee = curve.knee();
    boolean stillGrows = knee == null || knee.stage().equals(highest);
    return Finding.of(open, "knee.open", highest, stillGrows ? null : knee.stage());
  }

  static Stream<Finding> conclusions(CheckInput in, String topic, String id) {
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
                        id,
                        several ? List.of(found.target(), "" + found.scenario()) : null,
                        found.text())
                    .threshold(found.threshold())
                    .level(level(found)));
  }

  /** Only consecutive errors give a stopped level a figure; they make it invalid. */
  private static CheckLevel level(Conclusion found) {
    boolean isServerDown = found.topic().equals("stopped early") && found.value() != null;
    return found.sound() ? CheckLevel.OK : isServerDown ? CheckLevel.INVALID : CheckLevel.WARNING;
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
    Map<Object, Long> unfinished = new LinkedHashMap<>();
    Map<Object, Long> known = new LinkedHashMap<>();
    if (missing > 0) {
      for (InjectorRun injector : injectors) {
        if (!injector.isComplete() && injector.missing() != null) {
          unfinished.put(
              Sentence.of("all_accounted.unfinished", injector.name()), injector.missing());
        }
      }
      known.put(
          Sentence.of(
              isStopped
                  ? "all_accounted.interrupted"
                  : hasLimit ? "all_accounted.over" : "all_accounted.stopped"),
          injectors.isEmpty() ? cut : 0);
      known.put(Sentence.of("all_accounted.lost"), in.lost());
      known.putAll(in.info().outcome().notSent());
    }
    List<Sentence> reasons =
        Stream.of(unfinished, known)
            .flatMap(some -> some.entrySet().stream())
            .filter(reason -> reason.getValue() > 0)
            .map(reason -> Sentence.of("all_accounted.reason", reason.getKey(), reason.getValue()))
            .toList();
    long named =
        known.entrySet().stream()
            .filter(reason -> !reason.getKey().toString().endsWith(RunInfo.NOT_BUILT))
            .mapToLong(reason -> Math.max(0, reason.getValue()))
            .sum();
    long records = in.run().file().records();
    long unrecorded =
        started == null ? 0 : Math.max(records - started, started - records - in.lost());
    return Finding.of(
        (double) (Math.max(0, missing - named) + extra + Math.max(0, unrecorded)),
        "all_accounted.found",
        isPlanKnown,
        planned,
        in.figures().counts().planned() == null ? "first requests" : "requests",
        planned - missing,
        in.figures().counts().of(RequestStatus.NOT_BUILT),
        missing,
        extra,
        reasons,
        started,
        records);
  }

  private static long sum(CheckInput in, ToLongFunction<LevelFigures> requests) {
    return in.levels().stream().mapToLong(requests).sum();
  }

  static @Nullable Finding sameModel(CheckInput in) {
    var models = in.run().models();
    if (models.size() < 2) {
      return null;
    }
    boolean hasOneTokenizer = in.info().hasOneTokenizer();
    boolean isSame =
        models.stream().distinct().count() == 1 && !models.get(0).contains("") && hasOneTokenizer;
    return Finding.of(null, "same_model.found", isSame, hasOneTokenizer).warnsIf(!isSame);
  }
}
