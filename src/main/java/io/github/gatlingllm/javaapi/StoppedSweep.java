package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.load.EarlyStop;
import io.github.gatlingllm.load.LevelPlan;
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
  private final LoadPlan levels;
  private final List<StopRule> rules;

  private StoppedSweep(LoadPlan levels, List<StopRule> rules) {
    this.levels = levels;
    this.rules = rules;
  }

  static StoppedSweep of(LoadPlan levels, StopRule... rules) {
    StoppedSweep sweep = new StoppedSweep(levels, List.of(rules));
    sweep.plan();
    return sweep;
  }

  /** Further rules; each alone ends the sweep. */
  public StoppedSweep stopWhen(StopRule... more) {
    return new StoppedSweep(levels, Stream.concat(rules.stream(), Stream.of(more)).toList());
  }

  /** The levels and the rules. */
  @Override
  public LevelPlan plan() {
    return new EarlyStop(levels, rules);
  }
}
