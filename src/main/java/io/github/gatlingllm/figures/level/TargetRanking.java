package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Figures.MaxGoodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentences;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The two targets that deliver most: in requests per second within the SLO where every target meets
 * it, else in output tokens per second at the operating points.
 */
record TargetRanking(LoadCurve first, LoadCurve second, boolean isInSlo) {

  private static final int MAX_SCENARIOS = 3;

  /** Targets that differ by less deliver about the same. */
  private static final double SAME = 0.03;

  private static final Sentences<TargetRanking> RANKING =
      new Sentences<TargetRanking>(
              Map.of(
                  "first", ranking -> ranking.first.target(),
                  "second", ranking -> ranking.second.target(),
                  "ratio", ranking -> NumberText.plain(Math.round(10 * ranking.ratio()) / 10.0),
                  "percent", ranking -> "" + Math.round(100 * (ranking.ratio() - 1)),
                  "figures", TargetRanking::figures))
          .row(
              "same",
              ranking -> ranking.ratio() <= 1 + SAME,
              "{first} and {second} deliver about the same: {figures}")
          .row(
              "twice",
              ranking -> ranking.ratio() >= 2,
              "{first} delivers {ratio}× as much as {second}: {figures}")
          .otherwise("more", "{first} delivers {percent} % more than {second}: {figures}");

  /** One sentence per scenario that several targets answered; none for a single target. */
  static List<String> sentences(List<LoadCurve> curves) {
    Map<String, List<LoadCurve>> byScenario = new LinkedHashMap<>();
    for (LoadCurve curve : curves) {
      String scenario = Objects.requireNonNullElse(curve.scenario(), "");
      byScenario.computeIfAbsent(scenario, s -> new ArrayList<>()).add(curve);
    }
    List<String> sentences = new ArrayList<>();
    byScenario.forEach(
        (scenario, own) -> {
          boolean answered = own.stream().filter(c -> value(c, false) > 0).count() > 1;
          if (answered && sentences.size() < MAX_SCENARIOS) {
            sentences.add((byScenario.size() > 1 ? scenario + ": " : "") + ranking(own));
          }
        });
    return sentences;
  }

  private static String ranking(List<LoadCurve> curves) {
    boolean isInSlo = curves.stream().allMatch(curve -> value(curve, true) > 0);
    Comparator<LoadCurve> order = Comparator.comparingDouble(curve -> value(curve, isInSlo));
    List<LoadCurve> ranked = curves.stream().sorted(order.reversed()).toList();
    return RANKING.of(new TargetRanking(ranked.get(0), ranked.get(1), isInSlo));
  }

  /** Requests/s within the SLO, or output tok/s at the operating point; 0 where unknown. */
  private static double value(LoadCurve curve, boolean isInSlo) {
    MaxGoodput max = curve.maxGoodput();
    Double value =
        isInSlo
            ? max == null ? null : max.requestsPerS()
            : curve.chosen().level().figures().delivered();
    return value == null ? 0 : value;
  }

  private double ratio() {
    return value(first, isInSlo) / value(second, isInSlo);
  }

  private String figures() {
    return "%s against %s %s%s."
        .formatted(
            NumberText.number(value(first, isInSlo)),
            NumberText.number(value(second, isInSlo)),
            isInSlo ? "requests/s within the SLO" : "tok/s",
            latencies());
  }

  private String latencies() {
    LevelFigures one = first.chosen().level();
    Metric metric = VerdictSentence.latency(one).fromSchedule();
    Double its = one.figures().metric(metric).p99();
    Double others = second.chosen().level().figures().metric(metric).p99();
    return its == null || others == null
        ? ""
        : ", %s p99 %s against %s"
            .formatted(
                first.clock().name(VerdictSentence.latency(one)),
                NumberText.ms(its),
                NumberText.ms(others));
  }
}
