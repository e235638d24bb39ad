package io.github.gatlingllm.figures.merge;

import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.Connections;
import io.github.gatlingllm.record.RunInfo.InjectorRun;
import io.github.gatlingllm.record.RunInfo.PromptRepeats;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Joins the runs of the injectors of a load test: generators that loaded the same servers at the
 * same time, each with its part of the load. Their clocks must agree within a small part of a
 * measure window.
 */
final class InjectorJoin {

  /** Settings that differ between injectors by design. */
  private static final Set<String> OF_ONE_INJECTOR =
      Set.of("injector", "seed", "seedOfTheUnseeded", "promptsNotExact", "results");

  private final List<RunInfo> runs;
  private final LevelJoin levels;
  private final RunInfo joined;

  private static String slo(RunInfo run) {
    return run.slo().isEmpty() ? "none" : run.slo() + " at " + run.sloPercentile() + " %";
  }

  private InjectorJoin(String id, List<RunInfo> given, @Nullable Integer expected) {
    this.runs = given;
    refuseDuplicates();
    Integer count = count(expected);
    requireSame("simulation", RunInfo::simulation);
    requireSame("SLO", InjectorJoin::slo);
    requireSame("SLO rule", RunInfo::sloRule);
    requireSame("SLO by request", RunInfo::sloByRequest);
    requireSame("SLO percentile by request", RunInfo::sloHeldByRequest);
    requireSame("SLO by target", RunInfo::sloByTarget);
    this.levels = new LevelJoin(runs);
    this.joined = join(id).injectors(injectors(), count);
  }

  /**
   * Joins runs whose ends and load levels are known.
   *
   * @param id of the joined run
   * @param expected number of injectors of the load test; null if not known
   * @throws IllegalArgumentException with a one-line message, if the runs are not of one load test
   */
  static InjectorJoin of(String id, List<RunInfo> runs, @Nullable Integer expected) {
    return new InjectorJoin(id, List.copyOf(runs), expected);
  }

  /** The joined run. */
  RunInfo info() {
    return joined;
  }

  /** Whether the {@code i}-th run planned that request of its in a measure window. */
  boolean isOfPlan(int i, RequestRecord record) {
    return LevelJoin.isOfPlan(runs.get(i), record);
  }

  /** The record with its phase in the joined run. */
  RequestRecord placed(RequestRecord record) {
    return levels.placed(record);
  }

  private void refuseDuplicates() {
    Set<List<String>> seen = new HashSet<>();
    for (RunInfo run : runs) {
      if (!seen.add(List.of(run.id(), run.injector()))) {
        throw new IllegalArgumentException(
            "run %s of injector %s was given twice; name each run once"
                .formatted(run.id(), run.injector()));
      }
    }
  }

  /** Number of injectors of the load test, by their shares, otherwise by the caller. */
  private @Nullable Integer count(@Nullable Integer expected) {
    Map<InjectorShare, RunInfo> seen = new HashMap<>();
    Integer count = expected;
    for (RunInfo run : runs) {
      InjectorShare share = run.share();
      RunInfo other = share == null ? null : seen.put(share, run);
      if (other != null) {
        throw new IllegalArgumentException(
            "runs %s and %s both have share %s; expected each share once"
                .formatted(other.id(), run.id(), share));
      }
      if (share != null && count != null && count != share.count()) {
        throw new IllegalArgumentException(
            "run %s has share %s, expected one of %s; name the runs of one load test, and with"
                    .formatted(run.id(), share, count)
                + " --expect how many injectors it had");
      }
      count = share == null ? count : (Integer) share.count();
    }
    if (count != null && count < runs.size()) {
      throw new IllegalArgumentException(
          "%s runs were given, expected at most %s; name each injector's run once"
              .formatted(runs.size(), count));
    }
    return count;
  }

  private void requireSame(String what, Function<RunInfo, Object> of) {
    Object first = of.apply(runs.get(0));
    for (RunInfo run : runs) {
      if (!first.equals(of.apply(run))) {
        throw new IllegalArgumentException(
            "%s of %s is '%s', of %s '%s'; injectors of one load test have the same"
                .formatted(what, runs.get(0).id(), first, run.id(), of.apply(run)));
      }
    }
  }

