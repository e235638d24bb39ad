package io.github.gatlingllm.stats;

import java.util.ArrayList;
import java.util.List;

/** A measure window cut into {@value #COUNT} slices of equal length, and what belongs to each. */
final class StageSlices {

  /** How many; divisible by every length that a block may have. */
  static final int COUNT = 48;

  private final StageWindow window;
  private final List<TimeSlice> slices = new ArrayList<>();

  StageSlices(StageWindow window) {
    this.window = window;
    for (int i = 0; i < COUNT; i++) {
      slices.add(new TimeSlice());
    }
  }

  /** The slice of an instant; one outside the window belongs to the slice at that end. */
  TimeSlice at(long unixNanos) {
    double part = (double) (unixNanos - window.from()) / Math.max(1, window.nanos());
    return slices.get((int) Math.max(0, Math.min(COUNT - 1, part * COUNT)));
  }

  List<TimeSlice> slices() {
    return slices;
  }

  /** Length of one slice. */
  double seconds() {
    return window.nanos() / 1e9 / COUNT;
  }
}
