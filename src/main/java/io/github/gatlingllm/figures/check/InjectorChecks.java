package io.github.gatlingllm.figures.check;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.InjectorRun.InjectorLevel;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Checks of merged runs: did all injectors take part, in time and with the same settings? */
final class InjectorChecks {

  private static final int MAX_NAMED = 5;

  private InjectorChecks() {}

  static @Nullable Finding injectors(CheckInput in) {
    List<InjectorRun> injectors = in.info().injectors();
    if (injectors.isEmpty()) {
      return null;
    }
    List<Sentence> found = new ArrayList<>();
    int missing = missing(in.info());
    if (missing > 0) {
      found.add(missing(in.info(), missing));
    }
    injectors.stream()
        .filter(injector -> !injector.isComplete())
        .forEach(injector -> found.addAll(died(injector, in.info())));
    return found.isEmpty()
        ? Finding.of(0.0, "injectors.found", injectors.size())
        : new Finding(
            (double) missing + injectors.stream().filter(one -> !one.isComplete()).count(),
            null,
            null,
            found,
            null);
  }

  private static int missing(RunInfo info) {
    Integer expected = info.injectorsExpected();
    return expected == null ? 0 : Math.max(0, expected - info.injectors().size());
  }

  private static Sentence missing(RunInfo info, int missing) {
    int expected = requireNonNull(info.injectorsExpected());
    Set<Integer> shares =
        info.injectors().stream()
            .map(InjectorRun::share)
            .filter(share -> share != null)
            .map(InjectorShare::index)
            .collect(Collectors.toCollection(TreeSet::new));
    List<String> absent = new ArrayList<>();
    for (int index = 1; index <= expected && shares.size() == info.injectors().size(); index++) {
      if (!shares.contains(index)) {
        absent.add(new InjectorShare(index, expected).toString());
      }
    }
    double planned = missing * planned(info, info.stages());
    return Sentence.of("injectors.missing", expected, missing, absent, Math.round(planned));
  }

  /** An injector's share of the requests of levels, by the mean of others, as shares are equal. */
  private static double planned(RunInfo info, List<LevelInfo> levels) {
    double planned = 0;
    for (LevelInfo level : levels) {
      planned +=
          info.injectors().stream()
              .flatMap(other -> other.levels().stream())
              .filter(part -> part.isOf(level) && part.planned() != null)
              .mapToLong(part -> requireNonNull(part.planned()))
              .average()
              .orElse(0);
    }
    return planned;
  }

  private static List<Sentence> died(InjectorRun injector, RunInfo info) {
    Long missing = injector.missing();
    Long end = injector.endUnixNanos();
    String name = injector.name() + (injector.share() == null ? "" : " (" + injector.share() + ")");
    boolean hasBegun = injector.records() > 0 || !injector.levels().isEmpty();
    Sentence died =
        Sentence.of(
            "injectors.died",
            name,
            hasBegun,
            injector.isDead(),
            end == null ? null : (Double) ((end - info.loadStartUnixNanos()) / 1e9),
            missing != null,
            missing,
            injector.planned(),
            injector.records());
    List<LevelInfo> levels =
        info.stages().stream()
            .filter(level -> injector.levels().stream().noneMatch(own -> own.isOf(level)))
            .toList();
    double planned = planned(info, levels);
    List<String> labels = levels.stream().map(LevelInfo::label).distinct().toList();
    return levels.isEmpty()
        ? List.of(died)
        : List.of(died, Sentence.of("injectors.never_begun", labels, Math.round(planned)));
  }

  static @Nullable Finding settings(CheckInput in) {
    List<InjectorRun> injectors = in.info().injectors();
    if (injectors.size() < 2) {
      return null;
    }
    Set<String> names = new TreeSet<>();
    injectors.forEach(injector -> names.addAll(injector.settings().keySet()));
    String different =
        names.stream()
            .limit(MAX_NAMED)
            .map(name -> name + " is " + values(name, injectors))
            .collect(Collectors.joining("; "));
    return Finding.of(
        (double) names.size(),
        "injector_settings.found",
        names.size(),
        different,
        names.stream().skip(MAX_NAMED).toList());
  }

  private static String values(String name, List<InjectorRun> injectors) {
    return injectors.stream()
        .collect(
            Collectors.groupingBy(
                injector -> injector.settings().getOrDefault(name, "not set"),
                TreeMap::new,
                Collectors.mapping(InjectorRun::name, Collectors.toList())))
        .entrySet()
        .stream()
        .map(of -> of.getKey() + " at " + NumberText.some(of.getValue()))
        .collect(Collectors.joining(", "));
  }

  private record Start(InjectorRun injector, String level, long lateNanos) {}

  /** The injector that began a level farthest from its planned start. */
  static @Nullable Finding starts(CheckInput in) {
    List<Start> planned = new ArrayList<>();
    for (InjectorRun injector : in.info().injectors()) {
      for (InjectorLevel level : injector.levels()) {
        if (level.lateNanos() != null) {
          planned.add(new Start(injector, level.label(), level.lateNanos()));
        }
      }
    }
    return CheckInput.atWorst(
        planned,
        start -> Math.abs(start.lateNanos / 1e9),
        (start, max) ->
            Finding.of(
                max,
                "injector_starts.found",
                start.injector.name(),
                start.level,
                max,
                start.lateNanos > 0));
  }
}
