package io.github.gatlingllm.record;

/** The nearest-rank percentile of n values: the ⌈p ÷ 100 × n⌉-th in ascending order. */
public final class NearestRank {

  private NearestRank() {}

  /** The rank, from 1; percent in (0, 100]. */
  public static long of(double percent, long count) {
    // As HdrHistogram does: one ulp less, so that rounding cannot reach the next rank.
    return Math.max(1, (long) Math.ceil(Math.nextDown(percent) * count / 100));
  }

  /** The position, from 0, in an array of that length, which is not empty. */
  public static int index(double percent, int length) {
    return (int) of(percent, length) - 1;
  }

  /** The percentile of values in ascending order, of which there is one at least. */
  public static double in(double[] ascending, double percent) {
    return ascending[index(percent, ascending.length)];
  }
}
