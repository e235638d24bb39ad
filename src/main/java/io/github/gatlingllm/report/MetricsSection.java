package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.CacheUse;
import io.github.gatlingllm.figures.level.Summary.RequestAtPoint;
import io.github.gatlingllm.figures.level.Summary.Turn;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.DistributionTables.Metrics;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.ShownLevels.Level;
import io.github.gatlingllm.report.ShownLevels.When;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All metrics as tables: pooled, and by load level, trial, target, request name, turn and cache.
 */
final class MetricsSection {

  private static final String HIGHER = "↑ higher";
  private static final String LOWER = "↓ lower";

  private final Summary summary;
  private final ShownLevels levels;
  private final String pooled;
  private final List<Part> parts = new ArrayList<>();

  MetricsSection(Summary summary, ShownLevels levels) {
    this.summary = summary;
    this.levels = levels;
    pooled = new RunText(summary).pooled();
  }

  /** Several sets of requests: a table of key figures, and all metrics of each set, folded. */
  private record Part(String heading, String id, String note, Table table, List<Detail> details) {}

  /** All metrics of one set of requests; {@code anchor} may be empty. */
  private record Detail(String anchor, Metrics metrics) {

    static Detail of(String name, String anchor, Figures figures) {
      return new Detail(anchor, DistributionTables.metrics("All metrics of " + name, figures));
    }
  }

  /** All figures of one load level, or of all pooled. */
  private record Whole(String title, String id, When when, Metrics all, Table system) {}

  private static Whole whole(String title, String id, When when, Figures figures) {
    String of = title.isEmpty() ? "" : " (" + title + ")";
    return new Whole(
        title,
        id,
        when,
        DistributionTables.metrics("All metrics" + of, figures),
        new SystemTable().of(figures));
  }

  /** All figures of each load level; pooled figures if there is none. */
  private List<Whole> wholes() {
    List<Whole> wholes = new ArrayList<>();
    for (Level level : levels.all()) {
      wholes.add(
          whole(
              level.title(),
              "level" + level.suffix(),
              levels.when(level),
              level.stage().figures()));
    }
    if (wholes.isEmpty()) {
      wholes.add(whole("", "level", When.ALWAYS, summary.figures()));
    }
    return wholes;
  }

  Section section() {
    byTrial();
    byTarget();
    byName();
    byTurn();
    byCache();
    return Section.of("metrics")
        .body(
            "metrics",
            Map.of(
                "wholes",
                wholes(),
                "pooled",
                summary.hasSeveralLevels()
                    ? List.of(
                        whole(pooled.replace(".", ""), "pooled", When.ALWAYS, summary.figures()))
                    : List.of(),
                "parts",
                parts));
  }

  private void byTrial() {
    for (LevelFigures stage : summary.stages()) {
      Figures.Trials trials = stage.figures().trials();
      if (trials != null) {
        Table table = KeyFigureTables.trials(KeyFigureTables.place(summary, stage), trials);
        String left =
            trials.rowsLeftOut() == 0
                ? ""
                : NumberText.counted(trials.rowsLeftOut(), "later trial") + " not shown.";
        parts.add(new Part(table.title(), "", left, table, List.of()));
      }
    }
  }

  private void byTarget() {
    if (summary.hasSeveralTargets()) {
      parts.add(
          new Part(
              "By target",
              "",
              summary.stages().size() > summary.targets().size()
                  ? "All load levels of a target pooled."
                  : "",
              KeyFigureTables.byTarget(summary),
              summary.targets().stream().map(t -> Detail.of(t.label(), "", t.figures())).toList()));
    }
  }

  private void byName() {
    List<RequestAtPoint> requests = summary.requestsAtPoints();
    if (!requests.isEmpty()) {
      parts.add(
          new Part(
              "By request name",
              "",
              "",
              KeyFigureTables.byName(summary, "", requests),
              requests.stream().map(this::detail).toList()));
    }
  }

  private Detail detail(RequestAtPoint request) {
    String at = summary.hasSeveralLevels() ? " (" + KeyFigureTables.at(summary, request) + ")" : "";
    String anchor = KeyFigureTables.anchor(summary, request);
    return Detail.of(request.name() + at, anchor, request.figures());
  }

  private void byCache() {
    CacheUse cache = summary.workload().cache();
    if (cache != null && !cache.warmTtftMs().isEmpty()) {
      String note =
          cache.stage() == null
              ? ""
              : "At " + cache.stage() + ", the load level with the most requests of both kinds.";
      parts.add(
          new Part("By prefix cache", "", note, DistributionTables.byCache(cache), List.of()));
    }
  }

  private void byTurn() {
    List<Turn> turns = summary.workload().byTurn();
    if (turns.size() > 1) {
      Table table =
          Table.of(
              "Key figures by turn of the conversation",
              turns,
              Column.name("Turn", turn -> Integer.toString(turn.turn())),
              Column.count("requests", Turn::requests),
              Column.number("prompt tokens, mean", Turn::meanPromptTokens),
              Column.percent("from prefix cache", Turn::cachedShare),
              Column.percentile("TTFT p50, ms", "p50", Turn::ttftMs),
              Column.percentile("TTFT p95", "p95", Turn::ttftMs),
              Column.percentile("TTFT p99", "p99", Turn::ttftMs));
      parts.add(new Part("By turn of the conversation", "", pooled, table, List.of()));
    }
  }

