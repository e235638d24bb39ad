package io.github.gatlingllm.engine;

/** A Prometheus histogram of seconds. Not thread-safe. */
final class Histogram {
  private final double[] bounds;
  private final long[] counts;
  private double sum;
  private long count;

  /** A histogram with these upper bounds, ascending; the bucket +Inf comes by itself. */
  Histogram(double... bounds) {
    this.bounds = bounds.clone();
    this.counts = new long[bounds.length];
  }

  void record(long nanos) {
    double seconds = nanos / 1e9;
    for (int i = bounds.length - 1; i >= 0 && seconds <= bounds[i]; i--) {
      counts[i]++;
    }
    sum += seconds;
    count++;
  }

  /**
   * Appends type, buckets, sum and count in Prometheus text form.
   *
   * @param labels without braces, e.g. {@code model_name="m"}
   */
  void write(StringBuilder out, String name, String labels) {
    out.append("# TYPE ").append(name).append(" histogram\n");
    for (int i = 0; i < bounds.length; i++) {
      bucket(out, name, labels, Double.toString(bounds[i]), counts[i]);
    }
    bucket(out, name, labels, "+Inf", count);
    out.append(name).append("_sum{").append(labels).append("} ").append(sum).append('\n');
    out.append(name).append("_count{").append(labels).append("} ").append(count).append('\n');
  }

  private static void bucket(
      StringBuilder out, String name, String labels, String bound, long count) {
    out.append(name).append("_bucket{").append(labels).append(",le=\"").append(bound);
    out.append("\"} ").append(count).append('\n');
  }
}
