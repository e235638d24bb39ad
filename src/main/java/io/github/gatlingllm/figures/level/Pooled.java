package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Amount.Fact;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.Figures.MaxGoodput;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.Objectives.SloCounts;
import io.github.gatlingllm.record.RequestStatus;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The requests of some cells added up, and their figures. */
final class Pooled implements Amount.Sums {

  private static final List<Metric> DRAWN =
      List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS);

  /** The SLO that requests are judged by, and whether they are those of one load level. */
  record Judge(String quote, boolean isOfLevel) {}

  /**
   * What figures need to know of requests that were added up.
   *
   * @param isWhole whether cost and energy of their target belong to these requests alone
   * @param intervals for all requests of one level of constant load
   */
  record Scope(
      Map<Fact, @Nullable Double> facts,
      boolean isWhole,
      @Nullable Trials trials,
      @Nullable ConfidenceIntervals intervals) {}

  private final Cell cell;
  private final List<Peaks> peaks;
  private final Map<Fact, @Nullable Double> facts;
  private final Scope scope;
  private final double readingSpeed;

  Pooled(List<Fold.Part> parts, Scope scope, double readingSpeed) {
    this.scope = scope;
    this.readingSpeed = readingSpeed;
    cell = new Cell(Cell.Detail.FIGURES);
    peaks = parts.stream().flatMap(part -> Stream.ofNullable(part.cell().peaks)).toList();
    Map<LevelWindow, long[]> spans = new LinkedHashMap<>();
    for (Fold.Part part : parts) {
      cell.add(part.cell());
      long[] span = part.cell().span();
      if (span != null) {
        spans.merge(
            part.level(), span, (a, b) -> new long[] {Math.min(a[0], b[0]), Math.max(a[1], b[1])});
      }
    }
    facts = new EnumMap<>(scope.facts());
    facts.put(Fact.WALL_S, Windows.unionNanos(spans.values()) / 1e9);
  }

  /** The requests of one cell in a time that has passed. */
  Pooled(Cell cell, long windowNanos) {
    this.cell = cell;
    facts = Map.of(Fact.WINDOW_S, windowNanos / 1e9);
    scope = new Scope(facts, false, null, null);
    readingSpeed = 0;
    peaks = List.of();
  }

  Cell cell() {
    return cell;
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
  public @Nullable Double fact(Fact fact) {
    return switch (fact) {
      case PEAK_TOKENS_PER_S -> Peaks.max(peaks, Peaks::tokensPerS);
      case PEAK_IN_FLIGHT -> Peaks.max(peaks, Peaks::inFlight);
      default -> facts.get(fact);
    };
  }

  @Override
  public boolean isWholeTarget() {
    return scope.isWhole();
  }

  /** The percentile curves of TTFT, ITL, TPOT and E2E; a metric without values is missing. */
  Map<Metric, List<Quantile>> quantiles() {
    Map<Metric, List<Quantile>> curves = new EnumMap<>(Metric.class);
    for (Metric metric : DRAWN) {
      if (!values(metric).isEmpty()) {
        curves.put(metric, Quantile.curve(values(metric)));
      }
    }
    return curves;
  }

  /** The figures; without those about an SLO where {@code judge} is null. */
  Figures figures(
      @Nullable Judge judge,
      @Nullable Long planned,
      @Nullable MaxGoodput max,
      List<Figures> repeats) {
    Map<Metric, Distribution> distributions = new EnumMap<>(Metric.class);
    Metric.distributions().forEach(metric -> distributions.put(metric, distribution(metric)));
    Counts counts = counts(planned);
    return new Figures(
        distributions,
        Metric.numbers(this),
        windowS() == 0 ? null : (Double) windowS(),
        scope.trials(),
        judge == null ? null : goodput(judge, max),
        readingSpeed,
        cell.errors.byCount().entrySet().stream()
            .map(e -> new ErrorCount(e.getKey().verdict(), e.getKey().message(), e.getValue()))
            .toList(),
        cell.finishReasons.byCount(),
        counts,
        cell.server.timings(),
        cell.server.rateLimits(counts),
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
    ConfidenceIntervals intervals = scope.intervals();
    return intervals == null || values.isEmpty()
        ? values.distribution()
        : intervals.distribution(metric, values);
  }

  private Goodput goodput(Judge judge, @Nullable MaxGoodput max) {
    SloCounts.SloCount all = cell.slo.all();
    SloCounts.Decision decision = cell.slo.decide();
    ConfidenceIntervals intervals = scope.intervals();
    List<Goodput.Objective> objectives = new ArrayList<>();
    cell.slo
        .objectives()
        .forEach(
            (name, of) ->
                objectives.add(
                    new Goodput.Objective(name, of.judged(), of.met(), of.unknown(), of.share())));
    return new Goodput(
        judge.quote(),
        all.share(),
        intervals == null || all.isUndefined() ? null : intervals.share(all.met(), all.judged()),
        perS(of(Amount.COMPLETED_IN_SLO)),
        generatedPerS(of(Amount.TOKENS_IN_SLO)),
        all.judged(),
        all.met(),
        all.unknown(),
        (!judge.isOfLevel() || decision == null)
            ? null
            : counts(null).sheds() ? Boolean.FALSE : decision.holds(),
        max,
        cell.missed.byCount(),
        objectives);
  }
}
