package io.github.gatlingllm.load;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The levels of a run, in the order in which they are offered.
 *
 * @param levels at least one; no label twice, as results are named by it
 */
public record LoadPlan(List<LoadLevel> levels) implements LevelPlan {
  public LoadPlan {
    levels = List.copyOf(levels);
    if (levels.isEmpty()) {
      throw new IllegalArgumentException("The load plan has no level; expected at least one");
    }
    Set<String> labels = new HashSet<>();
    for (LoadLevel level : levels) {
      if (!labels.add(level.label())) {
        throw new IllegalArgumentException(
            "Level " + level.label() + " is there twice; name each level once");
      }
    }
  }

  @Override
  public LevelSource source() {
    return LevelSource.of(levels.iterator());
  }

  /** Null where a number of iterations bounds any level. */
  @Override
  public @Nullable Long plannedNanos() {
    long all = 0;
    for (LoadLevel level : levels) {
      Long planned = level.phases().plannedNanos();
      if (planned == null) {
        return null;
      }
      all += planned;
    }
    return all;
  }
}
