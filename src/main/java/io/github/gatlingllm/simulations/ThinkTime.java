package io.github.gatlingllm.simulations;

import io.github.gatlingllm.figures.metric.NumberText;
import java.time.Duration;

/** The time that users wait between an answer and their next request, drawn uniformly. */
record ThinkTime(Duration least, Duration most) {

  /** No think time. */
  static final ThinkTime NONE = new ThinkTime(Duration.ZERO, Duration.ZERO);

  /** Parses {@code 2s} or {@code 1s-5s}. */
  static ThinkTime parse(String text) {
    String[] ends = text.split("-", 2);
    Duration least = Form.durationOf(ends[0].strip());
    Duration most = ends.length == 1 ? least : Form.durationOf(ends[1].strip());
    if (most.compareTo(least) < 0) {
      throw new IllegalArgumentException("expected the shorter time first");
    }
    return new ThinkTime(least, most);
  }

  @Override
  public String toString() {
    String shortest = seconds(least);
    return least.equals(most) ? shortest + " s" : shortest + " to " + seconds(most) + " s";
  }

  private static String seconds(Duration time) {
    return NumberText.plain(time.toMillis() / 1000.0);
  }

  boolean isNone() {
    return most.isZero();
  }
}
