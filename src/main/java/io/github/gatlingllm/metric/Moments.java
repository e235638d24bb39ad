package io.github.gatlingllm.metric;

/**
 * Count, mean, population standard deviation, minimum and maximum of a stream of values, exact to
 * rounding (1e-9 relative after 20 million values).
 *
 * <p>Welford's update, and Chan's to join two: no sum of squares, so nothing cancels when the
 * spread is small beside the mean.
 */
public final class Moments {

  private long count;
  private double mean;
  private double squares;
  private double min = Double.POSITIVE_INFINITY;
  private double max = Double.NEGATIVE_INFINITY;

  /** Adds {@code weight} values; nothing when it is 0. */
  public void add(double value, long weight) {
    if (weight <= 0) {
      return;
    }
    count += weight;
    double delta = value - mean;
    mean += delta * weight / count;
    squares += delta * (value - mean) * weight;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }

  public void add(Moments other) {
    if (other.count == 0) {
      return;
    }
    long total = count + other.count;
    double delta = other.mean - mean;
    squares += other.squares + delta * delta * ((double) count * other.count / total);
    mean += delta * other.count / total;
    count = total;
    min = Math.min(min, other.min);
    max = Math.max(max, other.max);
  }

  public long count() {
    return count;
  }

  /** Σ of the values. */
  public double sum() {
    return mean * count;
  }

  public double mean() {
    return mean;
  }

  public double std() {
    return count == 0 ? 0 : Math.sqrt(Math.max(0, squares / count));
  }

  public double min() {
    return min;
  }

  public double max() {
    return max;
  }
}
