package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.ObjectiveRow;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The six figures that sum up a run, the same on Gatling's index page and in {@code llm.html}. They
 * belong to one load level of each curve, since percentiles pooled over different loads describe
 * none of them.
 */
final class Tiles {

  /** With more curves a table replaces the tiles. */
  private static final int MAX_CURVES = 3;

  record Tile(String name, String value, String remark) {}

  /** The figures of one load level; {@code title} names it, and is empty if there is only one. */
  record Group(String title, List<Tile> tiles) {}

  private final Summary summary;
  private final Figures figures;
  private final List<ObjectiveRow> objectives;
  private final String target;

  private Tiles(Summary summary, Figures figures, List<ObjectiveRow> objectives, String target) {
    this.summary = summary;
    this.figures = figures;
    this.objectives = objectives;
    this.target = target;
  }

  /** The tiles of each curve; empty if there are more than {@value #MAX_CURVES}. */
  static List<Group> of(Summary summary) {
    if (summary.curves().isEmpty()) {
      return List.of(new Group("", new Tiles(summary, summary.figures(), List.of(), "").list()));
    }
    if (summary.curves().size() > MAX_CURVES) {
      return List.of();
    }
    return summary.curves().stream()
        .map(
            curve ->
                new Group(
                    summary.hasSeveralLevels()
                        ? KeyFigureTables.operatingPoint(summary, curve)
                        : "",
                    of(summary, summary.operatingLevel(curve))))
        .toList();
  }

  /** The tiles of one load level. */
  static List<Tile> of(Summary summary, LevelFigures level) {
    return new Tiles(summary, level.figures(), level.objectives(), level.target()).list();
  }

  private List<Tile> list() {
    if (figures.embeds()) {
      return List.of(latency(Metric.E2E_MS, "e2e"), inputs(), inputTokens(), goodput(), failed());
    }
    return List.of(
        latency(Metric.TTFT_MS, "ttft"),
        latency(Metric.ITL_MS, "itl"),
        output(),
        goodput(),
        jitter(),
        failed());
  }

  private Tile latency(Metric metric, String measure) {
    Distribution values = figures.metric(metric.fromSchedule());
    ObjectiveRow objective = objective(measure);
    String median = "p50 " + NumberText.ms(values.p50());
    return new Tile(
        summary.headlineMetric(metric).title() + " p99",
        NumberText.ms(values.p99()) + (values.isLowN("p99") ? " †" : ""),
        values.isEmpty()
            ? "no value"
            : objective == null
                ? median
                : median + " · SLO < " + NumberText.plainMs(objective.limitMs()) + met(objective));
  }

  private static String met(ObjectiveRow objective) {
    Boolean ok = objective.ok();
    return ok == null
        ? ""
        : ok ? " · ✓ met" : " · ✗ missed: met by " + NumberText.percent(objective.metShare());
  }

  /** The objective for all requests, or for the target of the load level. */
  private @Nullable ObjectiveRow objective(String measure) {
    return objectives.stream()
        .filter(
            row -> row.measure().equals(measure) || row.measure().equals(target + ": " + measure))
        .findFirst()
        .orElse(null);
  }

  private Tile inputs() {
    return new Tile(
        "Inputs",
        NumberText.with(figures.number(Metric.INPUTS_PER_S), "inputs/s"),
        NumberText.with(figures.number(Metric.REQUESTS_PER_S), "requests/s"));
  }

  private Tile inputTokens() {
    Double mean = figures.metric(Metric.PROMPT_TOKENS).mean();
    return new Tile(
        "Input tokens",
        NumberText.with(figures.number(Metric.INPUT_TOKENS_PER_S), "tok/s"),
        mean == null ? "" : NumberText.with(mean, "tokens") + " per request");
  }

  private Tile output() {
    Double perUser = figures.metric(Metric.USER_TOKENS_PER_S).p50();
    return new Tile(
        "Output",
        NumberText.with(figures.number(Metric.OUTPUT_TOKENS_PER_S), "tok/s"),
        (perUser == null ? "" : NumberText.with(perUser, "tok/s") + " per user") + cost());
  }

  private String cost() {
    Double cost = Metric.COST_PER_MILLION_OUTPUT_TOKENS.number(figures);
    Double perJoule = Metric.OUTPUT_TOKENS_PER_JOULE.number(figures);
    return (cost == null ? "" : " · cost " + NumberText.number(cost) + " per million")
        + (perJoule == null ? "" : " · " + NumberText.with(perJoule, "tok/J"));
  }

  private Tile goodput() {
    Figures.Goodput goodput = figures.goodput();
    return goodput == null
        ? new Tile("Goodput", NumberText.ABSENT, "no SLO set")
        : new Tile(
            "Goodput", NumberText.with(goodput.requestsPerS(), "req/s"), RunText.inSlo(goodput));
  }

  private Tile jitter() {
    Double ratio = figures.number(Metric.JITTER);
    Double median = figures.number(Metric.JITTER_PER_REQUEST);
    return new Tile(
        "Jitter, ITL p99 ÷ p50",
        NumberText.number(ratio),
        median == null ? "" : NumberText.number(median) + " in the median request");
  }

  private Tile failed() {
    Figures.Counts counts = figures.counts();
    return new Tile(
        "Failed",
        counts.ended() == 0
            ? NumberText.ABSENT
            : NumberText.percent((double) counts.failed() / counts.ended()),
        NumberText.count(counts.failed())
            + " of "
            + NumberText.count(counts.ended())
            + (counts.rateLimited() == 0
                ? ""
                : " · "
                    + NumberText.percent((double) counts.rateLimited() / counts.ended())
                    + " rate limited"));
  }
}
