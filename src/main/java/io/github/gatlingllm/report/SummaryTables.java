package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.Summary;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tables that the text files share. A figure with too few values beyond it carries a {@code *}.
 */
final class SummaryTables {

  /** Says what the mark means. */
  static final String LOW_N = "* fewer than 10 values beyond it";

  private static final List<Metric> QUOTED =
      List.of(
          Metric.TTFT_MS,
          Metric.TTFT_FROM_SCHEDULE_MS,
          Metric.TTFO_MS,
          Metric.ITL_MS,
          Metric.TPOT_MS,
          Metric.E2E_MS,
          Metric.QUEUE_WAIT_MS,
          Metric.STALL_MS);

  private static final List<Summary.Target> NONE = List.of();

  private SummaryTables() {}

  /** Latencies, a row per metric that has values. */
  static TextTable latencies(Figures figures) {
    List<List<String>> rows = new ArrayList<>();
    for (Metric metric : QUOTED) {
      Distribution d = figures.metric(metric);
      if (!d.isEmpty()) {
        rows.add(
            List.of(
                metric.title() + " (ms)",
                NumberText.count(d.count()),
                NumberText.number(d.mean()),
                quoted(d, "p50", d.p50()),
                quoted(d, "p95", d.p95()),
                quoted(d, "p99", d.p99()),
                NumberText.number(d.max())));
      }
    }
    return new TextTable(List.of("latency", "count", "mean", "p50", "p95", "p99", "max"), rows);
  }

  /** Load levels, a row each. */
  static TextTable stages(Summary summary) {
    boolean slo = summary.slo() != null;
    List<String> heading = new ArrayList<>(List.of("level", "in flight", "requests/s", "tok/s"));
    heading.addAll(List.of("TTFT p50", "TTFT p99", "ITL p50", "ITL p99", "E2E p50"));
    if (slo) {
      heading.add("in SLO");
    }
    heading.add("failed");
    List<List<String>> rows = new ArrayList<>();
    for (Summary.Stage stage : summary.stages()) {
      Figures f = stage.figures();
      Distribution ttft = f.metric(Metric.TTFT_MS);
      Distribution itl = f.metric(Metric.ITL_MS);
      List<String> row = new ArrayList<>();
      row.add(place(summary, stage));
      row.add(NumberText.number(stage.meanInFlight()));
      row.add(NumberText.number(f.throughput().requestsPerS()));
      row.add(NumberText.number(f.throughput().outputTokensPerS()));
      row.add(quoted(ttft, "p50", ttft.p50()));
      row.add(quoted(ttft, "p99", ttft.p99()));
      row.add(quoted(itl, "p50", itl.p50()));
      row.add(quoted(itl, "p99", itl.p99()));
      row.add(quoted(f.metric(Metric.E2E_MS), "p50", f.metric(Metric.E2E_MS).p50()));
      if (slo) {
        row.add(NumberText.percent(f.goodput() == null ? null : f.goodput().share()));
      }
      row.add(NumberText.count(f.counts().failed()));
      rows.add(row);
    }
    return new TextTable(heading, rows);
  }

  /** Targets, a row each; none where there is only one. */
  static TextTable targets(Summary summary) {
    boolean slo = summary.slo() != null;
    List<String> heading = new ArrayList<>(List.of("target", "requests/s", "tok/s"));
    heading.addAll(List.of("TTFT p50", "TTFT p99", "ITL p50", "ITL p99", "E2E p50", "knee"));
    if (slo) {
      heading.addAll(List.of("in SLO", "holds up to"));
    }
    heading.add("failed");
    List<List<String>> rows = new ArrayList<>();
    for (Summary.Target target : summary.targets().size() > 1 ? summary.targets() : NONE) {
      Figures f = target.figures();
      Distribution ttft = f.metric(Metric.TTFT_MS);
      Distribution itl = f.metric(Metric.ITL_MS);
      Summary.Knee knee = target.knee();
      List<String> row = new ArrayList<>();
      row.add(target.label());
      row.add(NumberText.number(f.throughput().requestsPerS()));
      row.add(NumberText.number(f.throughput().outputTokensPerS()));
      row.add(quoted(ttft, "p50", ttft.p50()));
      row.add(quoted(ttft, "p99", ttft.p99()));
      row.add(quoted(itl, "p50", itl.p50()));
      row.add(quoted(itl, "p99", itl.p99()));
      row.add(quoted(f.metric(Metric.E2E_MS), "p50", f.metric(Metric.E2E_MS).p50()));
      row.add(knee == null || !knee.reached() ? NumberText.ABSENT : knee.stage());
      if (slo) {
        Figures.Goodput goodput = f.goodput();
        Figures.MaxGoodput max = goodput == null ? null : goodput.max();
        row.add(NumberText.percent(goodput == null ? null : goodput.share()));
        row.add(max == null ? NumberText.ABSENT : max.stage());
      }
      row.add(NumberText.count(f.counts().failed()));
      rows.add(row);
    }
    return new TextTable(heading, rows);
  }

  /**
   * Batch trials, a row each, of all stages; none outside batch mode.
   *
   * @param most rows of each stage at most
   */
  static TextTable trials(Summary summary, int most) {
    List<List<String>> rows = new ArrayList<>();
    for (Summary.Stage stage : summary.stages()) {
      Figures.Trials trials = stage.figures().throughput().trials();
      if (trials == null) {
        continue;
      }
      String place = place(summary, stage);
      for (Figures.Trial trial : trials.rows().subList(0, Math.min(most, trials.rows().size()))) {
        rows.add(
            List.of(
                place,
                NumberText.count(trial.trial()),
                NumberText.count(trial.requests()),
                NumberText.count(trial.ok()),
                NumberText.count(trial.outputTokens()),
                NumberText.number(trial.wallS()),
                NumberText.number(trial.outputTokensPerS())));
      }
      long left = leftOut(trials, most);
      if (left > 0) {
        rows.add(List.of(place, NumberText.count(left) + " more", "", "", "", "", ""));
      }
    }
    return new TextTable(
        List.of("level", "trial", "requests", "ok", "tokens", "wall (s)", "tok/s"), rows);
  }

  /** Trials that a table of at most so many rows does not show. */
  static long leftOut(Figures.Trials trials, int most) {
    return trials.rowsLeftOut() + Math.max(0, trials.rows().size() - most);
  }

  /** Planned against realised arrivals in one line: rates, dispersion, lag. */
  static String arrivals(Figures.ArrivalFigures arrivals) {
    return NumberText.count(arrivals.count())
        + " planned at "
        + NumberText.with(arrivals.plannedPerS(), "requests/s")
        + ", realised "
        + NumberText.with(arrivals.realisedPerS(), "requests/s")
        + "; dispersion "
        + NumberText.number(arrivals.plannedDispersion())
        + " planned, "
        + NumberText.number(arrivals.realisedDispersion())
        + " realised; lag p50 "
        + NumberText.ms(arrivals.lagP50Ms())
        + ", p99 "
        + NumberText.ms(arrivals.lagP99Ms())
        + ", max "
        + NumberText.ms(arrivals.lagMaxMs());
  }

  /** The name of a load level. */
  static String place(Summary summary, Summary.Stage stage) {
    return summary.place(stage.label(), stage.target(), stage.scenario());
  }

  private static String quoted(Distribution d, String percentile, @Nullable Double value) {
    return NumberText.number(value) + (d.isLowN(percentile) ? "*" : "");
  }
}
