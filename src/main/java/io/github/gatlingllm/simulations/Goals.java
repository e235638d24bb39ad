package io.github.gatlingllm.simulations;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.Slos;
import io.github.gatlingllm.settings.Settings;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.workload.LengthDistribution;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The names that objectives and build gates can refer to. */
record Goals(
    Settings settings,
    List<String> targets,
    List<String> stages,
    boolean anyStage,
    Set<String> requests) {

  static Goals of(Settings settings, List<TargetSpec> targets, PlanText load, Api api) {
    Set<String> requests = new LinkedHashSet<>();
    Stream.of(Setting.SCENARIO, Setting.MIX)
        .flatMap(known -> settings.get(known).keySet().stream())
        .forEach(scenario -> requests.add(scenario.name()));
    GridPair.pairs(settings).forEach(pair -> requests.add(pair.name()));
    LengthDistribution.Pairs drawn = settings.get(Setting.LENGTHS);
    if (drawn != null && drawn.size() > 1) {
      requests.addAll(drawn.names());
    }
    if (requests.isEmpty()) {
      Stream.concat(Stream.of(api), targets.stream().map(target -> target.api()))
          .forEach(each -> requests.add(each.requestName()));
    }
    return new Goals(
        settings,
        TargetSpec.labels(targets),
        load.levels().stream().map(LoadLevel::label).toList(),
        load.isSearch(),
        settings.classNames().isEmpty() ? requests : Set.copyOf(settings.classNames()));
  }

  void check(Slos slo) {
    for (String tier : slo.tiers().keySet()) {
      if (requests.contains(tier) || targets.contains(tier)) {
        throw settings.invalid(
            Setting.SLO, "tier '" + tier + "' is called like a request or a target; rename it");
      }
    }
    for (String name : slo.named().keySet()) {
      if (!requests.contains(name) && !targets.contains(name)) {
        throw unknown(Setting.SLO, "request and no target", name, List.of(requests, targets));
      }
    }
  }

  /** Resolves the name of each assertion to a load level, a request name or a target. */
  List<Assertion> resolve(Slos slo, List<Assertion> assertions) {
    return assertions.stream()
        .map(each -> each.tiered(slo.tiers().keySet()))
        .map(each -> each.name() == null ? each : resolve(each, each.name()))
        .toList();
  }

  private Assertion resolve(Assertion assertion, String name) {
    String target =
        targets.stream()
            .filter(label -> name.equals(label) || name.startsWith(label + ":"))
            .findFirst()
            .orElse(null);
    if (target == null) {
      return about(assertion, null, name);
    }
    return name.equals(target)
        ? assertion.about(target, Scope.GLOBAL, null)
        : about(assertion, target, name.substring(target.length() + 1).strip());
  }

  private Assertion about(Assertion assertion, @Nullable String target, String name) {
    if (requests.contains(name)) {
      return assertion.about(target, Scope.REQUEST, name);
    }
    if (stages.contains(name) || anyStage) {
      return assertion.about(target, Scope.STAGE, name);
    }
    throw unknown(Setting.ASSERT, "load level", name, List.of(stages, requests, targets));
  }

  private IllegalArgumentException unknown(
      Setting<?> setting, String what, String name, List<Collection<String>> known) {
    String names = known.stream().flatMap(Collection::stream).collect(Collectors.joining(", "));
    return settings.invalid(
        setting, "no %s is called '%s'; expected %s".formatted(what, name, names));
  }
}
