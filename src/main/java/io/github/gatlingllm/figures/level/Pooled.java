package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Amount.WindowFact;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.Figures.GoodputResult;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.Objectives;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests of some cells added up, and their figures.
 *
 * @param isEntireTarget whether cost and energy of their target belong to these requests alone
 * @param intervals for all requests of one level of constant load
 */
record Pooled(
    Cell cell,
    List<Peaks> peaks,
    Map<WindowFact, @Nullable Double> facts,
    boolean isEntireTarget,
    @Nullable Trials trials,
    @Nullable ConfidenceIntervals intervals,
    double readingSpeed)
    implements Amount.Sums {

  /** The requests of one cell in a time that has passed. */
  static Pooled soFar(Cell cell, long windowNanos) {
    Map<WindowFact, @Nullable Double> facts = Map.of(WindowFact.WINDOW_S, windowNanos / 1e9);
    return new Pooled(cell, List.of(), facts, false, null, null, 0);
  }

  @Override
  public double of(Amount amount) {
    return cell.of(amount);
  }

  @Override
  public ValueRecorder values(Metric metric) {
    return cell.values(metric);
  }

  @Override
  public @Nullable Double fact(WindowFact fact) {
    return switch (fact) {
      case PEAK_TOKENS_PER_S -> Peaks.max(peaks, Peaks::tokensPerS);
      case PEAK_IN_FLIGHT -> Peaks.max(peaks, Peaks::inFlight);
      default -> facts.get(fact);
    };
  }

  Map<Metric, List<Quantile>> quantiles() {
    return Quantile.curves(metric -> Quantile.curve(values(metric)));
  }

  /** The figures of some requests, judged by this SLO unless it is null. */
  Figures figures(@Nullable String slo) {
    return figures(slo, false, null, null, List.of());
  }

  /**
   * The figures; without those about an SLO where {@code slo} is null.
   *
   * @param isOfLevel whether they are those of one load level, of which is known whether it holds
   */
  Figures figures(
      @Nullable String slo,
      boolean isOfLevel,
      @Nullable Long planned,
      @Nullable GoodputResult max,
      List<Figures> repeats) {
    Map<Metric, Distribution> distributions = new EnumMap<>(Metric.class);
    Metric.distributions().forEach(metric -> distributions.put(metric, distribution(metric)));
    Counts counts = counts(planned);
    return new Figures(
        distributions,
        Metric.numbers(this),
        windowS() == 0 ? null : (Double) windowS(),
        trials,
        slo == null ? null : goodput(slo, isOfLevel, max),
        readingSpeed,
        cell.errors(),
        cell.finishReasons.byCount(),
        counts,
        cell.timings(),
        cell.rateLimits(counts),
        repeats);
  }

  private Counts counts(@Nullable Long planned) {
    Map<String, Long> byKey = new LinkedHashMap<>();
    cell.statuses.forEach((status, count) -> byKey.put(status.key(), count));
    return new Counts(
        planned,
        cell.count(Amount.STARTED),
        cell.count(Amount.ENDED),
        cell.count(Amount.OK),
        cell.statuses.getOrDefault(RequestStatus.CANCELLED, 0L),
        byKey);
  }

  Distribution distribution(Metric metric) {
    ValueRecorder values = values(metric);
    return intervals == null || values.isEmpty()
        ? values.distribution()
        : intervals.distribution(metric, values);
  }

  private Goodput goodput(String slo, boolean isOfLevel, @Nullable GoodputResult max) {
    Objectives.SloCount all = cell.slo.all();
    Objectives.Decision decision = cell.slo.decide();
    List<Figures.ObjectiveCount> objectives = new ArrayList<>();
    cell.slo
        .objectives()
        .forEach(
            (name, of) ->
                objectives.add(
                    new Figures.ObjectiveCount(
                        name, of.judged(), of.met(), of.unknown(), of.share())));
    return new Goodput(
        slo,
        all.share(),
        intervals == null || all.isUndefined() ? null : intervals.share(all.met(), all.judged()),
        perS(of(Amount.COMPLETED_IN_SLO)),
        generatedPerS(of(Amount.TOKENS_IN_SLO)),
        all.judged(),
        all.met(),
        all.unknown(),
        (!isOfLevel || decision == null)
            ? null
            : counts(null).sheds() ? Boolean.FALSE : decision.holds(),
        fact(WindowFact.SLO_HELD_AFTER_S),
        max,
        cell.missed.byCount(),
        objectives);
  }
}
