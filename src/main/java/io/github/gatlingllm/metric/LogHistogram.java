package io.github.gatlingllm.metric;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Counts of values in bins of equal ratio, {@value #PER_OCTAVE} to a doubling: a bin's middle is
 * within 0.25 % of every value in it. Dense from the lowest bin used to the highest, so that a
 * hundred of them, one per slice of time, stay small; what uses it keeps sums for the mean.
 */
public final class LogHistogram {

  /** Of no value; nothing is to be added to it. */
  public static final LogHistogram EMPTY = new LogHistogram();

  private static final int PER_OCTAVE = 140;
  private static final double LEAST = 1e-3;
  private static final double SCALE = PER_OCTAVE / Math.log(2);

  private int[] counts = {};
  private int first;
  private long total;
  private double sum;

  /** Adds {@code weight} values; nothing when it is 0. */
  public void add(double value, int weight) {
    if (weight > 0) {
      add(bin(value), weight);
      sum += value * weight;
    }
  }

  /** Adds the first {@code count} of these times in microseconds, as milliseconds. */
  public void addMicros(int[] micros, int count) {
    int[] bins = OfMicros.BINS;
    long all = 0;
    for (int i = 0; i < count; i++) {
      int value = micros[i];
      add(value >= 0 && value < bins.length ? bins[value] : bin(value / 1e3), 1);
      all += value;
    }
    sum += all / 1e3;
  }

  private void add(int bin, int weight) {
    int at = bin - first;
    if (at < 0 || at >= counts.length) {
      reach(bin);
      at = bin - first;
    }
    counts[at] = (int) Math.min(Integer.MAX_VALUE, (long) counts[at] + weight);
    total += weight;
  }

  /** The bins of short times: a logarithm takes as long as all else that is done with a gap. */
  private static final class OfMicros {
    private static final int[] BINS = IntStream.range(0, 1 << 15).map(i -> bin(i / 1e3)).toArray();
  }

  private void reach(int bin) {
    if (counts.length == 0) {
      counts = new int[8];
      first = bin;
    }
    if (bin < first) {
      int more = Math.min(first, Math.max(first - bin, counts.length / 2));
      int[] wider = new int[counts.length + more];
      System.arraycopy(counts, 0, wider, more, counts.length);
      counts = wider;
      first -= more;
    } else if (bin - first >= counts.length) {
      counts = Arrays.copyOf(counts, Math.max(bin - first + 1, counts.length * 3 / 2));
    }
  }

  /** The bin of a value; 0 holds all that is not above {@value #LEAST}. */
  public static int bin(double value) {
    return value <= LEAST ? 0 : 1 + (int) (Math.log(value / LEAST) * SCALE);
  }

  /** The middle of a bin. */
  public static double middle(int bin) {
    return bin <= 0 ? 0 : LEAST * Math.exp((bin - 0.5) / SCALE);
  }

  /** How many values. */
  public long total() {
    return total;
  }

  /** Σ of the values. */
  public double sum() {
    return sum;
  }

  /** The lowest bin that may hold a value. */
  public int first() {
    return first;
  }

  /** The bin after the highest that may hold a value. */
  public int end() {
    return first + counts.length;
  }

  /** How many values lie in {@code bin} or below. */
  public long upTo(int bin) {
    long sum = 0;
    for (int at = 0; at < counts.length && first + at <= bin; at++) {
      sum += counts[at];
    }
    return sum;
  }

  /** How many values lie in a bin. */
  public int count(int bin) {
    int at = bin - first;
    return at < 0 || at >= counts.length ? 0 : counts[at];
  }
}
