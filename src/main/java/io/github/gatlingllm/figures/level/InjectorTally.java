package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.GeneratorHealth;
import io.github.gatlingllm.figures.metric.LevelFigures.InjectorFigures;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.InjectorRun.LevelPart;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Counts the requests of each injector of a merged run by load level; about 60 KiB each. */
final class InjectorTally {

  private static final int MAX_CELLS = 2_000;

  private final List<InjectorRun> injectors;
  private final Set<String> names;
  private final Map<Key, Cell> cells = new HashMap<>();

  private record Key(String injector, int level) {}

  /** The health of a generator at a load level, and what it means for the figures of the level. */
  private record Judged(GeneratorHealth health, Check.Level verdict) {
    static Stream<Judged> of(InjectorRun injector, List<GeneratorHealth> all, Figures level) {
      return all.stream()
          .filter(health -> health.injector().equals(injector.name()))
          .map(health -> new Judged(health, health.verdict(level).level()));
    }
  }

  InjectorTally(List<InjectorRun> injectors) {
    this.injectors = injectors;
    names = injectors.stream().map(InjectorRun::name).collect(Collectors.toSet());
  }

  private static final class Cell extends Amounts {
    private final ValueRecorder ttftMs = new ValueRecorder(ValueRecorder.MICROS);
    private final ValueRecorder lagMs = new ValueRecorder(ValueRecorder.MICROS);

    private void add(Cell other) {
      add((Amounts) other);
      ttftMs.add(other.ttftMs);
      lagMs.add(other.lagMs);
    }
  }

  private @Nullable Cell cell(String injector, LevelTally level) {
    if (!names.contains(injector)) {
      return null;
    }
    Key key = new Key(injector, level.index);
    if (cells.size() >= MAX_CELLS && !cells.containsKey(key)) {
      return null;
    }
    return cells.computeIfAbsent(key, k -> new Cell());
  }

  /** Adds a request; only those of the phase measure count. */
  void add(RequestRecord record, LevelTally level) {
    RequestRecord.Identity id = record.identity();
    Cell cell = id.phase() == Phase.MEASURE ? cell(id.injector(), level) : null;
    if (cell == null) {
      return;
    }
    RequestRecord.Timing timing = record.timing();
    cell.started(record, null);
    if (timing.scheduledOffsetNanos() != null) {
      cell.lagMs.add(timing.startLagNanos() / 1e6);
    }
    Long ttft = record.outcome().hasFirstToken() ? timing.ttftNanos() : null;
    if (ttft != null) {
      cell.ttftMs.add(ttft / 1e6);
    }
  }

  /** Adds tokens, and requests that ended, inside the measure window. */
  void inWindow(String injector, LevelTally level, double tokens, int completed) {
    Cell cell = cell(injector, level);
    if (cell != null) {
      cell.add(Amount.TOKENS, tokens);
      cell.add(Amount.COMPLETED, completed);
    }
  }

  List<InjectorFigures> at(LevelTally level, Figures of, List<GeneratorHealth> generators) {
    List<InjectorFigures> all = new ArrayList<>();
    for (InjectorRun injector : injectors) {
      Cell cell = cells.get(new Key(injector.name(), level.index));
      if (cell != null) {
        long nanos = level.repeats.stream().mapToLong(LevelTally::nanos).sum();
        Stream<Judged> judged = Judged.of(injector, generators, of);
        all.add(figures(injector, planned(injector, level), cell, nanos, judged));
      }
    }
    return all;
  }

  private static @Nullable Long planned(InjectorRun injector, LevelTally level) {
    List<@Nullable Long> each =
        injector.levels().stream()
            .filter(part -> level.repeats.stream().anyMatch(window -> part.isOf(window.info)))
            .map(LevelPart::planned)
            .toList();
    return level.whole().planned() == null || each.isEmpty() || each.contains(null)
        ? null
        : (Long) each.stream().mapToLong(part -> part).sum();
  }

  InjectorFigures pooled(InjectorRun injector, long windowNanos, List<LevelFigures> stages) {
    Cell all = new Cell();
    cells.forEach(
        (key, cell) -> {
          if (key.injector.equals(injector.name())) {
            all.add(cell);
          }
        });
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
        cell.ttftMs.distribution(),
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
