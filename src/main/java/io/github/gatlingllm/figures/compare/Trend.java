package io.github.gatlingllm.figures.compare;

import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.Curve;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.record.LevelInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Figures at the operating point over many runs, given in order of time. Runs of the same model,
 * workload and settings are a series; each is compared with the last run of its series that was
 * beyond chance, else with the first, so that a slow drift is found too.
 */
public final class Trend {

  /** The name in {@link io.github.gatlingllm.record.RunInfo#config} of what a series may change. */
  public static final String ENGINE_VERSION = "engineVersion";

  /** Names in {@code config} that do not define what is measured; a dataset's SHA-256 does. */
  private static final Set<String> OF_ONE_RUN =
      Set.of(
          """
          apiKey assert config csv dataset dataset.B2 dataset.D datasetCache endpoint engineVersion
          env failBuild failOnInvalid injector jvm late live metricsUrl otlp promptsNotExact
          recordText recordTokens results saveConfig seed seedOfTheUnseeded selfTestFile startAt
          target upload waitReady
          """
              .split("\\s+"));

  /**
   * What the runs of a series have in common.
   *
   * @param name the curve: its target, its scenario or both, where a run has several
   */
  public record Series(String model, String name, String load, Map<String, String> settings) {}

  /**
   * A run of a series.
   *
   * @param base the run that it is compared with; null for the first of its series
   * @param changes of all figures that are compared; empty for the first
   */
  public record Step(
      String run,
      long startUnixNs,
      @Nullable String engineVersion,
      String level,
      Figures figures,
      @Nullable String base,
      List<Change> changes) {

    /** Whether a figure differs beyond chance. */
    public boolean isMarked() {
      return changes.stream().anyMatch(change -> change.outcome().isClear());
    }

    public Optional<Change> change(Figure figure) {
      return changes.stream().filter(c -> c.figure().name().equals(figure.name())).findFirst();
    }
  }

  private record Base(String name, ComparedRun run) {}

  private final Map<Series, List<Step>> series = new LinkedHashMap<>();
  private final Map<Series, Base> bases = new LinkedHashMap<>();

  /** The figures that are compared. */
  public static List<Figure> figures() {
    return ComparedFigure.all().stream().map(ComparedFigure::figure).toList();
  }

  public void add(String name, ComparedRun run) throws IOException {
    Summary summary = run.figures().summary();
    Map<Base, Comparison> known = new LinkedHashMap<>();
    for (Curve curve : summary.curves()) {
      Series of = series(summary, curve, run.info().config());
      Base base = bases.get(of);
      if (base != null && !known.containsKey(base)) {
        known.put(base, Comparison.of(base.run, run, 1));
      }
      LevelInfo level = summary.operatingLevel(curve).info();
      Step step =
          new Step(
              name,
              summary.run().startUnixNs(),
              run.info().config().get(ENGINE_VERSION),
              level.label(),
              summary.operatingLevel(curve).figures(),
              base == null ? null : base.name,
              base == null
                  ? List.of()
                  : changes(known.get(base), level, !summary.hasSeveralTargets()));
      series.computeIfAbsent(of, key -> new ArrayList<>()).add(step);
      if (base == null || step.isMarked()) {
        bases.put(of, new Base(name, run));
      }
    }
  }

  /** The names of targets matter only where a run has several. */
  private static List<Change> changes(
      @Nullable Comparison comparison, LevelInfo level, boolean haveOneTarget) {
    return comparison == null
        ? List.of()
        : comparison.places().stream()
            .filter(
                place ->
                    place.level() != null
                        && place.level().label().equals(level.label())
                        && Objects.equals(place.level().scenario(), level.scenario())
                        && (haveOneTarget || place.level().target().equals(level.target())))
            .findFirst()
            .map(Comparison.Place::changes)
            .orElse(List.of());
  }

  private static Series series(Summary summary, Curve curve, Map<String, String> config) {
    Map<String, String> settings = new TreeMap<>(config);
    settings.keySet().removeIf(name -> name.contains(" ") || OF_ONE_RUN.contains(name));
    if (summary.workload().models().size() < 2) { // else it has their weights
      settings.remove("model");
    }
    return new Series(
        String.join(", ", summary.workload().models().keySet().stream().sorted().toList()),
        summary.curves().size() == 1 ? "" : summary.name(curve),
        String.join(" ", curve.stages()),
        Map.copyOf(settings));
  }

  /** The runs by series, in the order of their first runs. */
  public Map<Series, List<Step>> series() {
    return series;
  }
}
