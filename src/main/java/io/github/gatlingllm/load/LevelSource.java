package io.github.gatlingllm.load;

import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** Gives the levels of one run one by one. Used by one thread at a time. */
public interface LevelSource {

  /**
   * The next level.
   *
   * @param before what the level before it gave; null for the first level, and where {@link
   *     #needsResults} is false
   * @return null when there is no further one
   */
  @Nullable Level next(@Nullable LevelResult before);

  /** Whether the choice of a level depends on the results of those before. */
  boolean needsResults();

  /** What there is to say once there is no further level; null for nothing. */
  @Nullable Conclusion conclusion();

  /**
   * What a plan found.
   *
   * @param topic {@code stopped early} or {@code search}
   * @param text one line
   */
  record Conclusion(String topic, String text) {}

  /** The same levels whatever they give. */
  static LevelSource of(Iterator<Level> levels) {
    return new LevelSource() {
      @Override
      public @Nullable Level next(@Nullable LevelResult before) {
        return levels.hasNext() ? levels.next() : null;
      }

      @Override
      public boolean needsResults() {
        return false;
      }

      @Override
      public @Nullable Conclusion conclusion() {
        return null;
      }
    };
  }
}
