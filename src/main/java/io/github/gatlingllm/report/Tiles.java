package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.Knee;
import io.github.gatlingllm.stats.Summary.ObjectiveRow;
import io.github.gatlingllm.stats.Summary.Stage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The six figures that sum up a run, the same on Gatling's index page and in {@code llm.html}:
 * those of one load level of each curve, since percentiles pooled over different loads are of no
 * load.
 */
final class Tiles {

  /** With more curves than this there is only a table of them. */
  private static final int MOST_CURVES = 3;

  /**
   * One figure.
   *
   * @param name what it is
   * @param value with its unit
   * @param remark what it is judged by or relates to; may be empty
   */
  record Tile(String name, String value, String remark) {}

  /**
   * The figures of one load level; {@code title} names it, and is empty where there is only one.
   */
  record Group(String title, List<Tile> tiles) {}

  private final Summary summary;
  private final Figures figures;
  private final List<ObjectiveRow> objectives;
  private final String target;
  private final @Nullable Knee knee;

  private Tiles(Summary summary) {
    this.summary = summary;
    figures = summary.figures();
    objectives = List.of();
    target = "";
    knee = null;
  }

  private Tiles(Summary summary, Stage level, @Nullable Knee knee) {
    this.summary = summary;
    figures = level.figures();
    objectives = level.objectives();
    target = level.target();
    this.knee = knee;
  }

  /** Those of each curve; empty where there are more than {@value #MOST_CURVES}. */
  static List<Group> of(Summary summary) {
    if (summary.curves().isEmpty()) {
      return List.of(new Group("", new Tiles(summary).list()));
    }
    if (summary.curves().size() > MOST_CURVES) {
      return List.of();
    }
    return summary.curves().stream()
        .map(
            curve ->
                new Group(
                    summary.hasSeveralLevels()
                        ? KeyFigureTables.operatingPoint(summary, curve)
                        : "",
                    new Tiles(summary, summary.operatingLevel(curve), curve.knee()).list()))
        .toList();
  }

  private List<Tile> list() {
    return List.of(
        latency(Metric.TTFT_MS, "ttft"),
        latency(Metric.ITL_MS, "itl"),
        output(),
        goodput(),
        knee(),
        failed());
  }

  private Tile latency(Metric metric, String measure) {
    String name = summary.clock().name(metric) + " p95";
    Distribution values = figures.metric(metric.fromSchedule());
    ObjectiveRow objective = objective(measure);
    String remark =
        objective == null
            ? "median " + NumberText.ms(values.p50())
            : "SLO < " + NumberText.plainMs(objective.limitMs()) + met(objective);
    return new Tile(name, NumberText.ms(values.p95()), values.isEmpty() ? "no value" : remark);
  }

  private static String met(ObjectiveRow objective) {
    Boolean ok = objective.ok();
    return ok == null
        ? ""
        : ok ? " · ✓ met" : " · ✗ missed: met by " + NumberText.percent(objective.metShare());
  }

  /** The one of all requests, or of the level's target where targets differ. */
  private @Nullable ObjectiveRow objective(String measure) {
    return objectives.stream()
        .filter(
            row -> row.measure().equals(measure) || row.measure().equals(target + ": " + measure))
        .findFirst()
        .orElse(null);
  }

  private Tile output() {
    Double perUser = figures.throughput().userTokensPerS().p50();
    return new Tile(
        "Output",
        NumberText.with(figures.throughput().outputTokensPerS(), "tok/s"),
        perUser == null ? "" : NumberText.with(perUser, "tok/s") + " per user");
  }

  private Tile goodput() {
    Figures.Goodput goodput = figures.goodput();
    return goodput == null
        ? new Tile("Goodput", NumberText.ABSENT, "no SLO set")
        : new Tile(
            "Goodput", NumberText.with(goodput.requestsPerS(), "req/s"), RunText.inSlo(goodput));
  }

  private Tile knee() {
    if (knee == null) {
      return new Tile("Knee", NumberText.ABSENT, "no output");
    }
    if (knee.saturatedFromFirst()) {
      return new Tile("Knee", "below " + knee.stage(), "saturated from the first level");
    }
    if (!knee.reached()) {
      return new Tile(
          "Knee",
          "not reached",
          summary.hasSeveralLevels() ? "output still grows at the last level" : "1 load level");
    }
    return new Tile("Knee", knee.stage(), NumberText.with(knee.outputTokensPerS(), "tok/s"));
  }

  private Tile failed() {
    Figures.Counts counts = figures.counts();
    return new Tile(
        "Failed",
        counts.ended() == 0
            ? NumberText.ABSENT
            : NumberText.percent((double) counts.failed() / counts.ended()),
        NumberText.count(counts.failed()) + " of " + NumberText.count(counts.ended()));
  }
}
