package io.github.gatlingllm.simulations;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Metric.Unit;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Assertion.Condition;
import io.github.gatlingllm.record.Objectives.Assertion.Scope;
import io.github.gatlingllm.record.ProcessSetting.DurationText;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.workload.LengthDistribution;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Objectives and build gates: their text, and the names that they can refer to. */
final class Goals {

  private static final Pattern FORM =
      Pattern.compile(
          "(?:([^<>]+):)?\\s*([A-Za-z0-9_.]+)\\s*(<=|>=|<|>|=)"
              + "\\s*(\\d{1,12}(?:\\.\\d{1,9})?)\\s*("
              + DurationText.UNITS
              + "|%|/s)?");

  /**
   * Parses an assertion such as {@code c=8:ttft.p99<200ms} or {@code goodput>=95%}; times without a
   * unit are milliseconds. {@link Names} decides what a name before the colon is.
   */
  static Assertion assertion(String text) {
    if (text.strip().equals("valid")) {
      return Assertion.VALID;
    }
    Matcher form = FORM.matcher(text.strip());
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "'" + text.strip() + "' is no assertion; expected e.g. ttft.p99<200ms or valid");
    }
    String unit = form.group(5) == null ? "" : form.group(5);
    Figure figure = figure(form.group(2), unit);
    double value = value(figure, new BigDecimal(form.group(4)), unit);
    String stage = form.group(1);
    return new Assertion(
        null,
        stage == null ? Scope.GLOBAL : Scope.STAGE,
        stage == null ? null : stage.strip(),
        figure.name(),
        condition(form.group(3)),
        List.of(value));
  }

  private static Condition condition(String typed) {
    String sign = typed.replace("<=", "≤").replace(">=", "≥");
    return Stream.of(Condition.values())
        .filter(c -> c.sign().equals(sign))
        .findFirst()
        .orElseThrow();
  }

  /** The unit selects the count, the share or the rate of figures with the same name. */
  private static Figure figure(String name, String unit) {
    if (name.equals("goodput") && unit.equals("/s")) {
      return Figure.parse("goodput.requests_per_s");
    }
    if (name.equals("goodput") && !unit.equals("%")) {
      throw new IllegalArgumentException(
          "goodput needs a unit; expected a share such as goodput>=95%, or goodput>=20/s");
    }
    Figure figure = Figure.parse(name);
    boolean share = figure.unit() == Unit.PERCENT && !name.equals(figure.name());
    return share && unit.isEmpty() ? Figure.parse(name + ".count") : figure;
  }

  private static double value(Figure figure, BigDecimal number, String unit) {
    String allowed =
        switch (figure.unit()) {
          case MILLIS -> "us, ms, s, m or h";
          case PERCENT -> "%";
          case REQUESTS_PER_S, INPUTS_PER_S, TOKENS_PER_S -> "/s";
          case TOKENS, WATTS, TOKENS_PER_J, NUMBER -> "a plain number";
        };
    boolean isTime = !unit.isEmpty() && !unit.equals("%") && !unit.equals("/s");
    if (!unit.isEmpty() && !unit.equals(allowed) && !(isTime && figure.unit() == Unit.MILLIS)) {
      throw new IllegalArgumentException(
          "'%s' is no unit of %s; expected %s".formatted(unit, figure.name(), allowed));
    }
    return isTime
        ? number
            .multiply(BigDecimal.valueOf(DurationText.unitNanos(unit)))
            .movePointLeft(6)
            .doubleValue()
        : number.doubleValue();
  }

  /** The assertion on what a name stands for. */
  static Assertion about(
      Assertion assertion, @Nullable String target, Scope scope, @Nullable String name) {
    return new Assertion(
        target, scope, name, assertion.figure(), assertion.condition(), assertion.values());
  }

  private Goals() {}

  /** The objectives of the setting {@code slo}: {@code ttft<200ms,C:ttft<1s,vLLM:e2e<5s}. */
  record Slos(Slo all, Map<String, Slo> named) {

    static final Slos NONE = new Slos(Slo.NONE, Map.of());

    /** Parses objectives; a name ends at the last colon before the limit. */
    static Slos parse(String text) {
      Map<String, List<String>> parts = new LinkedHashMap<>();
      for (String part : text.split(",", -1)) {
        int colon = part.substring(0, Math.max(0, part.indexOf('<'))).lastIndexOf(':');
        String name = colon < 0 ? "" : part.substring(0, colon).strip();
        parts.computeIfAbsent(name, n -> new ArrayList<>()).add(part.substring(colon + 1));
      }
      Map<String, Slo> slos = new LinkedHashMap<>();
      parts.forEach((name, limits) -> slos.put(name, Slo.parse(String.join(",", limits))));
      Slo all = slos.remove("");
      return new Slos(all == null ? Slo.NONE : all, slos);
    }

    Slos each(UnaryOperator<Slo> change) {
      Map<String, Slo> changed = new LinkedHashMap<>(named);
      changed.replaceAll((name, slo) -> change.apply(slo));
      return new Slos(change.apply(all), changed);
    }

    /** The objectives of a target's requests, except requests with their own. */
    Slo of(String target) {
      return named.getOrDefault(target, all);
    }

    boolean isEmpty() {
      return all.isEmpty() && named.isEmpty();
    }

    @Override
    public String toString() {
      Stream<String> own =
          named.entrySet().stream()
              .flatMap(
                  each -> each.getValue().objectives().stream().map(o -> each.getKey() + ":" + o));
      Stream<String> ofAll = all.isEmpty() ? Stream.empty() : Stream.of(all.toString());
      return Stream.concat(ofAll, own).collect(Collectors.joining(","));
    }
  }

  /** The names that objectives and build gates can refer to. */
  record Names(
      Settings settings,
      List<String> targets,
      List<String> stages,
      boolean anyStage,
      Set<String> requests) {

    static Names of(Settings settings, List<Target> targets, PlanText load, Api api) {
      Set<String> requests = new LinkedHashSet<>();
      Stream.of(Setting.SCENARIO, Setting.MIX)
          .flatMap(known -> settings.get(known).stream())
          .forEach(known -> requests.add(known.scenario().name()));
      Grid.pairs(settings).forEach(pair -> requests.add(pair.name()));
      LengthDistribution.Pairs drawn = settings.get(Setting.LENGTHS);
      if (drawn != null && drawn.pairs().size() > 1) {
        drawn.pairs().forEach(pair -> requests.add(pair.name()));
      }
      if (requests.isEmpty()) {
        Stream.concat(Stream.of(api), targets.stream().map(target -> target.api()))
            .forEach(each -> requests.add(each.requestName()));
      }
      return new Names(
          settings,
          Target.labels(targets),
          load.levels().stream().map(LoadLevel::label).toList(),
          load.isSearch(),
          requests);
    }

    void check(Slos slo) {
      for (String name : slo.named().keySet()) {
        if (!requests.contains(name) && !targets.contains(name)) {
          throw unknown(Setting.SLO, "request and no target", name, List.of(requests, targets));
        }
      }
    }

    /** Resolves the name of each assertion to a load level, a request name or a target. */
    List<Assertion> resolve(List<Assertion> assertions) {
      return assertions.stream()
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
          ? Goals.about(assertion, target, Scope.GLOBAL, null)
          : about(assertion, target, name.substring(target.length() + 1).strip());
    }

    private Assertion about(Assertion assertion, @Nullable String target, String name) {
      if (requests.contains(name)) {
        return Goals.about(assertion, target, Scope.REQUEST, name);
      }
      if (stages.contains(name) || anyStage) {
        return Goals.about(assertion, target, Scope.STAGE, name);
      }
      throw unknown(Setting.ASSERT, "load level", name, List.of(stages, requests, targets));
    }

    private InvalidSimulation unknown(
        SettingEntry<?> setting, String what, String name, List<Collection<String>> known) {
      String names = known.stream().flatMap(Collection::stream).collect(Collectors.joining(", "));
      return settings.invalid(
          setting, "no %s is called '%s'; expected %s".formatted(what, name, names));
    }
  }
}
