package io.github.gatlingllm.record;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
}
