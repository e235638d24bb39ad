package io.github.gatlingllm.record;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
 * @param assertions conditions on figures that decide whether the build passes
 */
public record Objectives(
    String slo,
    double sloPercentile,
    Slo.Rule sloRule,
    Map<String, String> sloByRequest,
    Map<String, TargetSlo.Held> sloHeldByRequest,
    Map<String, TargetSlo> sloByTarget,
    List<Assertion> assertions) {

  /** No SLO and no assertion. */
  static final Objectives NONE =
      of(TargetSlo.of(Slo.NONE, Map.of()), Map.of(), List.<Assertion>of());

  public Objectives {
    slo = slo == null ? "" : slo;
    sloPercentile = sloPercentile == 0 ? Slo.NONE.percentile() : sloPercentile;
    sloRule = sloRule == null ? Slo.NONE.rule() : sloRule;
    sloByRequest = RunInfo.ordered(sloByRequest);
    sloHeldByRequest = RunInfo.ordered(sloHeldByRequest);
    sloByTarget = RunInfo.ordered(sloByTarget);
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
        assertions);
  }

  /** The objectives of targets that have none of their own. */
  public TargetSlo common() {
    return new TargetSlo(slo, sloPercentile, sloRule, sloByRequest, sloHeldByRequest);
  }

  /** The objectives of that target. */
  public TargetSlo of(String target) {
    TargetSlo own = sloByTarget.get(target);
    return own == null ? common() : own;
  }

  /** The same objectives with another percentile or rule; null for no other. */
  Objectives heldBy(@Nullable Double percentile, Slo.@Nullable Rule rule) {
    Map<String, TargetSlo> targets = new LinkedHashMap<>(sloByTarget);
    targets.replaceAll((label, own) -> own.heldBy(percentile, rule));
    return of(common().heldBy(percentile, rule), targets, assertions);
  }

  /**
   * The objectives of the requests to one target: one SLO for all requests, and others for requests
   * of certain names.
   *
   * @param slo the objectives as written in settings; empty if there are none
   * @param percentile share of attempted requests, in percent, at which a load level holds
   * @param rule what that share is required of; {@code requests} in files without it
   * @param byRequest objectives of the requests that have their own, by request name
   * @param heldByRequest percentile and rule of those, if different, by request name
   */
  public record TargetSlo(
      String slo,
      double percentile,
      Slo.Rule rule,
      Map<String, String> byRequest,
      Map<String, Held> heldByRequest) {

    /**
     * When an SLO holds.
     *
     * @param percentile share of attempted requests, in percent
     * @param rule what that share is required of
     */
    public record Held(double percentile, Slo.Rule rule) {
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

    /**
     * The objectives of a target.
     *
     * @param global of requests that have none of their own
     * @param byName of the others, by request name
     */
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

    /** The SLO of requests that have none of their own. */
    public Slo global() {
      return Slo.parse(slo, percentile, rule);
    }

    /** The SLO of the requests of that name. */
    public Slo of(String requestName) {
      Held held = heldByRequest.getOrDefault(requestName, new Held(percentile, rule));
      return Slo.parse(byRequest.getOrDefault(requestName, slo), held.percentile(), held.rule());
    }

    /** The prefix of the objectives of the requests of that name, if they have their own. */
    public String owner(String requestName) {
      return byRequest.containsKey(requestName) ? requestName + ": " : "";
    }
  }
}
