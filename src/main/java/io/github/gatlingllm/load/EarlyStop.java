package io.github.gatlingllm.load;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A sweep that ends after the first level that breaks a rule.
 *
 * @param plan the whole sweep
 * @param rules at least one
 */
public record EarlyStop(LoadPlan plan, List<StopRule> rules) implements LevelPlan {
  public EarlyStop {
    rules = List.copyOf(rules);
    if (rules.isEmpty()) {
      throw new IllegalArgumentException(
          "stopWhen() has no rule; expected e.g. stopWhen(sloBelow(50))");
    }
  }

  @Override
  public LevelSource source() {
    return new Source();
  }

  /** That of the whole sweep. */
  @Override
  public @Nullable Long plannedNanos() {
    return plan.plannedNanos();
  }

  private final class Source implements LevelSource {
    private int next;
    private @Nullable Conclusion conclusion;

    @Override
    public @Nullable Level next(@Nullable LevelResult before) {
      List<Level> levels = plan.levels();
      if (next < levels.size() && before != null) {
        for (StopRule rule : rules) {
          String broken = rule.brokenBy(before);
          if (broken != null) {
            int left = levels.size() - next;
            conclusion =
                new Conclusion(
                    "stopped early",
                    "after "
                        + before.label()
                        + ", "
                        + left
                        + (left == 1 ? " level" : " levels")
                        + " left out: "
                        + broken);
            return null;
          }
        }
      }
      return next < levels.size() ? levels.get(next++) : null;
    }

    @Override
    public boolean needsResults() {
      return true;
    }

    @Override
    public @Nullable Conclusion conclusion() {
      return conclusion;
    }
  }
}
