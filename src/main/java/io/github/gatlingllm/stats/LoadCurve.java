package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Figures.Goodput;
import io.github.gatlingllm.metric.Figures.MaxGoodput;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.stats.Summary.Knee;
import io.github.gatlingllm.stats.Summary.Stage;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The load levels of one target and scenario, and what they are judged by, in order of offered
 * load; stages whose load has no single number keep their place in time.
 */
final class LoadCurve {

  private static final int LEAST_LEVELS = 3;

  private final Slo slo;
  private final List<Stage> levels;

  /**
   * @param slo of that target
   * @param stages at least one; those that no request started in tell nothing and are left out
   */
  LoadCurve(Slo slo, List<Stage> stages) {
    this.slo = slo;
    List<Stage> used = stages.stream().filter(s -> s.figures().counts().started() > 0).toList();
    List<Stage> told = used.isEmpty() ? List.copyOf(stages) : used;
    boolean ordered = told.stream().allMatch(s -> s.offered() != null);
    levels =
        ordered
            ? told.stream().sorted(Comparator.comparingDouble(LoadCurve::offered)).toList()
            : told;
  }

  private static double offered(Stage stage) {
    Double offered = stage.offered();
    return offered == null ? 0 : offered;
  }

  /** The target of all its levels. */
  String target() {
    return levels.get(0).target();
  }

  /** The scenario of all its levels; null where scenarios are not told apart. */
  @Nullable String scenario() {
    return levels.get(0).scenario();
  }

  /** What its target is judged by. */
  Slo slo() {
    return slo;
  }

  List<Stage> levels() {
    return levels;
  }

  /** What headlines about it count from. */
  HeadlineClock clock() {
    return HeadlineClock.of(levels);
  }

  /**
   * The level with the highest power = output tok/s ÷ median E2E from schedule in seconds; null
   * when no level has both.
   */
  @Nullable Knee knee() {
    int best = -1;
    double highest = 0;
    for (int i = 0; i < levels.size(); i++) {
      Double power = power(levels.get(i));
      if (power != null && power > highest) {
        highest = power;
        best = i;
      }
    }
    if (best < 0) {
      return null;
    }
    Stage stage = levels.get(best);
    Double tokens = stage.figures().throughput().outputTokensPerS();
    Double median = stage.figures().metric(Metric.E2E_FROM_SCHEDULE_MS).p50();
    if (tokens == null || median == null) {
      return null;
    }
    boolean reached = levels.size() >= LEAST_LEVELS && best < levels.size() - 1;
    return new Knee(
        reached,
        stage.label(),
        stage.target(),
        stage.scenario(),
        stage.offered(),
        tokens,
        median,
        highest);
  }

  private static @Nullable Double power(Stage stage) {
    Double tokens = stage.figures().throughput().outputTokensPerS();
    Double median = stage.figures().metric(Metric.E2E_FROM_SCHEDULE_MS).p50();
    return tokens == null || median == null || median == 0
        ? null
        : (Double) (tokens / (median / 1e3));
  }

  /** Whether a level holds the SLO: enough of its attempted requests met every objective. */
  boolean holds(Stage stage) {
    Goodput goodput = stage.figures().goodput();
    Double share = goodput == null ? null : goodput.share();
    return share != null && share * 100 >= slo.percentile() - 1e-9;
  }

  /** Position of the highest level that holds the SLO; −1 when none does. */
  int lastHolding() {
    return IntStream.range(0, levels.size()).filter(i -> holds(levels.get(i))).max().orElse(-1);
  }

  @Nullable MaxGoodput maxGoodput() {
    int at = lastHolding();
    if (at < 0) {
      return null;
    }
    Stage stage = levels.get(at);
    Goodput goodput = stage.figures().goodput();
    return new MaxGoodput(
        stage.label(),
        stage.target(),
        stage.scenario(),
        stage.offered(),
        goodput == null ? null : goodput.requestsPerS(),
        stage.figures().throughput().outputTokensPerS());
  }
}
