package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a run is judged by: the SLO of its requests, and assertions on its figures.
 *
 * @param slo objectives as they are written in settings; empty when there are none
 * @param sloPercentile share of attempted requests, in percent, at which a load level holds
 * @param sloRule what that share is required of
 * @param sloByRequest objectives of the requests that have their own, by request name
 * @param sloHeldByRequest percentile and rule of those, if different, by request name
 * @param sloByTarget objectives by target, if targets differ; empty if the components before apply
 *     to all targets
 * @param sloTiers objectives by tier, if the same requests are judged by several SLOs; the first is
 *     the SLO of the components before
 * @param assertions conditions on figures that decide whether the build passes
 */
public record Objectives(
    String slo,
    double sloPercentile,
    Slo.Rule sloRule,
    Map<String, String> sloByRequest,
    Map<String, TargetSlo.Held> sloHeldByRequest,
    Map<String, TargetSlo> sloByTarget,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, TargetSlo> sloTiers,
    List<Assertion> assertions) {

  static final Objectives NONE =
      of(TargetSlo.of(Slo.NONE, Map.of()), Map.of(), List.<Assertion>of());

  public Objectives {
    slo = slo == null ? "" : slo;
    sloPercentile = sloPercentile == 0 ? Slo.NONE.percentile() : sloPercentile;
    sloRule = sloRule == null ? Slo.NONE.rule() : sloRule;
    sloByRequest = RunInfo.ordered(sloByRequest);
    sloHeldByRequest = RunInfo.ordered(sloHeldByRequest);
    sloByTarget = RunInfo.ordered(sloByTarget);
    sloTiers = RunInfo.ordered(sloTiers);
    assertions = assertions == null ? List.of() : List.copyOf(assertions);
  }

  static Objectives of(TargetSlo all, Map<String, TargetSlo> byTarget, List<Assertion> assertions) {
    return new Objectives(
        all.slo(),
        all.percentile(),
        all.rule(),
        all.byRequest(),
        all.heldByRequest(),
        byTarget,
        Map.of(),
        assertions);
  }

  /** The tier whose SLO is that of the run; null without tiers. */
  public @Nullable String tier() {
    return sloTiers.isEmpty() ? null : sloTiers.keySet().iterator().next();
  }

  /** What one tier is judged by: its SLO, and the assertions on it. */
  Objectives ofTier(String tier) {
    Objectives own =
        of(
            Objects.requireNonNull(sloTiers.get(tier)),
            Map.of(),
            assertions.stream().filter(one -> tier.equals(one.tier())).toList());
    return own.sloTiers(Map.of(tier, Objects.requireNonNull(sloTiers.get(tier))));
  }

  Objectives sloTiers(Map<String, TargetSlo> byName) {
    return Components.with(this, "sloTiers", byName);
  }

  public TargetSlo common() {
    return new TargetSlo(slo, sloPercentile, sloRule, sloByRequest, sloHeldByRequest);
  }

  public TargetSlo of(String target) {
    TargetSlo own = sloByTarget.get(target);
    return own == null ? common() : own;
  }

  /** The same objectives with another percentile or rule; null for no other. */
  Objectives assertions(List<Assertion> gates) {
    return Components.with(this, "assertions", gates);
  }

  Objectives heldBy(@Nullable Double percentile, Slo.@Nullable Rule rule) {
    Map<String, TargetSlo> targets = new LinkedHashMap<>(sloByTarget);
    targets.replaceAll((label, own) -> own.heldBy(percentile, rule));
    Map<String, TargetSlo> tiers = new LinkedHashMap<>(sloTiers);
    tiers.replaceAll((name, own) -> own.heldBy(percentile, rule));
    return of(common().heldBy(percentile, rule), targets, assertions).sloTiers(tiers);
  }

  /**
   * The objectives of the requests to one target: one SLO for all requests, and others for requests
   * of certain names.
   *
   * @param rule {@code requests} in files without it
   */
  public record TargetSlo(
      String slo,
      double percentile,
      Slo.Rule rule,
      Map<String, String> byRequest,
      Map<String, Held> heldByRequest) {

    private record Held(double percentile, Slo.Rule rule) {
      private Held at(@Nullable Double otherPercentile, Slo.@Nullable Rule otherRule) {
        return new Held(
            otherPercentile == null ? percentile : otherPercentile,
            otherRule == null ? rule : otherRule);
      }
    }

    public TargetSlo {
      rule = rule == null ? Slo.Rule.REQUESTS : rule;
      byRequest = RunInfo.ordered(byRequest);
      heldByRequest = RunInfo.ordered(heldByRequest);
    }

    /** The objectives of a target: of requests with their own by name, {@code global} of others. */
    public static TargetSlo of(Slo global, Map<String, Slo> byName) {
      Map<String, String> byRequest = new TreeMap<>();
      Map<String, Held> held = new TreeMap<>();
      byName.forEach(
          (name, slo) -> {
            byRequest.put(name, slo.toString());
            if (!slo.hasSameRule(global)) {
              held.put(name, new Held(slo.percentile(), slo.rule()));
            }
          });
      return new TargetSlo(global.toString(), global.percentile(), global.rule(), byRequest, held);
    }

    /** The same objectives with another percentile or rule; null for no other. */
    TargetSlo heldBy(@Nullable Double otherPercentile, Slo.@Nullable Rule otherRule) {
      Held all = new Held(percentile, rule).at(otherPercentile, otherRule);
      Map<String, Held> each = new LinkedHashMap<>(heldByRequest);
      each.replaceAll((name, held) -> held.at(otherPercentile, otherRule));
      return new TargetSlo(slo, all.percentile, all.rule, byRequest, each);
    }

    /** The SLO of requests without a separate one. */
    public Slo global() {
      return Slo.parse(slo, percentile, rule);
    }

    public Slo of(String requestName) {
      Held held = heldByRequest.getOrDefault(requestName, new Held(percentile, rule));
      return Slo.parse(byRequest.getOrDefault(requestName, slo), held.percentile(), held.rule());
    }

    /** The prefix of the objectives of the requests of that name, if they have their own. */
    public String owner(String requestName) {
      return byRequest.containsKey(requestName) ? requestName + ": " : "";
    }
  }

  /** Counts requests by objective, and decides whether a level holds: for search and report. */
  public static final class SloCounts {

    /** If more than this share of requests is unknown, the share that met is undefined. */
    private static final double MAX_UNKNOWN = 0.01;

    private static final double ROUNDING = 1e-9;

    private final Map<Name, Counted> objectives = new LinkedHashMap<>();

    /** Requests judged by {@link Slo.Rule#REQUESTS}, all objectives together, by percentile. */
    private final Map<Double, SloCount> atOnce = new LinkedHashMap<>();

    private SloCount all = SloCount.NONE;

    private record Name(String owner, Slo.Objective objective) {
      @Override
      public String toString() {
        return owner + objective;
      }
    }

    private record Counted(Slo slo, SloCount count) {
      Counted and(Counted other) {
        return new Counted(slo, count.and(other.count));
      }
    }

    /** Adds a request; {@code owner} is the prefix of its objectives, if it has its own. */
    public void add(String owner, Slo.Judgement judgement) {
      Slo slo = judgement.slo();
      if (slo.isEmpty()) {
        return;
      }
      for (int i = 0; i < slo.objectives().size(); i++) {
        Counted one = new Counted(slo, SloCount.NONE.and(judgement.of(i)));
        objectives.merge(new Name(owner, slo.objectives().get(i)), one, Counted::and);
      }
      Boolean met = judgement.met();
      SloCount one =
          SloCount.NONE.and(
              met == null
                  ? Slo.ObjectiveResult.UNKNOWN
                  : met ? Slo.ObjectiveResult.MET : Slo.ObjectiveResult.MISSED);
      all = all.and(one);
      if (slo.rule() == Slo.Rule.REQUESTS) {
        atOnce.merge(slo.percentile(), one, SloCount::and);
      }
    }

    public void add(SloCounts other) {
      other.objectives.forEach((name, count) -> objectives.merge(name, count, Counted::and));
      other.atOnce.forEach((percent, count) -> atOnce.merge(percent, count, SloCount::and));
      all = all.and(other.all);
    }

    public boolean isEmpty() {
      return objectives.isEmpty();
    }

    public SloCount all() {
      return all;
    }

    /** The count of each objective, by its text prefixed with its owner. */
    public Map<String, SloCount> objectives() {
      Map<String, SloCount> counts = new LinkedHashMap<>();
      objectives.forEach((name, objective) -> counts.put(name.toString(), objective.count));
      return counts;
    }

    /**
     * Whether the level holds its SLO. The deciding count is the one furthest below its required
     * share, or least above it: among the objectives judged by percentiles, and the requests that
     * must meet all objectives together. Null if no request was judged.
     */
    public @Nullable Decision decide() {
      List<Decision> all = new ArrayList<>();
      objectives.forEach(
          (name, of) -> {
            if (of.slo.rule() == Slo.Rule.PERCENTILES) {
              all.add(new Decision(name.toString(), of.count, of.slo.percentile()));
            }
          });
      atOnce.forEach((percent, count) -> all.add(new Decision(null, count, percent)));
      return all.stream()
          .filter(decision -> decision.count.judged + decision.count.unknown > 0)
          .min(Comparator.comparing(Decision::rank))
          .orElse(null);
    }
  }

  /** The count that decides whether a level holds; {@code objective} is null for all together. */
  public record Decision(@Nullable String objective, SloCount count, double percent) {

    public @Nullable Boolean holds() {
      return count.holds(percent);
    }

    /** Missed first, then unknown, then the smallest margin. */
    private double rank() {
      Double share = count.share();
      double margin = share == null ? 0 : share - percent / 100;
      Boolean holds = holds();
      return margin + (holds == null ? 2 : holds ? 4 : 0);
    }
  }

  /** Requests that met or missed, and those cancelled before they could be judged. */
  public record SloCount(long judged, long met, long unknown) {

    public static final SloCount NONE = new SloCount(0, 0, 0);

    public SloCount and(Slo.ObjectiveResult verdict) {
      return switch (verdict) {
        case MET -> new SloCount(judged + 1, met + 1, unknown);
        case MISSED -> new SloCount(judged + 1, met, unknown);
        case UNKNOWN -> new SloCount(judged, met, unknown + 1);
        case ABSENT -> this;
      };
    }

    public SloCount and(SloCount other) {
      return new SloCount(judged + other.judged, met + other.met, unknown + other.unknown);
    }

    /** Whether too many requests are unknown for {@link #share}. */
    public boolean isUndefined() {
      return unknown > SloCounts.MAX_UNKNOWN * (judged + unknown);
    }

    /** met ÷ judged, 0 to 1; null if no request was judged, or too many are unknown. */
    public @Nullable Double share() {
      return judged == 0 || isUndefined() ? null : (Double) ((double) met / judged);
    }

    /**
     * Whether at least that share met; null if unknown. If too many requests are unknown, the
     * answer is false if the share would be missed even if all of them had met, and null otherwise.
     */
    public @Nullable Boolean holds(double percent) {
      Double share = share();
      if (share != null) {
        return share * 100 >= percent - SloCounts.ROUNDING;
      }
      boolean cannotHold =
          judged > 0 && (met + unknown) * 100.0 / (judged + unknown) < percent - SloCounts.ROUNDING;
      return cannotHold ? Boolean.FALSE : null;
    }
  }

  /**
   * A condition on a figure of the summary that decides whether the build passes. It is stored in
   * {@code llm/run.json}, so that a later report judges the same.
   *
   * @param tier the tier by whose SLO it judges; null for that of the run
   * @param target label of the target of the requests; null for all targets
   * @param scope which requests of that target
   * @param name the request name or the label of the load level; null if the scope has none
   * @param figure name of the figure as {@code figures.metric.Figure} knows it, e.g. {@code
   *     ttft.p99}
   * @param values what it is compared with, in the figure's unit; the number that the condition
   *     takes
   */
  public record Assertion(
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String tier,
      @Nullable String target,
      Scope scope,
      @Nullable String name,
      String figure,
      AssertedCondition condition,
      List<Double> values) {

    /** Requires that no check calls the run invalid. */
    public static final Assertion VALID =
        new Assertion(
            null, Scope.RUN, null, "invalid_checks.count", AssertedCondition.IS, List.of(0.0));

    public Assertion {
      values = List.copyOf(values);
      String needed = condition.needs(values);
      if (needed != null) {
        throw new IllegalArgumentException(
            "assertion on %s: '%s' of %s; expected %s"
                .formatted(figure, condition.key(), values, needed));
      }
    }

    /** An assertion on a figure that is independent of tiers, or by the SLO of the run. */
    public Assertion(
        @Nullable String target,
        Scope scope,
        @Nullable String name,
        String figure,
        AssertedCondition condition,
        List<Double> values) {
      this(null, target, scope, name, figure, condition, values);
    }

    /** The same of what a name stands for. */
    public Assertion about(@Nullable String whose, Scope of, @Nullable String named) {
      return new Assertion(tier, whose, of, named, figure, condition, values);
    }

    /** The same judged by the SLO of a tier. */
    public Assertion by(@Nullable String ofTier) {
      return new Assertion(ofTier, target, scope, name, figure, condition, values);
    }

    /**
     * The same with the tier, one of these, that its name begins with: {@code gold:c=8} is level
     * c=8 by the SLO of gold.
     */
    public Assertion tiered(Collection<String> tiers) {
      String[] parts = name == null ? new String[0] : name.split("\\s*:\\s*", 2);
      if (parts.length == 0 || !tiers.contains(parts[0])) {
        return this;
      }
      if (!needsSlo()) {
        throw new IllegalArgumentException(
            "%s is the same for every tier; expected goodput of '%s'".formatted(figure, parts[0]));
      }
      Assertion own = by(parts[0]);
      return parts.length > 1
          ? own.about(target, scope, parts[1])
          : own.about(target, Scope.GLOBAL, null);
    }

    /** The same assertion on the requests of one target; an assertion on the run is not changed. */
    public Assertion at(String onlyTarget) {
      return scope == Scope.RUN ? this : about(onlyTarget, scope, name);
    }

    public boolean needsSlo() {
      return figure.startsWith("goodput");
    }

    public boolean holds(double actual) {
      return condition.test.test(actual, values);
    }

    /** The condition in Gatling's words, e.g. {@code is less than 200.0}. */
    public String conditionText() {
      return condition.words
          + switch (condition) {
            case LT, LTE, GT, GTE, IS -> " " + values.get(0);
            case IN ->
                values.stream()
                    .map(String::valueOf)
                    .collect(Collectors.joining(", ", " List(", ")"));
            case BETWEEN -> " " + values.get(0) + " and " + values.get(1) + " inclusive";
            case BETWEEN_EXCLUSIVE -> " " + values.get(0) + " and " + values.get(1);
          };
    }
  }

  /** How a figure is compared: Gatling's conditions, in Gatling's words. */
  @SuppressWarnings("ImmutableEnumChecker") // functions have no state
  public enum AssertedCondition implements RunInfo.Keyed {
    LT("is less than", "<", (actual, than) -> actual < than.get(0)),
    LTE("is less than or equal to", "≤", (actual, than) -> actual <= than.get(0)),
    GT("is greater than", ">", (actual, than) -> actual > than.get(0)),
    GTE("is greater than or equal to", "≥", (actual, than) -> actual >= than.get(0)),
    IS("is", "=", (actual, than) -> actual.doubleValue() == than.get(0)),
    IN("is in", "one of", (actual, some) -> some.contains(actual)),
    BETWEEN("is between", "from", (actual, both) -> actual >= both.get(0) && actual <= both.get(1)),
    BETWEEN_EXCLUSIVE(
        "is between", "inside", (actual, both) -> actual > both.get(0) && actual < both.get(1));

    private final String words;
    private final String sign;
    private final BiPredicate<Double, List<Double>> test;

    AssertedCondition(String words, String sign, BiPredicate<Double, List<Double>> test) {
      this.words = words;
      this.sign = sign;
      this.test = test;
    }

    /** A sign or word for it, e.g. {@code ≤}. */
    public String sign() {
      return sign;
    }

    /** What is wrong with these values; null for nothing. */
    private @Nullable String needs(List<Double> values) {
      boolean areFinite = values.stream().allMatch(Double::isFinite);
      return switch (this) {
        case LT, LTE, GT, GTE, IS -> areFinite && values.size() == 1 ? null : "a finite number";
        case IN -> areFinite && !values.isEmpty() ? null : "one finite number or more";
        case BETWEEN, BETWEEN_EXCLUSIVE ->
            areFinite && values.size() == 2 && values.get(0) <= values.get(1)
                ? null
                : "two finite numbers, the smaller one first";
      };
    }
  }

  public enum Scope implements RunInfo.Keyed {
    /** None: it covers the entire run, with all its targets. */
    RUN,
    GLOBAL,
    REQUEST,
    STAGE,
    /** The requests of each name, separately. */
    EVERY_REQUEST
  }
}
