package io.github.gatlingllm.stats;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** The instants of a request's token events, thinned out where there are too many to be drawn. */
final class EventMarks {

  /** The most marks of one request. */
  static final int MOST = 240;

  private static final int LONG_GAPS = 40;

  private EventMarks() {}

  /**
   * The instants in ms, ascending: all of at most {@value #MOST}; of more, every so many-th and
   * both ends of the {@value #LONG_GAPS} longest gaps.
   *
   * @param micros since the request was admitted
   * @param admittedMs added to each
   */
  static List<Double> of(int[] micros, double admittedMs) {
    List<Double> marks = new ArrayList<>();
    for (int i : places(micros)) {
      marks.add(admittedMs + micros[i] / 1e3);
    }
    return marks;
  }

  private static Iterable<Integer> places(int[] micros) {
    if (micros.length <= MOST) {
      return IntStream.range(0, micros.length).boxed().toList();
    }
    TreeSet<Integer> places = new TreeSet<>();
    IntStream.range(1, micros.length)
        .boxed()
        .sorted(Comparator.comparingInt((Integer i) -> micros[i - 1] - micros[i]))
        .limit(LONG_GAPS)
        .forEach(
            i -> {
              places.add(i - 1);
              places.add(i);
            });
    int even = MOST - 2 * LONG_GAPS;
    for (int k = 0; k < even; k++) {
      places.add((int) ((long) k * (micros.length - 1) / (even - 1)));
    }
    return places;
  }
}
