package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.compare.Comparison.FailCondition;
import io.github.gatlingllm.figures.compare.Comparison.Place;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Check;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.NumberText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A base and the runs that were compared with it, as the page and the texts show them. */
record ComparedRuns(Side base, List<Other> others) {

  ComparedRuns {
    others = List.copyOf(others);
  }

  record Side(String name, RunFigures figures) {}

  /** A run that is not the base. */
  record Other(Side side, Comparison comparison, List<FailCondition.Judged> judged) {

    Other {
      judged = List.copyOf(judged);
    }
  }

  /** All runs, the base first. */
  List<Side> sides() {
    List<Side> sides = new ArrayList<>();
    sides.add(base);
    others.forEach(other -> sides.add(other.side()));
    return sides;
  }

  /** What is not the same in all runs: configuration, workload, and checks that found problems. */
  List<ConfigurationDifference.Row> differences() {
    return new ConfigurationDifference(
            sides().stream().map(side -> side.figures().summary()).toList())
        .rows();
  }

  /**
   * The operating points first, then the other load levels. The pooled figures come between them,
   * or last where they mix several targets or scenarios.
   */
  List<Place> byImportance(Other other) {
    return other.comparison().places().stream()
        .sorted(
            Comparator.comparingInt(
                place ->
                    isHeadline(other, place)
                        ? 0
                        : place.stage() != null ? 2 : hasOneCurve() ? 1 : 3))
        .toList();
  }

  /** Whether the part is unfolded: operating points, and pooled figures of one curve. */
  boolean isOpen(Other other, Place place) {
    return isHeadline(other, place) || (place.stage() == null && hasOneCurve());
  }

  private boolean hasOneCurve() {
    return base.figures.summary().curves().size() < 2;
  }

  /** Whether this is an operating point of the base; without any, whether it is the pooled one. */
  boolean isHeadline(Other other, Place place) {
    List<Place> places = other.comparison().places();
    boolean quotesOne = places.stream().anyMatch(this::isOperatingPoint);
    return quotesOne ? isOperatingPoint(place) : place.equals(places.get(0));
  }

  private boolean isOperatingPoint(Place place) {
    return base.figures.summary().curves().stream()
        .map(Summary.Curve::operatingPoint)
        .anyMatch(
            at ->
                at.stage().equals(place.stage())
                    && (place.target() == null || at.target().equals(place.target()))
                    && (place.scenario() == null || place.scenario().equals(at.scenario())));
  }

  /** Whether any condition failed. */
  boolean hasFailed() {
    return others.stream()
        .flatMap(other -> other.judged().stream())
        .anyMatch(FailCondition.Judged::hasFailed);
  }

  /** Display names of runs: the names of their folders if these differ, else the whole paths. */
  static List<String> names(List<Path> runs) {
    List<String> names = runs.stream().map(run -> last(run)).toList();
    return names.stream().distinct().count() == names.size()
        ? names
        : runs.stream().map(Path::toString).toList();
  }

  private static String last(Path run) {
    Path name = run.toAbsolutePath().normalize().getFileName();
    return name == null ? run.toString() : name.toString();
  }

  /** What is not the same in all runs and may explain why figures differ. */
  static final class ConfigurationDifference {

    /** Mean lengths that differ by a smaller part come from the same workload. */
    private static final double SAME_LENGTH = 0.01;

    private final List<Summary> runs;
    private final List<Row> rows = new ArrayList<>();

    record Row(String name, List<String> values) {}

    private ConfigurationDifference(List<Summary> runs) {
      this.runs = runs;
    }

    private List<Row> rows() {
      add("simulation", s -> String.valueOf(s.run().simulation()));
      add("state", s -> s.run().state());
      add("model", s -> names(s.workload().models()));
      add("endpoint", s -> names(s.workload().endpoints()));
      add("API", s -> names(s.workload().apis()));
      add("scenario", s -> names(s.workload().scenarios()));
      add("levels", ConfigurationDifference::levels);
      add("SLO", s -> slo(s.slo()));
      lengths("prompt tokens", s -> s.workload().promptTokens());
      lengths("output tokens", s -> s.workload().outputTokens());
      add("injectors", s -> String.join(", ", s.run().injectors()));
      add("seed", s -> s.run().seed() == null ? "" : s.run().seed().toString());
      maps("", Summary::config);
      maps("version of ", s -> s.run().versions());
      add("validity", ConfigurationDifference::complaints);
      return List.copyOf(rows);
    }

    private static String slo(Summary.@Nullable SloTable slo) {
      return slo == null ? "" : slo.text() + " at " + slo.percentile() + " % (" + slo.rule() + ")";
    }

    private void maps(String prefix, Function<Summary, Map<String, String>> of) {
      TreeSet<String> keys = new TreeSet<>();
      runs.forEach(run -> keys.addAll(of.apply(run).keySet()));
      for (String key : keys) {
        add(prefix + key, run -> of.apply(run).getOrDefault(key, ""));
      }
    }

    private void add(String name, Function<Summary, String> of) {
      List<String> values = runs.stream().map(of).toList();
      if (values.stream().distinct().count() > 1
          && rows.stream().noneMatch(r -> r.name.equals(name))) {
        rows.add(
            new Row(name, values.stream().map(v -> v.isEmpty() ? NumberText.ABSENT : v).toList()));
      }
    }

    private void lengths(String name, Function<Summary, Distribution> of) {
      double least = Double.MAX_VALUE;
      double most = 0;
      boolean isKnown = true;
      for (Summary run : runs) {
        Double mean = of.apply(run).mean();
        isKnown &= mean != null;
        least = mean == null ? least : Math.min(least, mean);
        most = mean == null ? most : Math.max(most, mean);
      }
      if (!isKnown || most - least > SAME_LENGTH * most) {
        add(name, run -> RunText.lengths(of.apply(run)));
      }
    }

    private static String levels(Summary summary) {
      Map<String, String> byTarget = new LinkedHashMap<>();
      summary.stages().forEach(s -> byTarget.merge(s.target(), s.label(), (a, b) -> a + " " + b));
      return byTarget.size() == 1
          ? byTarget.values().iterator().next()
          : byTarget.entrySet().stream()
              .map(e -> e.getKey() + ": " + e.getValue())
              .collect(Collectors.joining("; "));
    }

    private static String complaints(Summary summary) {
      return summary.checks().stream()
          .filter(check -> check.level() != Check.Level.OK)
          .map(check -> check.id() + " (" + check.level().key() + ")")
          .collect(Collectors.joining(", "));
    }

    private static String names(Map<String, Long> counts) {
      return counts.keySet().stream().sorted().collect(Collectors.joining(", "));
    }
  }
}
