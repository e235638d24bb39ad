package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Figures.MaxGoodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Says which target delivers more in the same scenario, and by how much: in requests per second
 * within the SLO where every target meets it, else in output tokens per second at the operating
 * points.
 */
final class TargetRanking {

  /** Targets that differ by less deliver about the same. */
  private static final double SAME = 0.03;

  private static final int MAX_SCENARIOS = 3;

  private TargetRanking() {}

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
          boolean answered = own.stream().filter(c -> value(tokens(c)) > 0).count() > 1;
          if (answered && sentences.size() < MAX_SCENARIOS) {
            sentences.add((byScenario.size() > 1 ? scenario + ": " : "") + sentence(own));
          }
        });
    return sentences;
  }

  private static String sentence(List<LoadCurve> curves) {
    boolean inSlo = curves.stream().allMatch(curve -> value(goodput(curve)) > 0);
    Comparator<LoadCurve> order =
        Comparator.comparingDouble(curve -> inSlo ? value(goodput(curve)) : value(tokens(curve)));
    List<LoadCurve> ranked = curves.stream().sorted(order.reversed()).toList();
    LoadCurve first = ranked.get(0);
    LoadCurve second = ranked.get(1);
    double most = inSlo ? value(goodput(first)) : value(tokens(first));
    double next = inSlo ? value(goodput(second)) : value(tokens(second));
    String unit = inSlo ? "requests/s within the SLO" : "tok/s";
    String figures =
        "%s against %s %s".formatted(NumberText.number(most), NumberText.number(next), unit);
    return (most <= next * (1 + SAME)
            ? "%s and %s deliver about the same: ".formatted(first.target(), second.target())
            : "%s delivers %s %s: ".formatted(first.target(), more(most, next), second.target()))
        + figures
        + latency(first, second)
        + ".";
  }

  private static String more(double most, double next) {
    return most >= 2 * next
        ? NumberText.plain(Math.round(10 * most / next) / 10.0) + "× as much as"
        : Math.round(100 * (most / next - 1)) + " % more than";
  }

  /** The p99 of the latency at both operating points. */
  private static String latency(LoadCurve first, LoadCurve second) {
    LevelFigures one = first.chosen().level();
    LevelFigures other = second.chosen().level();
    Metric metric = VerdictSentence.latency(one);
    Double its = one.figures().metric(metric.fromSchedule()).p99();
    Double others = other.figures().metric(metric.fromSchedule()).p99();
    return its == null || others == null
        ? ""
        : ", %s p99 %s against %s"
            .formatted(first.clock().name(metric), NumberText.ms(its), NumberText.ms(others));
  }

  private static @Nullable Double goodput(LoadCurve curve) {
    MaxGoodput max = curve.maxGoodput();
    return max == null ? null : max.requestsPerS();
  }

  private static @Nullable Double tokens(LoadCurve curve) {
    return curve.chosen().level().figures().delivered();
  }

  private static double value(@Nullable Double figure) {
    return figure == null ? 0 : figure;
  }
}
