package io.github.gatlingllm.load;

import java.util.Iterator;
import java.util.PrimitiveIterator;
import org.jspecify.annotations.Nullable;

/**
 * One line of an arrival plan.
 *
 * @param offsetNanos since the start of its schedule
 * @param lengths of the request that is replayed; null where there is none
 */
public record Planned(long offsetNanos, @Nullable TokenLengths lengths) {

  /** The first arrivals of a process, with what it knows of each. */
  static Iterator<Planned> of(Arrivals arrivals, PrimitiveIterator.OfLong head) {
    return new Iterator<>() {
      private int index;

      @Override
      public boolean hasNext() {
        return head.hasNext();
      }

      @Override
      public Planned next() {
        return new Planned(head.nextLong(), arrivals.lengths(index++));
      }
    };
  }
}