  /** Figures of the system as a whole, a row for each that has a value. */
  private static final class SystemTable {

    private final List<List<Cell>> rows = new ArrayList<>();

    Table of(Figures figures) {
      row(Metric.OUTPUT_TOKENS_PER_S, figures);
      row(Metric.BILLED_OUTPUT_TOKENS_PER_S, figures);
      row(Metric.PEAK_OUTPUT_TOKENS_PER_S, figures);
      row(Metric.OUTPUT_TOKENS_PER_S_PER_GPU, figures);
      row(Metric.POWER_W, figures);
      row(Metric.OUTPUT_TOKENS_PER_JOULE, figures);
      row(Metric.COST_PER_MILLION_OUTPUT_TOKENS, figures);
      row(Metric.COST_PER_MILLION_SLO_TOKENS, figures);
      row(Metric.INPUT_TOKENS_PER_S, figures);
      row(Metric.TOTAL_TOKENS_PER_S, figures);
      row(Metric.WALL_OUTPUT_TOKENS_PER_S, figures);
      row(Metric.REQUESTS_PER_S, figures);
      Double perMinute = figures.requestsPerMin();
      row("Requests", "the same per minute", perMinute, "requests/min", HIGHER);
      row(Metric.INPUTS_PER_S, figures);
      row(Metric.EFFECTIVE_CONCURRENCY, figures);
      row(Metric.ACTIVE_CONCURRENCY, figures);
      row(Metric.PEAK_IN_FLIGHT, figures);
      trials(figures.trials());
      share(figures.goodput());
      row(Metric.GOODPUT_REQUESTS_PER_S, figures);
      row(Metric.GOODPUT_TOKENS_PER_S, figures);
      row(Metric.JITTER, figures);
      row(Metric.JITTER_PER_REQUEST, figures);
      row("ITL standard deviation", "pooled", figures.itlStdMs(), "ms", LOWER);
      row(Metric.STALLS_PER_1K_TOKENS, figures);
      row(Metric.BATCH_RATIO, figures);
      readers(figures.reader());
      String title = "Throughput, goodput and jitter";
      Table table = Table.of(List.of("Figure", "value", "better"), rows);
      return new Table(title, "compact", table.headings(), table.groups());
    }

    private void trials(Figures.@Nullable Trials trials) {
      if (trials != null) {
        String all = NumberText.count(trials.count()) + " trials: all tokens ÷ all wall time";
        String one = "tokens of the trial ÷ its wall time";
        row("Trials", all, trials.aggregateTokensPerS(), "tok/s", HIGHER);
        String spread = "standard deviation of the trials";
        row("Spread of trials", spread, trials.stdTokensPerS(), "tok/s", LOWER);
        row("Slowest trial", one, trials.minTokensPerS(), "tok/s", HIGHER);
        row("Fastest trial", one, trials.maxTokensPerS(), "tok/s", HIGHER);
      }
    }

    private void readers(Figures.Reader reader) {
      if (reader.stalledShare() != null) {
        String late =
            "%s of %s answers have a token that a reader of %s tokens/s has to wait for"
                .formatted(
                    NumberText.count(reader.stalled()),
                    NumberText.count(reader.requests()),
                    NumberText.plain(reader.tokensPerS()));
        add(Metric.READERS_STALLED.title(), late, NumberText.percent(reader.stalledShare()), LOWER);
      }
    }

    private void share(Figures.@Nullable Goodput goodput) {
      if (goodput == null || goodput.share() == null) {
        return;
      }
      Interval interval = goodput.shareCi95();
      String met =
          NumberText.count(goodput.met())
              + " of "
              + NumberText.count(goodput.attempted())
              + " attempted requests met every objective"
              + (interval == null
                  ? ""
                  : "; 95 % interval "
                      + NumberText.percent(interval.low())
                      + " to "
                      + NumberText.percent(interval.high()));
      add(Metric.GOODPUT_PERCENT.title(), met, NumberText.percent(goodput.share()), HIGHER);
    }

    /** A row for a metric, named as in the catalogue. */
    private void row(Metric metric, Figures figures) {
      String better =
          switch (metric.better()) {
            case HIGHER -> HIGHER;
            case LOWER -> LOWER;
            case NEITHER -> metric == Metric.BATCH_RATIO ? "1 is exact" : "the load";
          };
      row(metric.title(), metric.formula(), metric.number(figures), metric.unit().sign(), better);
    }

    private void row(
        String name, String formula, @Nullable Double value, String unit, String better) {
      if (value != null) {
        add(name, formula, NumberText.with(value, unit), better);
      }
    }

    private void add(String name, String formula, String value, String better) {
      rows.add(
          List.of(Cell.words(name).remarked(formula), Cell.figure(value), Cell.figure(better)));
    }
  }
}
