package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StopRule;
import java.util.List;
import java.util.stream.Stream;

/**
 * DSL for a sweep that ends early: after a level that breaks one of its rules no further one is
 * offered. The report says which rule, and by what figure.
 *
 * <p>Immutable, so all methods return a new occurrence and leave the original unmodified.
 *
 * <pre>{@code
 * closedLoop(1, 2, 4, 8, 16).measure(60).stopWhen(sloBelow(50), errorsAbove(10)).inject(chat)
 * }</pre>
 */
public final class StoppedSweep implements LoadProfile {
  private final LoadPlan.Sweep plan;

  private StoppedSweep(LoadPlan.Sweep plan) {
    this.plan = plan;
  }

  static StoppedSweep of(LoadPlan.Sweep levels, StopRule... rules) {
    return new StoppedSweep(checked(() -> levels.stopWhen(List.of(rules))));
  }

  /** Further rules; each alone ends the sweep. */
  public StoppedSweep stopWhen(StopRule... more) {
    return new StoppedSweep(
        plan.stopWhen(Stream.concat(plan.rules().stream(), Stream.of(more)).toList()));
  }

  /** The levels and the rules. */
  @Override
  public LoadPlan plan() {
    return plan;
  }
}
