package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Summary.Knee;
import io.github.gatlingllm.figures.level.Summary.OperatingPoint;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.Figures.MaxGoodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The load levels of one target and scenario with their SLO, in order of offered load; in order of
 * time where a level has no single offered load.
 */
final class LoadCurve {

  private static final double NEARLY_MOST = 0.9;
  private static final double FLAT = 0.1;
  private static final double STEP = 1.25;
  private static final double ROUNDING = 1e-9;

  private final List<SloTally.Objectives> slo;
  private final List<LevelFigures> levels;

  LoadCurve(List<SloTally.Objectives> slo, List<LevelFigures> stages) {
    this.slo = slo;
    List<LevelFigures> used =
        stages.stream()
            .filter(s -> s.figures().counts().started() > 0 && !isReplaced(s, stages))
            .toList();
    List<LevelFigures> kept = used.isEmpty() ? List.copyOf(stages) : used;
    boolean ordered = kept.stream().allMatch(s -> s.offered() != null);
    levels =
        ordered
            ? kept.stream().sorted(Comparator.comparingDouble(LoadCurve::offered)).toList()
            : kept;
  }

  private static boolean isReplaced(LevelFigures stage, List<LevelFigures> stages) {
    String again = stage.label() + LevelInfo.AGAIN;
    return stages.stream()
        .anyMatch(s -> s.label().equals(again) && s.figures().counts().started() > 0);
  }

  private static double offered(LevelFigures stage) {
    Double offered = stage.offered();
    return offered == null ? 0 : offered;
  }

  String target() {
    return levels.get(0).target();
  }

  /** The scenario of all its levels; null where scenarios are not told apart. */
  @Nullable String scenario() {
    return levels.get(0).scenario();
  }

  List<SloTally.Objectives> slo() {
    return slo;
  }

  List<LevelFigures> levels() {
    return levels;
  }

  LatencyOrigin clock() {
    return LatencyOrigin.of(levels);
  }

  /**
   * The lightest level that delivers at least {@value #NEARLY_MOST} of the highest output tok/s.
   * Null when no level delivered anything.
   */
  @Nullable Knee knee() {
    double most = levels.stream().mapToDouble(LoadCurve::tokens).max().orElse(0);
    LevelFigures knee =
        levels.stream().filter(s -> tokens(s) >= NEARLY_MOST * most).findFirst().orElse(null);
    if (knee == null || most == 0) {
      return null;
    }
    boolean flat = flattens();
    boolean isFirst = knee.equals(levels.get(0));
    return new Knee(
        flat && !isFirst,
        knee.label(),
        knee.target(),
        knee.scenario(),
        knee.offered(),
        knee.figures().number(Metric.OUTPUT_TOKENS_PER_S),
        knee.figures().metric(Metric.E2E_FROM_SCHEDULE_MS).p50(),
        flat && isFirst);
  }

  private static double tokens(LevelFigures stage) {
    Double tokens = stage.figures().delivered();
    return tokens == null ? 0 : tokens;
  }

  /**
   * Whether the last step up adds less than {@value #FLAT} of output. The step starts at the
   * heaviest level with at most 1 ÷ {@value #STEP} of the load of the last level: a step of 5 %
   * cannot add 10 %.
   */
  private boolean flattens() {
    LevelFigures last = levels.get(levels.size() - 1);
    return levels.subList(0, levels.size() - 1).stream()
        .filter(s -> s.offered() == null || load(s) * STEP <= load(last))
        .reduce((lighter, heavier) -> heavier)
        .filter(before -> tokens(last) < (1 + FLAT) * tokens(before) - ROUNDING)
        .isPresent();
  }

  /** The realised load: by chance two rates may get the same number of arrivals. */
  private static double load(LevelFigures stage) {
    Double arrived = stage.arrivedPerS();
    return stage.kind().equals(LevelInfo.OPEN_LOOP) && arrived != null ? arrived : offered(stage);
  }

  /** The reasons for which headlines quote a level, in order of preference. */
  enum Choice {
    ONLY("the only load level", null),
    IN_SLO("the highest load within the SLO", null),
    KNEE("the knee", null),
    SATURATED("the lightest load", "it saturates the server"),
    KEEPS_UP("the highest load that the server keeps up with", null),
    HIGHEST("the highest load", "no knee was reached"),
    NONE_KEEPS_UP("the lightest load", "the server keeps up with none");

    private final String text;
    private final @Nullable String reason;

    Choice(String text, @Nullable String reason) {
      this.text = text;
      this.reason = reason;
    }
  }

  record Chosen(LevelFigures level, Choice by) {}

  /**
   * The level that headlines quote: the highest level within the SLO, else the knee; where that is
   * not reached, or the server does not keep up with it, the highest level that it keeps up with.
   */
  Chosen chosen() {
    int holding = lastHolding();
    Knee knee = knee();
    if (levels.size() == 1) {
      return new Chosen(levels.get(0), Choice.ONLY);
    }
    if (holding >= 0) {
      return new Chosen(levels.get(holding), Choice.IN_SLO);
    }
    if (knee != null && (knee.reached() || knee.saturatedFromFirst())) {
      LevelFigures level =
          levels.stream().filter(s -> s.label().equals(knee.stage())).findFirst().orElseThrow();
      if (!level.fallsBehind()) {
        return new Chosen(level, knee.reached() ? Choice.KNEE : Choice.SATURATED);
      }
    }
    List<LevelFigures> keptUp = levels.stream().filter(s -> !s.fallsBehind()).toList();
    return keptUp.isEmpty()
        ? new Chosen(levels.get(0), Choice.NONE_KEEPS_UP)
        : new Chosen(
            keptUp.get(keptUp.size() - 1),
            keptUp.size() == levels.size() ? Choice.HIGHEST : Choice.KEEPS_UP);
  }

  OperatingPoint operatingPoint() {
    Chosen chosen = chosen();
    boolean outside = !slo.isEmpty() && chosen.by.compareTo(Choice.IN_SLO) > 0;
    String reasons =
        Stream.of(outside ? "no level is within the SLO" : null, chosen.by.reason)
            .filter(Objects::nonNull)
            .collect(Collectors.joining(" and "));
    LevelFigures level = chosen.level;
    return new OperatingPoint(
        level.label(),
        level.target(),
        level.scenario(),
        chosen.by.text + (reasons.isEmpty() ? "" : ", as " + reasons));
  }

  /**
   * Whether a level meets the SLO by its rule and would continue to. False where the server does
   * not keep up, as its queue would exceed the SLO after some more time, and where it cannot be
   * decided.
   */
  boolean holds(LevelFigures stage) {
    return isMet(stage) && !stage.fallsBehind();
  }

  boolean isMet(LevelFigures stage) {
    Goodput goodput = stage.figures().goodput();
    return goodput != null && Boolean.TRUE.equals(goodput.holds());
  }

  /** Position of the highest level that {@linkplain #holds holds} the SLO; −1 when none does. */
  int lastHolding() {
    return IntStream.range(0, levels.size()).filter(i -> holds(levels.get(i))).max().orElse(-1);
  }

  @Nullable MaxGoodput maxGoodput() {
    int at = lastHolding();
    if (at < 0) {
      return null;
    }
    LevelFigures stage = levels.get(at);
    Goodput goodput = stage.figures().goodput();
    return new MaxGoodput(
        stage.label(),
        stage.target(),
        stage.scenario(),
        stage.offered(),
        goodput == null ? null : goodput.requestsPerS(),
        stage.figures().number(Metric.OUTPUT_TOKENS_PER_S));
  }
}
