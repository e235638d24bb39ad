package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Sentence;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The two targets that deliver most, by their SLO where one meets it with confidence at a load at
 * which the other misses it with confidence, else by their output tok/s at one load.
 *
 * @param loads the levels of both at each common load, from the lightest
 * @param at position of the load that they are compared at
 */
record TargetRanking(LoadCurve first, LoadCurve second, List<Pair> loads, int at) {

  private static final int MAX_SCENARIOS = 3;

  /** Minimum number of common loads whose ratios show the noise between levels. */
  private static final int MIN_LOADS = 3;

  private record Pair(LevelFigures one, LevelFigures other) {

    double ratio() {
      return LoadCurve.delivered(one) / LoadCurve.delivered(other);
    }

    Pair swapped() {
      return new Pair(other, one);
    }
  }

  /** One sentence per scenario that several targets answered at one load; else none. */
  static List<Sentence> sentences(List<LoadCurve> curves) {
    Map<String, List<LoadCurve>> byScenario = new LinkedHashMap<>();
    for (LoadCurve curve : curves) {
      String scenario = Objects.requireNonNullElse(curve.scenario(), "");
      byScenario.computeIfAbsent(scenario, s -> new ArrayList<>()).add(curve);
    }
    List<Sentence> sentences = new ArrayList<>();
    byScenario.forEach(
        (scenario, own) -> {
          List<LoadCurve> answered =
              own.stream()
                  .filter(curve -> LoadCurve.delivered(curve.operatingLevel()) > 0)
                  .filter(curve -> !curve.hasMostlyFailed())
                  .sorted(
                      Comparator.comparingDouble(
                          (LoadCurve curve) -> -LoadCurve.delivered(curve.operatingLevel())))
                  .toList();
          TargetRanking ranking = answered.size() < 2 ? null : of(answered.get(0), answered.get(1));
          if (ranking != null && sentences.size() < MAX_SCENARIOS) {
            Sentence sentence = ranking.sentence();
            sentences.add(byScenario.size() > 1 ? sentence.at(scenario) : sentence);
          }
        });
    return sentences;
  }

  /** Null for curves without a common load. */
  private static @Nullable TargetRanking of(LoadCurve one, LoadCurve two) {
    List<Pair> loads =
        one.levels().stream()
            .flatMap(
                level ->
                    two.levels().stream()
                        .filter(other -> isSameLoad(level, other))
                        .limit(1)
                        .map(other -> new Pair(level, other)))
            .filter(
                pair -> LoadCurve.delivered(pair.one) > 0 && LoadCurve.delivered(pair.other) > 0)
            .toList();
    if (loads.isEmpty()) {
      return null;
    }
    int at =
        IntStream.range(0, loads.size())
            .filter(
                i ->
                    loads.get(i).one.equals(one.operatingLevel())
                        || loads.get(i).other.equals(two.operatingLevel()))
            .findFirst()
            .orElse(loads.size() - 1);
    TargetRanking ranking = new TargetRanking(one, two, loads, at);
    TargetRanking swapped =
        new TargetRanking(two, one, loads.stream().map(Pair::swapped).toList(), at);
    return swapped.isClearBySlo() || (!ranking.isClearBySlo() && ranking.ratio() < 1)
        ? swapped
        : ranking;
  }

  private static boolean isSameLoad(LevelFigures level, LevelFigures other) {
    return level.kind().equals(other.kind())
        && (level.offered() == null
            ? level.label().equals(other.label())
            : level.offered().equals(other.offered()));
  }

  private Pair pair() {
    return loads.get(at);
  }

  private double ratio() {
    return pair().ratio();
  }

  /**
   * Whether the 95 % interval of the ratio excludes 1: by the spread between repeats of both loads,
   * where there are some, on the scale of logarithms. Else its standard error is the larger of that
   * of the numbers of requests, √(1 ÷ n + 1 ÷ m), and that of the levels: with r the logarithms of
   * the ratios at all k common loads, √(Σ (r₂ − r₁)² ÷ 2 (k − 1)) over neighbours (von Neumann
   * 1941), and Student's t with k − 1 degrees of freedom.
   */
  private boolean isClear() {
    Spread ours = repeated(pair().one);
    Spread theirs = repeated(pair().other);
    return Math.abs(Math.log(ratio()))
        > (ours == null || theirs == null ? half() : ours.difference(theirs).half());
  }

  private static @Nullable Spread repeated(LevelFigures level) {
    return level
        .figures()
        .spread(each -> each.delivered() == null ? null : (Double) Math.log(each.delivered()));
  }

  private double half() {
    double half =
        Interval.halfOfLogRatio(
            pair().one.figures().counts().ok(), pair().other.figures().counts().ok());
    if (loads.size() >= MIN_LOADS) {
      double squares = 0;
      for (int i = 1; i < loads.size(); i++) {
        squares += Math.pow(Math.log(loads.get(i).ratio() / loads.get(i - 1).ratio()), 2);
      }
      int freedom = loads.size() - 1;
      half = Math.max(half, Math.sqrt(squares / (2.0 * freedom)) * Interval.t(freedom));
    }
    return half;
  }

  /**
   * Whether the second misses its SLO with confidence at the highest load at which the first meets
   * it.
   */
  private boolean isClearBySlo() {
    LevelFigures met = first.lastProven() < 0 ? null : first.proven();
    return loads.stream()
        .anyMatch(pair -> pair.one.equals(met) && second.missesWithConfidence(pair.other));
  }

  private Sentence sentence() {
    String one = first.target();
    String two = second.target();
    String load = pair().one.load();
    if (isClearBySlo()) {
      return Sentence.of("ranking.slo", one, first.proven().load(), two, load, figures());
    }
    if (!isClear()) {
      return Sentence.of("ranking.same", one, two, load, figures());
    }
    double tenths = Math.round(10 * ratio()) / 10.0;
    return ratio() >= 2
        ? Sentence.of("ranking.times", one, tenths, two, load, figures())
        : Sentence.of("ranking.more", one, Math.round(100 * (ratio() - 1)), two, load, figures());
  }

  private Sentence figures() {
    LevelFigures one = pair().one;
    Metric metric = (first.isClockNamed() ? first : second).headline(one.latency());
    Distribution its = one.figures().metric(metric);
    Distribution others = pair().other.figures().metric(metric);
    String tail = (its.count() <= others.count() ? its : others).tail();
    boolean isKnown = !its.isEmpty() && !others.isEmpty();
    return Sentence.of(
        "ranking.figures",
        LoadCurve.delivered(one),
        LoadCurve.delivered(pair().other),
        one.figures().deliveredUnit(),
        metric.title(),
        tail,
        isKnown ? its.percentile(tail) : null,
        isKnown ? others.percentile(tail) : null);
  }
}
