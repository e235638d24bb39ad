package io.github.gatlingllm.figures.server;

import io.github.gatlingllm.record.ServerSample.Histogram;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Growth of a histogram in an interval. */
@SuppressWarnings("ArrayRecordComponent") // added up in place
record BucketCounts(double count, double sum, List<Double> bounds, double[] counts) {

  static final BucketCounts NONE = new BucketCounts(0, 0, List.of(), new double[0]);

  /** The growth between two readings; all of the later one if the server was restarted. */
  static BucketCounts between(Histogram before, Histogram after, boolean isRestarted) {
    boolean isReset = isRestarted || after.count() < before.count() || after.sum() < before.sum();
    double[] counts = new double[after.counts().size()];
    boolean hasSameBounds = after.bounds().equals(before.bounds());
    for (int i = 0; i < counts.length; i++) {
      counts[i] = after.counts().get(i) - (isReset || !hasSameBounds ? 0 : before.counts().get(i));
    }
    double count = after.count() - (isReset ? 0 : before.count());
    double sum = after.sum() - (isReset ? 0 : before.sum());
    return isReset || hasSameBounds
        ? new BucketCounts(count, sum, after.bounds(), counts)
        : new BucketCounts(count, sum, List.of(), new double[0]);
  }

  BucketCounts times(double part) {
    return new BucketCounts(
        count * part, sum * part, bounds, Arrays.stream(counts).map(c -> c * part).toArray());
  }

  /** The sum of both; without buckets if their bounds differ. */
  BucketCounts and(BucketCounts other) {
    if (count == 0 || other.count == 0) {
      return count == 0 ? other : this;
    }
    double[] both = new double[bounds.equals(other.bounds) ? counts.length : 0];
    Arrays.setAll(both, i -> counts[i] + other.counts[i]);
    return new BucketCounts(
        count + other.count, sum + other.sum, both.length == 0 ? List.of() : bounds, both);
  }

  /**
   * The quantile, interpolated within its bucket; the last bound if it is beyond. Null without
   * buckets or values.
   */
  @Nullable Double quantile(double share) {
    if (counts.length == 0 || count <= 0) {
      return null;
    }
    double rank = share * count;
    double below = 0;
    double from = Math.min(0, bounds.get(0));
    for (int i = 0; i < counts.length; i++) {
      double to = bounds.get(i);
      if (counts[i] >= rank) {
        double inside = counts[i] - below;
        return inside <= 0 ? to : from + (to - from) * (rank - below) / inside;
      }
      below = counts[i];
      from = to;
    }
    return from;
  }
}