  private RunInfo join(String id) {
    long start = runs.stream().mapToLong(RunInfo::startUnixNanos).min().orElseThrow();
    long end =
        runs.stream().map(RunInfo::endUnixNanos).mapToLong(InjectorJoin::known).max().orElseThrow();
    boolean complete = runs.stream().allMatch(run -> run.state() == RunInfo.State.COMPLETE);
    RunInfo first = runs.get(0);
    Set<String> injectors = new LinkedHashSet<>(runs.stream().map(RunInfo::injector).toList());
    return RunInfo.started(id, first.simulation(), String.join(",", injectors), start)
        .ended(end, complete ? RunInfo.State.COMPLETE : RunInfo.State.INTERRUPTED)
        .seed(runs.stream().map(RunInfo::seed).distinct().count() == 1 ? first.seed() : (Long) null)
        .versions(distinct(RunInfo::versions))
        .machines(merged(RunInfo::machines, (one, other) -> other))
        .config(distinct(RunInfo::config))
        .config(
            "merged from",
            String.join(", ", runs.stream().map(r -> r.id() + " (" + r.injector() + ")").toList()))
        .workload(distinct(RunInfo::workload))
        .slo(first.judge(), first.sloByTarget())
        .targets(merged(RunInfo::targets, TargetFacts::and))
        .connections(merged(RunInfo::connections, Connections::and))
        .report(runs.stream().map(RunInfo::reportOptions).reduce(ReportOptions::and).orElseThrow())
        .dropped(runs.stream().mapToLong(RunInfo::dropped).sum())
        .planned(sum(RunInfo::planned))
        .started(sum(RunInfo::started))
        .notSent(new TreeMap<>(merged(RunInfo::notSent, Long::sum)))
        .prompts(prompts())
        .stages(levels.levels())
        .conclusions(runs.stream().flatMap(run -> run.conclusions().stream()).distinct().toList())
        .assertions(runs.stream().flatMap(run -> run.assertions().stream()).distinct().toList());
  }

  /** The entries of all runs; values of the same name are combined. */
  private <T> Map<String, T> merged(Function<RunInfo, Map<String, T>> of, BinaryOperator<T> and) {
    Map<String, T> all = new LinkedHashMap<>();
    runs.forEach(run -> of.apply(run).forEach((name, value) -> all.merge(name, value, and)));
    return all;
  }

  private static long known(@Nullable Long end) {
    return Objects.requireNonNull(end, "the end of the run");
  }

  private @Nullable Long sum(Function<RunInfo, @Nullable Long> of) {
    long sum = 0;
    for (RunInfo run : runs) {
      Long part = of.apply(run);
      if (part == null) {
        return null;
      }
      sum += part;
    }
    return sum;
  }

  private @Nullable PromptRepeats prompts() {
    PromptRepeats sum = new PromptRepeats(0, 0);
    for (RunInfo run : runs) {
      PromptRepeats own = run.prompts();
      if (own == null) {
        return null;
      }
      sum = sum.and(own);
    }
    return sum;
  }

  /** The entries of all runs; different values of the same name are joined by commas. */
  private Map<String, String> distinct(Function<RunInfo, Map<String, String>> of) {
    Map<String, Set<String>> values = new LinkedHashMap<>();
    for (RunInfo run : runs) {
      of.apply(run)
          .forEach((key, value) -> values.computeIfAbsent(key, k -> new TreeSet<>()).add(value));
    }
    Map<String, String> all = new LinkedHashMap<>();
    values.forEach((key, different) -> all.put(key, String.join(",", different)));
    return Collections.unmodifiableMap(all);
  }

  /** The injectors, before their records are read. */
  private List<InjectorRun> injectors() {
    List<Map<String, String>> different = different();
    List<InjectorRun> all = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      RunInfo run = runs.get(i);
      all.add(
          new InjectorRun(
              run.injector(),
              run.id(),
              run.share(),
              run.state(),
              run.startUnixNanos(),
              run.endUnixNanos(),
              LevelInfo.planned(run.stages()),
              0,
              run.started(),
              0,
              run.dropped(),
              run.stages().stream().map(levels::part).toList(),
              different.get(i)));
    }
    return all;
  }

  /** For each run the settings and versions that are not the same in all runs. */
  private List<Map<String, String>> different() {
    List<Map<String, String>> settings = runs.stream().map(InjectorJoin::settings).toList();
    Set<String> names = new HashSet<>();
    settings.forEach(of -> names.addAll(of.keySet()));
    names.removeIf(name -> settings.stream().map(of -> of.get(name)).distinct().count() == 1);
    settings.forEach(of -> of.keySet().retainAll(names));
    return settings;
  }

  /** Settings and versions that should be the same in all runs. */
  private static Map<String, String> settings(RunInfo run) {
    Map<String, String> all = new TreeMap<>(run.config());
    all.keySet().removeIf(key -> key.contains(" ") || OF_ONE_INJECTOR.contains(key));
    run.versions().forEach(all::putIfAbsent);
    return all;
  }

  /** Remarks for the user, a line each. */
  List<String> remarks() {
    List<String> remarks = new ArrayList<>();
    levels
        .measured()
        .forEach(
            (level, common) ->
                remarks.add(
                    String.format(
                        Locale.ROOT,
                        common.isByPlan()
                            ? "level %s: measured in the %.1f s that the plan of all its injectors"
                                + " has"
                            : "level %s: measured in the %.1f s that all its injectors share",
                        level,
                        common.seconds())));
    for (LevelInfo stage : joined.stages()) {
      LevelJoin.Key key = LevelJoin.Key.of(stage);
      long having = levels.having(key);
      if (having < runs.size()) {
        remarks.add(
            "level %s: only %s of %s injectors have it".formatted(key, having, runs.size()));
      }
    }
    if (joined.seed() != null
        && runs.size() > 1
        && runs.stream().allMatch(run -> run.share() == null)) {
      remarks.add(
          "all injectors have seed "
              + joined.seed()
              + ": they sent the same prompts at the same offsets; give each its own");
    }
    return remarks;
  }
}
