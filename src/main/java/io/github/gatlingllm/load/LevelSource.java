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
  @Nullable LoadLevel next(@Nullable LevelResult before);

  /** Whether the choice of a level depends on the results of those before. */
  boolean needsResults();

  /** More failed requests than this end a level at once; null for no limit. */
  default @Nullable Long mostFailures() {
    return null;
  }

  /** What there is to say once there is no further level; null for nothing. */
  @Nullable Conclusion conclusion();

  /**
   * What a plan found.
   *
   * @param topic {@code stopped early} or {@code search}
   * @param text one line
   * @param sound false where the plan could not do what it was for: a level was cut short, a search
   *     has no bracket or too few requests
   * @param value the figure behind it; null when there is none
   * @param threshold what it is judged by; null when there is none
   */
  record Conclusion(
      String topic,
      String text,
      boolean sound,
      @Nullable Double value,
      @Nullable Double threshold) {}

  /** The same levels whatever they give. */
  static LevelSource of(Iterator<LoadLevel> levels) {
    return new LevelSource() {
      @Override
      public @Nullable LoadLevel next(@Nullable LevelResult before) {
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
