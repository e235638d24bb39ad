package io.github.gatlingllm.load;

import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;
import java.util.function.LongSupplier;

/** Sequences of arrival offsets. */
final class Offsets {
  private Offsets() {}

  /** Draws for ever. */
  static PrimitiveIterator.OfLong endless(LongSupplier draw) {
    return new PrimitiveIterator.OfLong() {
      @Override
      public boolean hasNext() {
        return true;
      }

      @Override
      public long nextLong() {
        return draw.getAsLong();
      }
    };
  }

  /**
   * The head of a sequence.
   *
   * @param untilNanos offsets from here on are left out
   * @param countedFromNanos offsets before this one do not count
   * @param count ends with the so-manieth counted one
   */
  static PrimitiveIterator.OfLong head(
      PrimitiveIterator.OfLong offsets, long untilNanos, long countedFromNanos, long count) {
    return new Head(offsets, untilNanos, countedFromNanos, count);
  }

  private static final class Head implements PrimitiveIterator.OfLong {
    private final PrimitiveIterator.OfLong offsets;
    private final long untilNanos;
    private final long countedFromNanos;
    private long left;
    private long next;
    private boolean drawn;
    private boolean over;

    private Head(
        PrimitiveIterator.OfLong offsets, long untilNanos, long countedFromNanos, long count) {
      this.offsets = offsets;
      this.untilNanos = untilNanos;
      this.countedFromNanos = countedFromNanos;
      this.left = count;
    }

    @Override
    public boolean hasNext() {
      if (!drawn && !over) {
        over = left == 0 || !offsets.hasNext();
        if (!over) {
          next = offsets.nextLong();
          over = next >= untilNanos;
          drawn = !over;
        }
      }
      return drawn;
    }

    @Override
    public long nextLong() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      drawn = false;
      if (next >= countedFromNanos) {
        left--;
      }
      return next;
    }
  }
}
