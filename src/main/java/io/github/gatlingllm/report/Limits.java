package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Chart.Limit;
import io.github.gatlingllm.stats.Summary;
import java.util.Optional;

/** The lines that the SLO draws into charts. */
final class Limits {

  private Limits() {}

  /** The limit of a measure such as {@code ttft}, in ms. */
  static Optional<Limit> of(Summary summary, String measure) {
    Summary.SloTable slo = summary.slo();
    return slo == null
        ? Optional.empty()
        : slo.objectives().stream()
            .filter(row -> row.measure().equals(measure))
            .map(row -> new Limit(row.limitMs(), "SLO " + NumberText.plainMs(row.limitMs())))
            .findFirst();
  }
}
