package io.github.gatlingllm.load;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A sweep that ends with the first level that breaks a rule.
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
    public @Nullable LoadLevel next(@Nullable LevelResult before) {
      List<LoadLevel> levels = plan.levels();
      if (before != null && (before.cut() || next < levels.size())) {
        for (StopRule rule : rules) {
          String broken = rule.brokenBy(before);
          if (broken != null) {
            conclusion = stopped(before, levels.size() - next, broken);
            return null;
          }
        }
      }
      return next < levels.size() ? levels.get(next++) : null;
    }

    private static Conclusion stopped(LevelResult level, int left, String broken) {
      String leftOut =
          left == 0 ? "" : ", " + left + (left == 1 ? " level" : " levels") + " left out";
      return new Conclusion(
          "stopped early",
          (level.cut() ? "during " : "after ") + level.label() + leftOut + ": " + broken,
          !level.cut(),
          null,
          null);
    }

    @Override
    public @Nullable Long mostFailures() {
      return rules.stream()
          .map(StopRule::mostFailures)
          .filter(Objects::nonNull)
          .min(Comparator.naturalOrder())
          .orElse(null);
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
