package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures.InjectorFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.InjectorRun.InjectorLevel;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The figures of each injector of a merged run, by load level and pooled. */
record InjectorTally(List<InjectorRun> injectors, Fold fold) {

  /** The health of a generator at a load level, and what it means for the figures of the level. */
  private record Judged(GeneratorHealth health, Figures.CheckLevel verdict) {
    static Stream<Judged> of(InjectorRun injector, List<GeneratorHealth> all, Figures level) {
      return all.stream()
          .filter(health -> health.injector().equals(injector.name()))
          .map(health -> new Judged(health, health.verdict(level).level()));
    }
  }

  List<InjectorFigures> at(LevelWindow level, Figures of, List<GeneratorHealth> generators) {
    Map<String, Cell> cells =
        injectors.isEmpty()
            ? Map.of()
            : fold.byKey(Grouping.INJECTOR, part -> part.level().equals(level.first()));
    long nanos = level.repeats.stream().mapToLong(LevelWindow::nanos).sum();
    return injectors.stream()
        .filter(injector -> cells.containsKey(injector.name()))
        .map(
            injector ->
                figures(
                    injector,
                    planned(injector, level),
                    cells.get(injector.name()),
                    nanos,
                    Judged.of(injector, generators, of)))
        .toList();
  }

  private static @Nullable Long planned(InjectorRun injector, LevelWindow level) {
    List<@Nullable Long> each =
        injector.levels().stream()
            .filter(part -> level.repeats.stream().anyMatch(window -> part.isOf(window.info)))
            .map(InjectorLevel::planned)
            .toList();
    return level.joined().planned() == null || each.isEmpty() || each.contains(null)
        ? null
        : (Long) each.stream().mapToLong(part -> part).sum();
  }

  InjectorFigures pooled(InjectorRun injector, long windowNanos, List<LevelFigures> stages) {
    Cell all =
        fold.byKey(Grouping.INJECTOR, part -> true)
            .getOrDefault(injector.name(), new Cell(Cell.Detail.INJECTOR));
    return figures(
        injector,
        injector.planned(),
        all,
        windowNanos,
        stages.stream().flatMap(level -> Judged.of(injector, level.generators(), level.figures())));
  }

  private static InjectorFigures figures(
      InjectorRun injector,
      @Nullable Long planned,
      Cell cell,
      long windowNanos,
      Stream<Judged> judged) {
    double seconds = windowNanos / 1e9;
    List<Judged> all = judged.toList();
    List<GeneratorHealth> health = all.stream().map(Judged::health).toList();
    return new InjectorFigures(
        injector.name(),
        planned,
        cell.count(Amount.STARTED),
        cell.count(Amount.ENDED),
        cell.count(Amount.OK),
        cell.count(Amount.FAILED),
        windowNanos > 0 ? (Double) (cell.of(Amount.COMPLETED) / seconds) : null,
        windowNanos > 0 ? (Double) (cell.of(Amount.TOKENS) / seconds) : null,
        cell.values(Metric.TTFT_MS).distribution(),
        cell.lagMs.distribution(),
        health.stream().map(GeneratorHealth::lagMaxMs).max(Comparator.naturalOrder()).orElse(null),
        mean(health, GeneratorHealth::own),
        mean(health, GeneratorHealth::idle),
        all.stream().map(Judged::verdict).max(Comparator.naturalOrder()).orElse(null));
  }

  private static @Nullable Double mean(
      List<GeneratorHealth> health, Function<GeneratorHealth, @Nullable Double> share) {
    Moments mean = new Moments();
    health.stream().map(share).filter(Objects::nonNull).forEach(value -> mean.add(value, 1));
    return mean.count() == 0 ? null : (Double) mean.mean();
  }
}
