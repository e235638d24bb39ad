package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StopRule;
import java.util.List;
import java.util.stream.Stream;

/**
 * DSL for a sweep that ends early: no further load level is run after a level that breaks one of
 * the rules. The report names the rule and the figure that broke it.
 */
public final class StoppedSweep implements LoadProfile {
  private final LoadPlan.Sweep levels;
  private final List<StopRule> rules;
  private final LoadPlan.Sweep plan;

  private StoppedSweep(LoadPlan.Sweep levels, List<StopRule> rules) {
    this.levels = levels;
    this.rules = rules;
    this.plan = levels.stopWhen(rules);
  }

  static StoppedSweep of(LoadPlan.Sweep levels, StopRule... rules) {
    return checked(() -> new StoppedSweep(levels, List.of(rules)));
  }

  /** Adds rules; a level that breaks any of them ends the sweep. */
  public StoppedSweep stopWhen(StopRule... more) {
    return new StoppedSweep(levels, Stream.concat(rules.stream(), Stream.of(more)).toList());
  }

  /** For internal use only: the load levels and the rules. */
  @Override
  public LoadPlan plan() {
    return plan;
  }
}
