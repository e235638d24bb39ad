package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.count;
import static io.github.gatlingllm.figures.metric.NumberText.number;
import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.InjectorRun.LevelPart;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayList;
import java.util.LinkedHashSet;
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
    List<String> found = new ArrayList<>();
    int missing = missing(in.info());
    if (missing > 0) {
      found.add(missing(in.info(), missing));
    }
    injectors.stream()
        .filter(injector -> !injector.isComplete())
        .forEach(injector -> found.add(died(injector, in.info())));
    return Finding.of(
            (double) missing + injectors.stream().filter(one -> !one.isComplete()).count(),
            found.isEmpty()
                ? "All %s injectors finished.".formatted(count(injectors.size()))
                : String.join(" ", found))
        .level(found.isEmpty() ? Level.OK : Level.INVALID);
  }

  private static int missing(RunInfo info) {
    Integer expected = info.merged().injectorsExpected();
    return expected == null ? 0 : expected - info.injectors().size();
  }

  private static String missing(RunInfo info, int missing) {
    int expected = requireNonNull(info.merged().injectorsExpected());
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
    return "Of %s injectors %s missing%s.%s"
        .formatted(
            count(expected),
            missing == 1 ? "1 is" : count(missing) + " are",
            absent.isEmpty() ? "" : ": " + String.join(", ", absent),
            estimated(info, missing));
  }

  /** Planned requests of missing injectors by the mean of the others, as shares are equal. */
  private static String estimated(RunInfo info, int missing) {
    List<Long> planned =
        info.injectors().stream()
            .filter(InjectorRun::isComplete)
            .map(InjectorRun::planned)
            .filter(requests -> requests != null)
            .toList();
    double mean = planned.stream().mapToLong(Long::longValue).average().orElse(0);
    return mean == 0
        ? ""
        : " Judged by the plans of the others, about %s requests are missing."
            .formatted(count(Math.round(mean * missing)));
  }

  private static String died(InjectorRun injector, RunInfo info) {
    Long missing = injector.missing();
    Long end = injector.endUnixNanos();
    String name = injector.name() + (injector.share() == null ? "" : " (" + injector.share() + ")");
    boolean hasBegun = injector.records() > 0 || !injector.levels().isEmpty();
    return "%s %s%s: %s.%s"
        .formatted(
            name,
            !hasBegun ? "never started its load" : injector.isDead() ? "died" : "was interrupted",
            end == null || !hasBegun
                ? ""
                : " at "
                    + NumberText.clock((end - info.loadStartUnixNanos()) / 1e9)
                    + " of the load",
            missing == null
                ? count(injector.records()) + " requests recorded, of an unknown number planned"
                : "%s of the %s planned requests of its levels are missing"
                    .formatted(count(missing), count(requireNonNull(injector.planned()))),
            neverBegun(injector, info));
  }

  /** Levels that only other injectors have, and an estimate of its share of their requests. */
  private static String neverBegun(InjectorRun injector, RunInfo info) {
    Set<String> levels = new LinkedHashSet<>();
    double planned = 0;
    for (LevelInfo level : info.stages()) {
      if (injector.levels().stream().noneMatch(own -> own.isOf(level))) {
        levels.add(level.label());
        planned +=
            info.injectors().stream()
                .flatMap(other -> other.levels().stream())
                .filter(part -> part.isOf(level) && part.planned() != null)
                .mapToLong(part -> requireNonNull(part.planned()))
                .average()
                .orElse(0);
      }
    }
    return levels.isEmpty()
        ? ""
        : " It never started %s%s."
            .formatted(
                String.join(", ", levels),
                planned == 0
                    ? ""
                    : ": about %s requests, judged by the plans of the others"
                        .formatted(count(Math.round(planned))));
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
        names.isEmpty()
            ? "All injectors had the same settings and versions."
            : "%s %s between injectors: %s%s."
                .formatted(
                    NumberText.counted(names.size(), "setting"),
                    names.size() == 1 ? "differs" : "differ",
                    different,
                    names.size() > MAX_NAMED
                        ? "; and " + String.join(", ", names.stream().skip(MAX_NAMED).toList())
                        : ""));
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

  /** The injector that began a level farthest from its planned start. */
  static @Nullable Finding starts(CheckInput in) {
    double most = 0;
    String where = "";
    boolean isPlanned = false;
    for (InjectorRun injector : in.info().injectors()) {
      for (LevelPart level : injector.levels()) {
        isPlanned |= level.lateNanos() != null;
        double late = level.lateNanos() == null ? 0 : level.lateNanos() / 1e9;
        if (Math.abs(late) > Math.abs(most)) {
          most = late;
          where = "%s began %s".formatted(injector.name(), level.label());
        }
      }
    }
    if (!isPlanned) {
      return null;
    }
    return Finding.of(
        Math.abs(most),
        where.isEmpty()
            ? "All injectors began all levels when planned."
            : "%s %s s %s its planned start."
                .formatted(where, number(Math.abs(most)), most > 0 ? "after" : "before"));
  }
}
